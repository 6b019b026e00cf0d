"""The wheel is small and pure, and works where only its dependencies are installed."""

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from harness.features import COMMANDS
from tests.harness.ggufs import write_gguf
from tests.harness.openai.fake_server import serving
from tools.release.wheel import FILES, FOLDERS, build, environment

ROOT = Path(__file__).parents[1]
ROOMS = ("answers", "estimates", "harness", "schemas")
# Files that only the pipeline and the importers read, and a suite only in checkouts.
NOT_INSTALLED = (
    "core-1.toml",
    "lifecycle.v1.schema.json",
    "metrics.toml",
    "published.v1.schema.json",
    "server_log.toml",
    "sources.v1.schema.json",
    "switch_off.v1.schema.json",
    "verdict.v1.schema.json",
)
MIB = 1024 * 1024
SHORT = ("--quick", "--tasks", "code", "--prompts", "1", "--max-tokens", "4", "--blocks", "1")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of its sources."""
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of an environment with the wheel and its declared dependencies only."""
    return environment(wheel, tmp_path_factory.mktemp("venv"))


def started(program: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed program in an empty folder, isolated from this checkout."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
    nowhere = str(folder / "no-programs")
    environment = {**kept, "DRAFTMAP_CACHE": str(folder / "cache"), "PATH": nowhere}
    return subprocess.run(
        [str(program), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_wheel_is_pure_and_small(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < MIB


def test_the_wheel_has_every_file_of_the_packages_below_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}

    tracked = {
        f"draftmap/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.parent.name not in ("imports", "__pycache__")
        if path.suffix in (".bz2", ".csv", ".py", ".toml", ".json")
        if path.name not in NOT_INSTALLED
    }
    assert names == tracked | {"draftmap/__init__.py", "draftmap/__main__.py"}
    assert {f"draftmap/answers/{name}.json" for name in ("evidence", "learned")} <= names


def test_the_container_file_copies_what_the_wheel_is_made_of() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    lines = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")]

    copied = {name for words in lines for name in words if not name.startswith(("-", "/"))}

    assert copied == {*FOLDERS, *FILES, "requirements"}


def test_the_container_installs_by_hashes_only() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    installs = re.findall(r"pip install (.*?) (?:\\|&&)", text)
    hashed = [words for words in installs if "--require-hashes" in words]

    assert len(hashed) == 2
    assert [words for words in installs if words not in hashed] == [
        "--no-cache-dir --no-deps /wheels/draftmap-*.whl"
    ]
    assert "--no-build-isolation" in text


def test_the_container_starts_from_an_image_that_cannot_change() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)

    assert len(bases) == 2
    assert all(re.fullmatch(r"python:[\w.-]+@sha256:[0-9a-f]{64}", base) for base in bases)


@pytest.mark.long
def test_an_installed_wheel_measures_and_validates(installed: Path, tmp_path: Path) -> None:
    method = ("--method", "draft-model:n_max=3", "--draft", "tiny:Q4_0")
    with serving() as base, serving(depth=3) as other:
        urls = ("--base-url", base.url, "--spec-base-url", other.url, "--output", "o.json")
        run = started(installed, tmp_path, "run", *urls, *method, *SHORT)
    valid = started(installed, tmp_path, "validate", "o.json")
    shown = started(installed, tmp_path, "show", "o.json", "--json")
    unknown = started(installed, tmp_path, "import", "--help")

    assert run.returncode == 0, run.stderr
    assert "All figures: draftmap show o.json --details" in run.stdout
    assert (valid.returncode, valid.stdout) == (0, "")
    assert json.loads(shown.stdout)["estimates"]
    assert (unknown.returncode, "only in a checkout of the repository" in unknown.stderr) == (
        2,
        True,
    )


@pytest.mark.nightly
@pytest.mark.long
def test_without_an_engine_one_line_says_what_to_install(installed: Path, tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "target.gguf", name="Big 7B")

    run = started(installed, tmp_path, "run", "--target", str(target))
    doctor = started(installed, tmp_path, "doctor", str(target))

    assert run.returncode == 3
    assert run.stderr.startswith("Error: no engine is installed and no llama-server is on PATH; ")
    assert "pip install 'draftmap[inprocess]'" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    builds = ("--base", str(target), "--head", str(target))
    commands = (("tune",), ("compare", *builds), ("submit", "no.json"), (str(target), "--quick"))
    for words in (each for each in commands if each[0] in {*COMMANDS, str(target)}):
        done = started(installed, tmp_path, *words)
        assert done.returncode in (2, 3), (words, done.stdout)
        assert (done.stderr[:7], done.stderr.count("\n")) == ("Error: ", 1), (words, done.stderr)
    assert "pip install 'draftmap[inprocess]'" in started(installed, tmp_path).stdout
    assert started(installed, tmp_path, "plan", str(target)).returncode == 0
    assert doctor.returncode == 3
    assert "Traceback" not in doctor.stdout + doctor.stderr
    assert "pip install 'draftmap[inprocess]'" in doctor.stdout
