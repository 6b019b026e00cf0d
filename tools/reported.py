"""Add one published figure: `python -m tools.reported add`.

It takes the answers to the issue form *Report a published figure* from its options. Without options
it asks for them. It checks them as the gate does and writes one file to `results/published/`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.collection.discover import Source
from pipeline.collection.validation import findings_of
from pipeline.intake.figure_form import QUESTIONS, REQUIRED, published
from schemas.posted import UnreadableTextError

PUBLISHED = Path(__file__).resolve().parents[1] / "results" / "published"


def main(arguments: Sequence[str], ask: Callable[[str], str], folder: Path = PUBLISHED) -> int:
    """Return 0 if the new file was written, else 1; wrong usage exits with 2."""
    given = _parser().parse_args(arguments)
    answers = {name: getattr(given, name) for name in QUESTIONS}
    if not any(answers.values()):
        answers = {name: ask(_prompt(name)).strip() for name in QUESTIONS}
    try:
        today = given.today or datetime.now(UTC).date().isoformat()
        name, data = published({each: text for each, text in answers.items() if text}, today)
    except UnreadableTextError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if (folder / name).exists():
        sys.stderr.write(f"{name} already exists, so there is nothing to do\n")
        return 1
    found = _problems(name, data)
    if found:
        sys.stderr.write("".join(f"{line}\n" for line in found))
        return 1
    (folder / name).write_bytes(data)
    sys.stdout.write(f"results/published/{name}\n")
    return 0


def _problems(name: str, data: bytes) -> list[str]:
    """The gate's findings on the new file, which contains the figure."""
    with TemporaryDirectory() as place:
        path = Path(place) / name
        path.write_bytes(data)
        source = Source(path=path, kind="published", place="corpus")
        return [f"{each.path}: {each.message}" for each in findings_of([source])]


def _prompt(name: str) -> str:
    needed = "" if name in REQUIRED else " (or nothing)"
    return f"{QUESTIONS[name]}{needed} "


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.reported", description=__doc__)
    add = parser.add_subparsers(required=True).add_parser("add", help="add one figure")
    for name, question in QUESTIONS.items():
        add.add_argument(f"--{name}", help=question)
    add.add_argument("--today", help="Day of the transcription (default: today).")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], input))
