"""How does the output of mtp-bench read? The script that people paste in llama.cpp's threads.

JSON with a list of requests (`results` or `requests`), or the table that it prints. Its rate is
the server's; a time is worked out from it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.importers.model import Part, Reading, Record
from harness.importers.pairs import arms, named
from harness.importers.reasons import reason_of
from harness.importers.source import Entry, document, text
from harness.importers.tasks import MTP_BENCH
from harness.importers.timings import MS_PER_S, rounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.importers.source import Given
    from schemas.codec import Json

_ROW = re.compile(
    r"[\s>]*(?P<name>[^\s>]\S*)\s+pred=\s*(?P<predicted_n>\d+)\s+draft=\s*(?P<draft_n>\d+)\s+"
    r"acc=\s*(?P<draft_n_accepted>\d+)\s+rate=\S+\s+tok/s=\s*(?P<predicted_per_second>[\d.]+)"
)


def read(files: Sequence[Given]) -> Reading:
    """One part; every file is an arm, the first one the baseline."""
    pairs = named(files)
    records = tuple(record for arm, file in pairs for record in _records(arm, file))
    part = Part(
        name="mtp-bench",
        suite="mtp-bench",
        facts={"engine": "llama.cpp", "rate_counts": "tokens"},
        arms=arms(records, pairs, _concurrency(pairs)),
        records=records,
        tasks=MTP_BENCH,
    )
    return Reading(parts=(part,), left_out=_aggregates(pairs))


def _rows(file: Given) -> list[Entry]:
    found = text(file)
    if _ROW.search(found) and not found.lstrip().startswith("{"):
        return [
            Entry(file=file.name, path=f"line {number}", value=_numbers(match))
            for number, line in enumerate(found.splitlines(), start=1)
            if (match := _ROW.match(line))
        ]
    top = Entry.of(file, document(file))
    return top.children("requests" if "requests" in top.value else "results")


def _numbers(match: re.Match[str]) -> dict[str, Json]:
    counts: dict[str, Json] = {
        key: int(match[key]) for key in ("predicted_n", "draft_n", "draft_n_accepted")
    }
    return counts | {
        "name": match["name"],
        "predicted_per_second": float(match["predicted_per_second"]),
    }


def _records(arm: str, file: Given) -> Iterator[Record]:
    rows = _rows(file)
    if not rows:
        message = f"{file.name}: no requests in it"
        raise BadInputError(message)
    for number, row in enumerate(rows, start=1):
        prompt = row.text("name") or row.text("id") or f"request-{number}"
        error, tokens = row.text("error"), row.count("predicted_n")
        accepted, wall = row.count("draft_n_accepted"), row.number("wall_s")
        yield Record(
            arm=arm,
            prompt=prompt,
            place=row.place,
            category=row.text("category"),
            reason=None if error is None else reason_of(error),
            output_tokens=tokens,
            decode_ms=row.number("predicted_ms"),
            per_second=row.number("predicted_per_second"),
            wall_ms=None if wall is None else wall * MS_PER_S,
            drafted=row.count("draft_n"),
            accepted=accepted,
            rounds=rounds(tokens, accepted),
        )


def _concurrency(pairs: Sequence[tuple[str, Given]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for arm, file in pairs:
        if text(file).lstrip().startswith("{"):
            count = Entry.of(file, document(file)).count("concurrency")
            if count:
                found[arm] = count
    return found


def _aggregates(pairs: Sequence[tuple[str, Given]]) -> tuple[str, ...]:
    """The summary of a file is derived, and results hold raw facts only."""
    return tuple(
        f"{file.name}: the aggregate, which follows from the requests"
        for _, file in pairs
        if b"ggregate" in file.data
    )
