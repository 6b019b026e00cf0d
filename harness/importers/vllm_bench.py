"""How does `vllm bench serve --save-detailed` read? Lists with an entry for every request.

It times chunks at the client: the intervals between them add up to the time from the first token
to the last. Requests keep the order of the data set, which pairs them across files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.importers.model import Record
from harness.importers.names import model_facts
from harness.importers.reasons import reason_of
from harness.importers.timings import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.importers.entries import Entry

_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})-[0-9]{6}")


def is_result(row: Entry) -> bool:
    """Whether a row is the result of a whole run of this tool, and not an answer."""
    return {"request_throughput", "num_prompts"} <= row.value.keys()


def records(arm: str, row: Entry) -> Iterator[Record]:
    """One record for every request. Refuses a result without the lists."""
    if "itls" not in row.value:
        row.refuse("itls", "the times of each request: run the tool with --save-detailed")
    intervals, errors = row.elements("itls"), row.elements("errors")
    count = len(intervals.value)
    for key in _LISTS:
        if len(row.elements(key).value) != count:
            row.refuse(key, f"a list of {count}, an entry for each request")
    inputs, outputs = row.counts("input_lens") or [], row.counts("output_lens") or []
    firsts = row.numbers("ttfts") or []
    for number in range(count):
        place = f"{row.file}: request {number + 1}"
        error = errors.text(str(number))
        if error is not None:
            yield Record(arm=arm, prompt=_name(number), place=place, reason=reason_of(error))
            continue
        steps = intervals.numbers(str(number)) or []
        first_s, decode_s = firsts[number], sum(filter(None, steps))
        yield Record(
            arm=arm,
            prompt=_name(number),
            place=place,
            prompt_tokens=inputs[number] or None,
            output_tokens=outputs[number],
            ttft_ms=None if first_s is None else first_s * MS_PER_S,
            decode_ms=decode_s * MS_PER_S if decode_s and None not in steps else None,
        )


def concurrency(row: Entry) -> int | None:
    """The cap on requests in flight; all at once without cap and rate; else unknown."""
    cap = row.count("max_concurrency")
    if cap is None and row.value.get("request_rate") == "inf":
        return row.count("num_prompts")
    return cap


def facts(rows: Sequence[Entry]) -> dict[str, str]:
    """Target and day, as far as the results say them, and all alike."""
    found: dict[str, str] = {}
    models = {name for row in rows if (name := row.text("model_id"))}
    if len(models) == 1:
        found |= model_facts(models.pop())
    days = [day for row in rows if (day := _DAY.fullmatch(row.text("date") or ""))]
    if days:
        found["date"] = min("-".join(day.groups()) for day in days)
    return found


def left_out(rows: Sequence[Entry]) -> Iterator[str]:
    """Its counters of speculation belong to the whole run, and no request has its own."""
    for row in rows:
        if any(key.startswith("spec_decode_") for key in row.value):
            yield f"{row.file}: the counters of speculation, which the tool sums over all requests"


def _name(number: int) -> str:
    return f"request-{number + 1}"
