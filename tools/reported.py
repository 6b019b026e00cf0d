"""Add published figures: `python -m tools.reported add`.

One figure is taken from the options, named as the questions of the issue form *Report a published
figure*; without options, the command asks. `--file ROWS.json` takes many: a list of objects whose
fields are the options' names. Values are texts or numbers as the source prints them; null or no
field means that it does not state the value. Figures of one address become one file. Everything is
checked as the gate checks it, and nothing is written unless every row is right.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from pipeline.collection.discover import Source
from pipeline.collection.validation import checked
from pipeline.intake.figure_form import QUESTIONS, REQUIRED, published
from pipeline.intake.figures import keys
from schemas.posted import UnreadableTextError

Json: TypeAlias = dict[str, Any]

PUBLISHED = Path(__file__).resolve().parents[1] / "results" / "published"
_IN_FILE = re.compile(r"\$\.rows\[\d+\](?:\.|: )")  # a place in the file to be, not in ROWS.json
MOST = 25  # more figures of one source are a copy of its table, which needs a licence


def main(arguments: Sequence[str], ask: Callable[[str], str], folder: Path = PUBLISHED) -> int:
    """Return 0 if all figures were written, else 1; wrong usage exits with 2."""
    parser = _parser()
    given = parser.parse_args(arguments)
    answers = {name: getattr(given, name) for name in QUESTIONS}
    if given.file and any(answers.values()):
        parser.error("--file has all figures; leave out the options of a single one")
    if not given.file and not any(answers.values()):
        needed = {name: "" if name in REQUIRED else " (or nothing)" for name in QUESTIONS}
        answers = {
            name: ask(f"{QUESTIONS[name]}{words} ").strip() for name, words in needed.items()
        }
    try:
        rows = _read(given.file) if given.file else {"": answers}
    except UnreadableTextError as error:
        sys.stderr.write(f"{given.file} {error}\n")
        return 1
    by = {"checked_by": given.checked_by} if given.checked_by else {}
    documents, problems = _checked(rows, given.today or datetime.now(UTC).date().isoformat(), by)
    files = [_merged([*each.values()]) for each in documents.values()]
    problems += _doubles(documents, folder)
    if problems := problems or [words for each in files for words in _problems(each)]:
        sys.stderr.write("".join(f"{line}\n" for line in problems))
        return 1
    for document in files:
        name = f"{document['source']['id']}.json"
        (folder / name).write_bytes(_bytes(document))
        sys.stdout.write(f"results/published/{name}\n")
    return 0


def _read(path: Path) -> dict[str, object]:
    """The rows of a file, by the words that name each. Raises `UnreadableTextError`."""
    try:
        rows = json.loads(path.read_text("utf-8"), parse_float=str, parse_int=str)
    except (OSError, ValueError) as error:
        raise UnreadableTextError(f"cannot be read as JSON ({error})") from error
    if not isinstance(rows, list) or not rows:
        raise UnreadableTextError("must be a list of figures, such as [{...}, {...}]")
    return {f"row {number}: ": row for number, row in enumerate(rows, start=1)}


def _checked(
    rows: Mapping[str, object], day: str, by: Mapping[str, str]
) -> tuple[dict[str, dict[str, Json]], list[str]]:
    """Each row's document, by its address and the row's words; and what is wrong with the rows."""
    found: dict[str, dict[str, Json]] = defaultdict(dict)
    problems = []
    for place, row in rows.items():
        try:
            answers = _answers(row)
            document = json.loads(published(answers, day, **by)[1])
        except UnreadableTextError as error:
            problems.append(f"{place}{_by_field(error) if place else error}")
            continue
        problems += [f"{place}{_IN_FILE.sub('', words)}" for words in _problems(document)]
        alike = found[answers["url"]]
        alike[place] = document
        if len(alike) > MOST:
            problems.append(f"{place}url: has more than {MOST} figures; cite those that matter")
    return found, problems


def _answers(row: object) -> Mapping[str, str]:
    if not isinstance(row, dict):
        raise UnreadableTextError("must be an object with the fields of a figure")
    for name, value in row.items():
        if name not in QUESTIONS:
            raise UnreadableTextError(f"{name}: is unknown; known: {', '.join(QUESTIONS)}")
        if value is not None and not isinstance(value, str):
            raise UnreadableTextError(f"{name}: must be a text or a number")
    return {name: value for name, value in row.items() if value}


def _by_field(error: UnreadableTextError) -> str:
    """The error, with the name of the field instead of the form's question."""
    question, colon, words = str(error).partition(":")
    fields = {each.rstrip("?"): name for name, each in QUESTIONS.items()}
    return f"{fields.get(question, question)}{colon}{words}"


def _problems(document: Json) -> list[str]:
    """The gate's findings on the new file."""
    with TemporaryDirectory() as place:
        path = Path(place) / f"{document['source']['id']}.json"
        path.write_bytes(_bytes(document))
        source = Source(path=path, kind="published", place="corpus")
        found = checked(source)
        wrong = found if isinstance(found, tuple) else ()
        return [f"{each.path}: {each.message}" for each in wrong]


def _doubles(documents: Mapping[str, Mapping[str, Json]], folder: Path) -> Iterator[str]:
    """The rows with a figure that another row or a file of the folder has."""
    seen = {
        key: path.name
        for path in sorted(folder.glob("*.json"))
        for key in keys(json.loads(path.read_bytes()))
    }
    for place, document in (each for group in documents.values() for each in group.items()):
        for key in {*keys(document)}:
            if key in seen:
                yield f"{place}{seen[key]} already has this figure"
            seen[key] = place.removesuffix(": ")


def _merged(documents: Sequence[Json]) -> Json:
    """One file for the figures of one address; it has equal rigs and equal baselines once."""
    first = documents[0]
    if len(documents) == 1:
        return first
    rigs: dict[str, Json] = {}
    rows: dict[str, Json] = {}
    for document in documents:
        rig = {each["id"]: _placed(rigs, each) for each in document["rigs"]}
        ids: dict[str, str] = {}
        for row in document["rows"]:
            own = row | {"rig": rig[row["rig"]]}
            if "baseline_row" in row:
                own["baseline_row"] = ids[row["baseline_row"]]
            ids[row["id"]] = _placed(rows, own)
    held = {"rigs": [*rigs.values()], "rows": [*rows.values()]}
    digest = sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()[:8]
    name = first["source"]["id"].rpartition("-")[0]
    source = first["source"] | {"id": f"{name}-{digest}"}
    if len({document["source"]["author"] for document in documents}) > 1:
        del source["author"]  # each row names its own
    return first | {"source": source} | held


def _placed(found: dict[str, Json], made: Json) -> str:
    """Number an object, unless there is an equal one; return its id."""
    for name, each in found.items():
        if each | {"id": made["id"]} == made:
            return name
    name = f"{made['id']}-{len(found) + 1}"
    found[name] = made | {"id": name}
    return name


def _bytes(document: Json) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.reported", description=__doc__)
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("add", help="add figures", description=__doc__)
    add.add_argument("--file", type=Path, metavar="ROWS.json", help="A JSON list of figures.")
    for name, question in QUESTIONS.items():
        add.add_argument(f"--{name}", help=question)
    add.add_argument(
        "--checked-by",
        metavar="ACCOUNT",
        help="The maintainer who opened the addresses (default: the figures are unchecked).",
    )
    add.add_argument("--today", help="Day of the transcription (default: today).")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], input))
