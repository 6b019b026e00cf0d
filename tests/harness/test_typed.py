"""Typing mistakes are refused before anything is measured, with the true reason."""

import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from harness import cli, console
from harness.runners.http.process import free_port
from tests.harness.ggufs import write_gguf
from tests.harness.openai.fake_server import serving
from tests.nightly import few
from tests.samples import sample, sample_bytes

DATA = tomllib.loads(Path("tests/data/typed.toml").read_text("utf-8"))
FILES: dict[str, str] = DATA.pop("files")
TYPED: list[dict[str, Any]] = list(chain(*DATA.values()))
CAPTURE = Path("tests/captures/llama-server/help-llama-cpp-python-0.3.18.txt")
# Measuring would take minutes; a dry run refuses the same.
DRY = ("run",)


def old_build(path: Path) -> Path:
    """A llama-server without `--spec-type`, which supports draft models only."""
    lines = CAPTURE.read_text("utf-8").splitlines()
    without = [line for line in lines if "spec-type" not in line]
    help_file = path.with_suffix(".help")
    help_file.write_text("\n".join(without), "utf-8")
    path.write_text(f'#!/bin/sh\n[ "$1" = --help ] && cat {shlex.quote(str(help_file))}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class _Pages(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing, because the output is read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that people name by mistake; models of one size, and a `large` one."""
    made = tmp_path_factory.mktemp("typed")
    (made / "void").mkdir()
    for name, text in FILES.items():
        (made / name).write_text(text, "utf-8")
    (made / "fails").chmod(0o755)
    for name in ("large", "target", "draft"):
        named = {"large": "Large 9B", "target": "Big 7B", "draft": "Small 1B"}[name]
        write_gguf(made / f"{name}.gguf", name=named, template="{{ messages }}")
    others = [f"u{number}" for number in range(300)]
    write_gguf(made / "other.gguf", name="Other 1B", tokens=others)
    write_gguf(made / "bare.gguf", name="Bare 1B", weights=False)
    write_gguf(made / "part-00001-of-00002.gguf", name="Part", split=(0, 2))
    with (made / "large.gguf").open("ab") as file:
        file.write(bytes(1 << 20))
    (made / "cut.gguf").write_bytes((made / "target.gguf").read_bytes()[:3000])
    (made / "result.json").write_bytes(sample_bytes(sample()))
    newer = sample_bytes(sample()).replace(b'"version":2,', b'"version":99,')
    (made / "newer.json").write_bytes(newer)
    (made / "long.json").write_text(f"[{'1, ' * 200_000}1]", "utf-8")
    (made / "half.json").write_bytes(sample_bytes(sample())[:999])
    old_build(made / "llama-server")
    return made


@pytest.fixture(scope="module")
def places(folder: Path) -> Iterator[dict[str, str]]:
    """Values for the words in braces: files, web servers (`web`) and model servers."""
    pages = partial(_Pages, directory=str(folder))
    web = ThreadingHTTPServer(("127.0.0.1", 0), pages)
    with web, serving() as api, serving() as again:
        Thread(target=partial(web.serve_forever, 0.01), daemon=True).start()
        yield {
            "folder": str(folder),
            **{name: str(folder / f"{name}.gguf") for name in ("target", "draft", "large")},
            "split": str(folder / "part-00001-of-00002.gguf"),
            "program": sys.executable,
            "digits": "9" * 5000,
            "old": str(folder / "llama-server"),
            "web": f"http://127.0.0.1:{web.server_port}",
            "tls": f"https://127.0.0.1:{web.server_port}",
            "closed": f"http://127.0.0.1:{free_port()}",
            "api": api.url,
            "api2": again.url,
        }
        web.shutdown()


@pytest.mark.skipif(shutil.which("sh") is None, reason="the old build is a script")
@pytest.mark.usefixtures("cache_dir", "fake_engine")
@pytest.mark.parametrize("each", few((pytest.param(each, id=each["typed"]) for each in TYPED), 130))
def test_a_typing_mistake_gets_one_line_with_the_reason(
    each: dict[str, Any],
    places: dict[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = shlex.split(each["typed"].format(**places))
    dry = ["--dry-run"] if words[0] in DRY else []
    monkeypatch.setattr(sys, "argv", ["draftmap", *words, *dry])
    monkeypatch.setattr(cli, "treat_termination_as_ctrl_c", lambda: None)
    monkeypatch.setattr(console, "prepare_streams", lambda: None)
    monkeypatch.chdir(folder)
    before = {*folder.iterdir()}

    with pytest.raises(SystemExit) as ended:
        cli.main()

    printed = "\n".join(capsys.readouterr())
    assert ended.value.code == each.get("code", 2), printed
    assert each["says"].format(**places) in " ".join(printed.split())
    assert sum(line.startswith(("Error:", "Usage:")) for line in printed.splitlines()) <= 1
    assert "Traceback" not in printed
    assert {*folder.iterdir()} == before


@pytest.mark.skipif(shutil.which("sh") is None, reason="the old build is a script")
@pytest.mark.usefixtures("cache_dir")
def test_a_build_that_knows_fewer_methods_runs_the_default_ones_that_it_knows(
    places: dict[str, str],
) -> None:
    words = ["run", "-m", places["target"], "-md", places["draft"]]

    done = CliRunner().invoke(cli.app, [*words, "--server-binary", places["old"], "--dry-run"])

    assert done.exit_code == 0, done.output
    assert (
        "Left out: ngram-simple-n8: this llama-server does not support method ngram-simple"
        in done.stderr
    )
    assert "baseline, draft-model-n4" in " ".join(done.stdout.split())
