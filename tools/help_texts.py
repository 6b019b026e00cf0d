"""Write the help of every command, as printed from a checkout and from an installed wheel."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from harness import PROGRAM
from harness.cli import app
from harness.features import COMMANDS
from harness.stored_help import COLUMNS, FILE

ROOT = Path(__file__).parents[1]
# In a wheel, these packages are inside `draftmap`.
INSIDE = ("answers", "harness", "estimates", "schemas")


def main() -> None:
    """Write the file that `harness.stored_help` reads."""
    FILE.write_text(json.dumps(texts(), indent=1, ensure_ascii=False) + "\n", "utf-8")


def texts() -> dict[str, dict[str, str]]:
    """The help texts, keyed by program, then by the arguments that print them."""
    with TemporaryDirectory() as folder:
        package = Path(folder) / "draftmap"
        package.mkdir()
        for name in ("__init__.py", "__main__.py"):
            (package / name).symlink_to(ROOT / "draftmap" / name)
        for name in INSIDE:
            (package / name).symlink_to(ROOT / name)
        return _printed_in(ROOT) | _printed_in(Path(folder))


def _printed_in(folder: Path) -> dict[str, dict[str, str]]:
    code = "import draftmap, json; from tools.help_texts import here; print(json.dumps(here()))"
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, check=True, capture_output=True
    )
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def here() -> dict[str, dict[str, str]]:
    """The help texts of the `harness` that this process imports, keyed as in `texts`."""
    asked = [[*words, option] for words in _commands() for option in ("--help", "--help-all")]
    shown = {" ".join(words): _shown(words) for words in asked}
    return {PROGRAM: {words: text for words, text in shown.items() if text}}


def _shown(words: Sequence[str]) -> str:
    """The help that typer prints for these arguments; empty if the command lacks the option."""
    shown = StringIO()
    with redirect_stdout(shown), suppress(SystemExit), redirect_stderr(StringIO()):
        app(words, prog_name=PROGRAM)
    return shown.getvalue()


def _commands() -> Iterator[list[str]]:
    """The words of every command and of every subcommand."""
    yield []
    group = typer.main.get_command(app)
    for name in COMMANDS:
        yield [name]
        command = group.get_command(None, name)  # type: ignore[attr-defined,arg-type]
        yield from ([name, below] for below in getattr(command, "commands", ()))


if __name__ == "__main__":
    main()
