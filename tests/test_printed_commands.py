"""Every printed command line runs unchanged on its program.

Our own commands run with `--dry-run` if they have it, else with `--help`. Commands of a server go
to the real binary with `--help`, which refuses unknown options and values.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness import PROGRAM, features
from harness import cli as application
from harness.machine.engines import server_program
from harness.runners import CONNECT
from tests import clones
from tests.harness import fake_runner
from tests.harness.ggufs import write_gguf
from tests.processes import needs_shell
from tests.samples import sample, sample_bytes

SERVER = server_program()
pytestmark = [
    needs_shell,
    pytest.mark.long,
    pytest.mark.skipif(SERVER is None, reason="no llama-server is installed here"),
]
OURS = re.compile(rf"(?:^ *|: |`){re.escape(PROGRAM)} (.+?)(?:`|  |$)", re.MULTILINE)
THEIRS = re.compile(r"^(?:Use it:)? *((?:/\S*)?llama-server -m .+)$", re.MULTILINE)
# All others have no `--dry-run`; a first word that is not a command is a model that is measured.
READING = ("plan", "doctor", "validate", "show", "submit", "methods", "models")
SHORT = ("--max-tokens", "12", "--tasks", "code,chat")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two models whose names need quotes, and a clone of the project."""
    made = tmp_path_factory.mktemp("a folder")
    for name in ("Big 7B", "Small 1B"):
        write_gguf(made / f"{name}.gguf", name=name)
    clones.clone(made)
    (made / "result.json").write_bytes(sample_bytes(sample()))
    return made


def printed(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """The output of a command, with continued lines joined."""
    monkeypatch.setenv("DRAFTMAP_CACHE", str(folder / "cache"))
    monkeypatch.setitem(CONNECT, "llama-cpp-python", fake_runner.connect)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["draftmap", *words])
    done = CliRunner().invoke(application.app, list(words))
    assert done.exit_code in (0, 3), done.output
    return re.sub(r" *\\\n *", " ", done.output)


ENGINE = ("--runner", "llama-cpp-python")
MODELS = ("--target", "Big 7B.gguf", "--draft", "Small 1B.gguf")
COMMANDS = {
    "welcome": (),
    "run": ("run", *ENGINE, *MODELS, *SHORT, "--quick", "--output", "ran.json"),
    "dry run": ("run", "--runner", "llama-server", *MODELS, "--dry-run"),
    "tune": ("tune", *ENGINE, *MODELS, "--max-tokens", "8", "--deepest", "2"),
    "compare": ("compare", "--base", str(SERVER), "--head", str(SERVER), *MODELS, "--dry-run"),
    "plan": ("plan", "--target", "Big 7B.gguf", "--gpu", "RTX 3060 12 GB", "--ram", "32"),
    "show": ("show", "result.json"),
    "submit": ("submit", "result.json", "--repository", "clone"),
    "models": ("models",),
    "methods": ("methods",),
}
# Minimum numbers of printed commands: our own, and of a server.
FEWEST = {
    "welcome": (2, 0),
    "run": (1, 0),
    "dry run": (0, 3),
    "tune": (1, 0),
    "compare": (0, 6),
    "plan": (1, 1),
    "show": (1, 1),
    "submit": (2, 0),
    "models": (0, 0),
    "methods": (0, 0),
}


@pytest.mark.parametrize(
    "name", [name for name, words in COMMANDS.items() if {*words[:1]} <= features.COMMANDS.keys()]
)
def test_printed_commands_run(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = printed(folder, monkeypatch, *COMMANDS[name])

    ours, theirs = OURS.findall(text), THEIRS.findall(text)
    assert (len(ours) >= FEWEST[name][0], len(theirs) >= FEWEST[name][1]) == (True, True), text
    assert not re.search(r"\bFILE\b|…", "\n".join((*ours, *theirs)))
    for line in ours:
        _run_ours(line, monkeypatch)
    for line in dict.fromkeys(theirs):
        program, *words = shlex.split(line)
        asked = [program if "/" in program else str(SERVER), *words, "--help"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr[-300:])


def _run_ours(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line.partition(" | ")[0])
    dry = words[0] not in READING and "--help" not in words
    monkeypatch.setattr(sys, "argv", ["draftmap", *words, "--dry-run" if dry else "--help"])
    monkeypatch.setattr(application, "treat_termination_as_ctrl_c", lambda: None)
    with pytest.raises(SystemExit) as ended:
        application.main()
    assert not ended.value.code, line
