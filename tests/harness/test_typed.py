"""What people type wrong is refused before anything is measured, with the reason that is true."""

import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.runners.http.process import free_port
from tests.harness.ggufs import write_gguf

TYPED = tomllib.loads(Path("tests/data/typed.toml").read_text("utf-8"))["input"]
CAPTURE = Path("tests/captures/llama-server/help-llama-cpp-python-0.3.18.txt")
# Measuring would take minutes; a dry run refuses the same.
DRY = ("run",)


def old_build(path: Path) -> Path:
    """A llama-server without `--spec-type`, which knows draft models only."""
    lines = CAPTURE.read_text("utf-8").splitlines()
    without = [line for line in lines if "spec-type" not in line]
    help_file = path.with_suffix(".help")
    help_file.write_text("\n".join(without), "utf-8")
    path.write_text(f'#!/bin/sh\n[ "$1" = --help ] && cat {shlex.quote(str(help_file))}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def places(tmp_path: Path, web: str) -> dict[str, str]:
    large = write_gguf(tmp_path / "large.gguf", name="Large 9B")
    with large.open("ab") as file:
        file.write(bytes(1 << 20))
    target = write_gguf(tmp_path / "target.gguf", name="Big 7B", template="{{ messages }}")
    draft = write_gguf(tmp_path / "draft.gguf", name="Small 1B", template="{{ messages }}")
    return {
        "target": str(target),
        "draft": str(draft),
        "large": str(large),
        "folder": str(tmp_path),
        "program": sys.executable,
        "old": str(old_build(tmp_path / "llama-server")),
        "web": f"http://{web}",
        "tls": f"https://{web}",
        "closed": f"http://127.0.0.1:{free_port()}",
    }


@pytest.mark.skipif(shutil.which("sh") is None, reason="the old build is a script")
@pytest.mark.usefixtures("cache_dir", "fake_engine")
@pytest.mark.parametrize("each", TYPED, ids=[each["typed"] for each in TYPED])
def test_what_is_typed_wrong_gets_one_line_with_the_reason(
    each: dict[str, Any],
    places: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(each["typed"].format(**places))

    done = CliRunner().invoke(app, [*words, *(["--dry-run"] if words[0] in DRY else [])])

    said = " ".join(done.output.split())
    assert done.exit_code == each.get("code", 2), done.output
    assert each["says"].format(**places) in said
    assert sum(line.startswith(("Error:", "Usage:")) for line in done.output.splitlines()) <= 1
    assert "Traceback" not in said


@pytest.mark.skipif(shutil.which("sh") is None, reason="the old build is a script")
@pytest.mark.usefixtures("cache_dir")
def test_a_build_that_knows_fewer_methods_runs_the_default_ones_that_it_knows(
    places: dict[str, str],
) -> None:
    words = ["run", "-m", places["target"], "-md", places["draft"]]

    done = CliRunner().invoke(app, [*words, "--server-binary", places["old"], "--dry-run"])

    assert done.exit_code == 0, done.output
    assert "Left out: ngram-simple-n8: this llama-server has no method ngram-simple" in done.stderr
    assert "baseline, draft-model-n4" in " ".join(done.stdout.split())


@pytest.mark.skipif(shutil.which("sh") is None, reason="the old build is a script")
@pytest.mark.usefixtures("cache_dir")
def test_builds_of_one_run_measure_what_each_of_them_knows(
    places: dict[str, str], tmp_path: Path
) -> None:
    new = tmp_path / "new"
    new.write_text(f'#!/bin/sh\n[ "$1" = --help ] && cat {CAPTURE.absolute()}\n')
    new.chmod(new.stat().st_mode | stat.S_IXUSR)
    words = ["run", "-m", places["target"], "-md", places["draft"]]
    builds = ["--server-binary", f"new={new}", "--server-binary", f"old={places['old']}"]

    done = CliRunner().invoke(app, [*words, *builds, "--dry-run"])

    assert done.exit_code == 0, done.output
    assert "x 2 arms" in " ".join(done.stdout.split())
