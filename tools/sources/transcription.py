"""Functions that the scripts of this folder share: check a digest, make rows, write the file.

Each script turns one source into `results/published/NAME.json`. A script is run once, with a copy
of the source as its argument. The script is kept with the digest of that copy, so that every figure
is traceable:

    python -m tools.sources.draftbench path/to/draftbench
"""

import csv
import hashlib
import json
import statistics
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "schemas" / "published.v1.schema.json"
PUBLISHED = ROOT / "results" / "published"


class WrongInputError(Exception):
    """The input is not the copy that a script was written for."""


def digest(folder: Path, pattern: str) -> str:
    """The SHA-256 of the lines that `sha256sum` prints for the files, sorted by path."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.glob(pattern))
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def checked(folder: Path, pattern: str, expected: str) -> dict[str, bytes]:
    """Read a source's files, keyed by path. Raises `WrongInputError` if the copy differs."""
    found = digest(folder, pattern)
    if found != expected:
        raise WrongInputError(
            f"{folder}: the files {pattern} have the digest {found}, not {expected}"
        )
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.glob(pattern))
    }


def documents(folder: Path, pattern: str, expected: str) -> dict[str, Json]:
    """Read a source's JSON files, keyed by path. Raises `WrongInputError` if the copy differs."""
    return {path: json.loads(held) for path, held in checked(folder, pattern, expected).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A table row in a text file: its line number, the heading above it, its cells by column."""

    path: str
    number: int
    heading: str
    cells: Mapping[str, str]

    def place(self, column: str) -> str:
        return f"{self.path}, line {self.number}, {column}"


def lines(folder: Path, pattern: str, expected: str) -> Iterator[Line]:
    """Yield the table rows of Markdown and CSV files. Raises `WrongInputError` like `checked`."""
    for path, held in checked(folder, pattern, expected).items():
        texts = held.decode().splitlines()
        yield from _of_csv(path, texts) if path.endswith(".csv") else _of_markdown(path, texts)


def _of_csv(path: str, texts: Sequence[str]) -> Iterator[Line]:
    for number, cells in enumerate(csv.DictReader(texts), start=2):
        yield Line(path=path, number=number, heading="", cells=cells)


def _of_markdown(path: str, texts: Sequence[str]) -> Iterator[Line]:
    heading, columns = "", list[str]()
    for number, text in enumerate(texts, start=1):
        if text.startswith("#"):
            heading = text.strip("# ")
        if not text.startswith("|"):
            columns = []
            continue
        cells = [cell.strip(" *`") for cell in text.strip("| ").split("|")]
        if not columns:
            columns = cells
        elif cells[0].strip("-: "):
            named = dict(zip(columns, cells, strict=False))
            yield Line(path=path, number=number, heading=heading, cells=named)


def compared(
    name: str, place: str, rate: Json, arms: Iterable[Json], **shared: object
) -> Iterator[Json]:
    """Yield a baseline and the rows compared with it; `arms` has the fields that differ per row."""
    baseline = f"{name}-plain"
    facts = {"kind": "baseline", "method": "none", **shared}
    yield stated(id=baseline, place=place, figures=[rate], **facts)
    for arm in arms:
        yield stated(**{**shared, "kind": "speculation", "baseline_row": baseline, **arm})


def figure(quantity: str, printed: float | str) -> Json:
    """A figure as the source prints it."""
    value = float(printed) if isinstance(printed, str) else printed
    return {"quantity": quantity, "value": value, "as_printed": str(printed)}


def percentage(quantity: str, printed: float) -> Json:
    """A share that the source prints as a percentage."""
    return {"quantity": quantity, "value": round(printed / 100, 6), "as_printed": f"{printed}%"}


def median_figure(quantity: str, repeats: Sequence[float]) -> Json:
    """The median of repeats, which are all in `as_printed`; a single repeat is a plain figure."""
    if len(repeats) == 1:
        return figure(quantity, repeats[0])
    words = f"median of {', '.join(map(str, repeats))}"
    value = round(statistics.median(repeats), 6)
    return {"quantity": quantity, "value": value, "as_printed": words}


def stated(**facts: object) -> Json:
    """Build an object from these fields; leave out unknown and empty values."""
    return {name: value for name, value in facts.items() if value not in (None, "", [], {})}


def dense(name: str, quantisation: str, parameters_b: float) -> Json:
    """A dense model, which uses all its parameters for each token."""
    return {
        "name": name,
        "architecture": "dense",
        "quantisation": quantisation,
        "parameters_b": parameters_b,
    }


def document(*, source: Json, rigs: Iterable[Json], rows: Iterable[Json], day: str) -> Json:
    """A document of published figures, in version 1 of their format."""
    return {
        "format": "draftmap-published",
        "version": 1,
        "licence": "CC-BY-4.0",
        "source": source,
        "transcribed_on": day,
        "rigs": list(rigs),
        "rows": list(rows),
    }


def described(script: str, rows: Iterable[Json]) -> Json:
    """The document that a script writes: its rows, and source and rigs from its `.toml` file."""
    facts = tomllib.loads(Path(script).with_suffix(".toml").read_text("utf-8"))
    return document(
        source=facts["source"], rigs=facts["rigs"], rows=rows, day=facts["transcribed_on"]
    )


def main(transcribe: Callable[[Path], Json]) -> None:
    """Write the file of a source and print its numbers of baselines and pairs."""
    write(transcribe(Path(sys.argv[1])))


def write(made: Json) -> None:
    """Write a document as its source's file, and print its numbers of baselines and pairs."""
    schema = json.loads(SCHEMA.read_bytes())
    path = PUBLISHED / f"{made['source']['id']}.json"
    text = json.dumps(_ordered(made, schema, schema), indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    kinds = [row["kind"] for row in made["rows"]]
    counts = f"{kinds.count('baseline')} baselines, {kinds.count('speculation')} pairs"
    sys.stdout.write(f"{path.name}: {counts}\n")


def _ordered(value: Any, part: Json, schema: Json) -> Any:  # noqa: ANN401 - any JSON
    """Sort the keys of every object in the order of the schema."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    if isinstance(value, dict):
        fields = part["properties"]
        return {key: _ordered(value[key], fields[key], schema) for key in fields if key in value}
    if isinstance(value, list):
        return [_ordered(item, part["items"], schema) for item in value]
    return value
