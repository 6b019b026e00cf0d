"""Import the table that ik_llama.cpp's `llama-spec-bench` prints.

Stages of a chain share one generation, so their counts are summed. A baseline's time covers one
step per token, one more than the `decode_ms` of a measured result covers.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.imports.arm_methods import method_of
from harness.imports.foreign_names import id_of
from harness.imports.json_values import MS_PER_S
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, by_arm
from harness.imports.source_files import BASELINE, Given, wrong

_COLUMNS = {"task", "run", "stage", "tokens", "stop", "time(s)", "rounds", "accepted"}
_BASE, _SECOND = "base", "speculative"
_PLAIN = {_BASE, "error"}
_NONE = {"", "-", "–", "—"}  # noqa: RUF001 - dashes as people and editors write them
_FIGURE = re.compile(r"([0-9]+(?:\.[0-9]+)?)")
_ACCEPTED = re.compile(r"([0-9]+)\s*/\s*([0-9]+)")
_RULE = set("|- ")  # the line under the header; the tool prints one column too few
_TASKS = {"code": "code", "extract": "json", "story": "creative"}


class _Row(NamedTuple):
    """One row of the table: one stage of a chain's generation, or a whole generation."""

    run: str
    stage: str
    record: Record


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files as one measurement: each file is an arm, and the first is the baseline."""
    found = [each for arm, file in by_arm(files) for each in _arms(arm, [*_rows(arm, file)])]
    part = Part(
        name="llama-spec-bench",
        suite="llama-spec-bench",
        facts=ImportedFacts(engine="ik_llama.cpp"),
        methods={arm: _method(rows) for arm, rows in found},
        records=tuple(record for arm, rows in found for record in _generations(arm, rows)),
        tasks=_TASKS,
    )
    derived = "summaries, and rates, acceptance and lengths, because they follow from the counters"
    return ParsedFiles([part], (derived, "acceptance by position"))


def _arms(arm: str, rows: Sequence[_Row]) -> Sequence[tuple[str, Sequence[_Row]]]:
    """Return a file's rows by arm.

    If the first file has rows of the baseline and of a chain, stage `base` is the baseline.
    """
    plain = [row for row in rows if row.stage == _BASE]
    rest = [
        row._replace(record=replace(row.record, arm=_SECOND)) for row in rows if row.stage != _BASE
    ]
    if arm == BASELINE and plain and any(row.stage not in _PLAIN for row in rest):
        return (BASELINE, plain), (_SECOND, rest)
    return ((arm, rows),)


def _rows(arm: str, file: Given) -> Iterator[_Row]:
    columns: list[str] = []
    is_empty = True
    for number, line in enumerate(file.text.splitlines(), start=1):
        table = line[line.find("|") :].strip() if "|" in line else ""  # after log text
        cells = [cell.strip() for cell in table.strip("|").split("|")]
        heads = [cell.lower().replace(" ", "") for cell in cells]
        if not table or set(heads) >= _COLUMNS:
            columns = heads if table else []
        elif len(cells) == len(columns) and not set(table) <= _RULE:
            is_empty, row = False, dict(zip(columns, cells, strict=True))
            record = _record(arm, row, f"{file.name}: line {number}")
            yield _Row(row["run"], row["stage"], record)
    if is_empty:
        raise wrong(file.name, "the file has no row of the table 'task | run | stage | tokens | …'")


def _record(arm: str, row: Mapping[str, str], place: str) -> Record:
    found = {}
    for name in ("tokens", "time(s)", "accepted"):
        cell, counted = row[name], name == "accepted"
        match = _ACCEPTED.fullmatch(cell) if counted else _FIGURE.fullmatch(cell)
        if match is None and cell not in _NONE:
            expected = "accepted/drafted or -" if counted else "a number or -"
            raise wrong(place, f"{name} is {cell!r}, expected {expected}")
        found[name] = [float(each) for each in match.groups()] if match else []
    tokens, seconds, counts = found["tokens"], found["time(s)"], found["accepted"]
    return Record(
        arm=arm,
        prompt=row["task"],
        place=place,
        category=row["task"],
        reason="other" if row["stop"] == "fail" else None,
        output_tokens=int(tokens[0]) if tokens else None,
        decode_ms=seconds[0] * MS_PER_S if seconds else None,
        drafted=int(counts[1]) if counts else None,
        accepted=int(counts[0]) if counts else None,
        finish="stop" if row["stop"] == "eog" else "length",
    )


def _generations(arm: str, rows: Sequence[_Row]) -> Iterator[Record]:
    """Yield one record per task and run, with the counts of a chain's stages added up."""
    for _, group in itertools.groupby(rows, key=lambda row: (row.record.prompt, row.run)):
        stages = [row.record for row in group]
        record = stages[0]
        if arm != BASELINE and record.reason is None:
            drafted = sum(each.drafted or 0 for each in stages)
            accepted = sum(each.accepted or 0 for each in stages)
            record = replace(record, drafted=drafted, accepted=accepted)
        yield record


def _method(rows: Sequence[_Row]) -> str | None:
    """Return an arm's method, without `n_max`; several stages form one chain."""
    names = dict.fromkeys(row.stage.replace("_", "-") for row in rows)
    stages = [name for name in names if name not in _PLAIN]
    unknown = f"other:name={id_of('-'.join(sorted(stages)))}" if stages else None
    return method_of(stages) or unknown


FORMAT = Format(
    read=read,
    help="""the table that ik_llama.cpp's `llama-spec-bench` prints. It has tasks,
times and counters only.

- `--from llama-spec-bench base.txt mtp.txt --map n_max=2 --map sampling=greedy
--map target=Qwen3.8-27B --map quantisation=IQ4_KS --map backend=cuda --map date=2026-08-15
--map gpu="NVIDIA GeForce RTX 3090"`""",
)
