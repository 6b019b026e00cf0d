"""The wheel is small and pure, and works where only its dependencies are installed."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from harness.features import COMMANDS
from schemas.posted import from_text
from tests import clones
from tests.harness.ggufs import write_gguf
from tests.harness.openai.fake_server import serving
from tests.processes import needs_shell
from tests.samples import sample, sample_bytes
from tools import first_hour
from tools.release.wheel import FILES, FOLDERS, build, environment

ROOT = Path(__file__).parents[1]
ROOMS = ("planner", "estimates", "harness", "schemas")
# Files that only the pipeline and the importers read, and a suite only in checkouts.
NOT_INSTALLED = (
    "core-1.toml",
    "launcher.v1.schema.json",
    "lifecycle.v1.schema.json",
    "metrics.toml",
    "published.v1.schema.json",
    "sources.v1.schema.json",
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


def started(
    program: Path, folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the installed program in an empty folder, isolated from this checkout."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
    nowhere = str(folder / "no-programs")
    environment = {**kept, "DRAFTMAP_CACHE": str(folder / "cache"), "PATH": nowhere, **variables}
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
        if path.parent.name != "__pycache__"
        if path.suffix in (".bz2", ".csv", ".py", ".toml", ".json")
        if path.name not in NOT_INSTALLED
    }
    assert names == tracked | {"draftmap/__init__.py", "draftmap/__main__.py"}
    assert {f"draftmap/planner/{name}.json" for name in ("evidence", "planner_errors")} <= names


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


# Stand-ins for git and gh. Each notes that it was called, and ends its caller by force after the
# call with the number LAST. Pull requests are the lines of a file.
STEP = """echo "$0" >> "$CALLS"
[ "$(wc -l < "$CALLS")" -eq "$LAST" ] && kill -9 $PPID
exit $code
"""
GIT = f"""#!/bin/sh
{shutil.which("git")} "$@"; code=$?
{STEP}"""
GH = f"""#!/bin/sh
case "$1 $2" in
  "api user") echo ada ;;
  "pr list") touch "$PULLS"; cat "$PULLS" ;;
  "pr create") echo https://host/pull/$(wc -l < "$PULLS") >> "$PULLS"; cat "$PULLS" ;;
esac
code=0
{STEP}"""


@needs_shell
@pytest.mark.long
@pytest.mark.parametrize(("programs", "steps"), [({"git": GIT, "gh": GH}, 14), ({"git": GIT}, 11)])
def test_an_installed_wheel_sends_once_although_it_is_killed_after_every_step(
    installed: Path, tmp_path: Path, programs: dict[str, str], steps: int
) -> None:
    (tmp_path / "bin").mkdir()
    for name, script in programs.items():
        (tmp_path / "bin" / name).write_text(script, "utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    for name in ("cat", "touch", "wc"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "r.json").write_bytes(sample_bytes(sample(contributor="ada")))
    for last in range(1, steps + 2):
        (folder := tmp_path / str(last)).mkdir()
        clone = clones.clone(folder)
        clones.git(clone, "switch", "--quiet", "-c", "own-work")
        (clone / "staged").touch()
        clones.git(clone, "add", "staged")
        before, words = clones.state(clone), ("submit", str(tmp_path / "r.json"), "--yes")
        calls = {"CALLS": str(folder / "calls"), "PULLS": str(folder / "pulls")}
        variables = {**calls, "PATH": str(tmp_path / "bin")}

        killed = started(installed, clone, *words, **variables, LAST=str(last))
        again = started(installed, clone, *words, **variables, LAST="0")

        assert killed.returncode == (-9 if last <= steps else 0), (last, killed.stderr)
        assert again.returncode == 0, (last, again.stderr)
        place = again.stdout.strip()
        assert clones.sent(clone) == {f"result/{Path(place).stem}": f"A\t{place}"}
        assert clones.state(clone) == before
        if "gh" in programs:
            assert Path(calls["PULLS"]).read_text("utf-8") == "https://host/pull/0\n"


def test_an_installed_wheel_prints_the_exact_result_for_the_form(
    installed: Path, tmp_path: Path
) -> None:
    data = sample_bytes(sample(contributor="ada"))
    (tmp_path / "r.json").write_bytes(data)

    done = started(installed, tmp_path, "submit", "r.json", "--without-git")

    assert (done.returncode, from_text(done.stdout)) == (0, data)


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_readme_has_a_block_that_installs_an_engine_for_each_system(system: str) -> None:
    activate, install = first_hour.commands(system, (ROOT / "README.md").read_text("utf-8"))

    assert "-m venv" in activate
    assert ("Activate.ps1" in activate) == (system == "win32")
    assert install == "python -m pip install '.[server]'"


@pytest.mark.long
def test_an_installed_wheel_serves_with_an_engine_that_a_package_embeds(installed: Path) -> None:
    package = pytest.importorskip("xllamacpp", reason="no wheel with an embedded server here")
    server = installed.with_name("draftmap-server").with_suffix(installed.suffix)
    environment = {"PYTHONPATH": str(Path(package.__file__).parents[1]), "PATH": ""}

    version = subprocess.run(
        [str(server), "--version"], env=environment, capture_output=True, text=True, check=True
    )

    assert version.stdout == "version: 11549\n"


def test_an_installed_wheel_starts_its_own_modules_from_the_folder_of_a_checkout(
    installed: Path,
) -> None:
    python = installed.with_name("python").with_suffix(installed.suffix)
    words = "from draftmap.harness.machine.command import own_module as own; import subprocess; "
    words += "subprocess.run(own('harness.models.embedded'), check=False)"

    done = subprocess.run(
        [str(python), "-P", "-c", words], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "No module named" not in done.stderr
