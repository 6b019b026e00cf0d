"""Read results of `vllm bench serve` and SGLang's `bench_serving`: lists, one entry per request."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.imports.foreign_names import reason_of, target_facts
from harness.imports.json_values import MS_PER_S, JsonObject
from harness.imports.needed_facts import ImportedFacts, agreed
from harness.imports.records import Record

_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_DETAILS = (
    "the times of each request: run vllm bench serve with --save-detailed, or SGLang's "
    "bench_serving with --output-details"
)
_UNKNOWN_SET = "unknown-data-set"
_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})-[0-9]{6}")


def is_result(row: JsonObject) -> bool:
    """Whether a row is the result of a whole run of requests, rather than of one answer."""
    keys = row.fields.keys()
    return "request_throughput" in keys and ("num_prompts" in keys or "completed" in keys)


def records(arm: str, row: JsonObject) -> Iterator[Record]:
    """Yield one record per request. Raises `BadInputError` if the lists are missing."""
    if "itls" not in row.fields:
        row.refuse("itls", _DETAILS)
    intervals, errors, firsts = map(row.elements, ("itls", "errors", "ttfts"))
    count = len(intervals.fields)
    for key in _LISTS:
        if len(row.elements(key).fields) != count:
            row.refuse(key, f"a list of {count}, one entry per request")
    inputs, outputs = row.counts("input_lens") or [], row.counts("output_lens") or []
    for number in range(count):
        record = Record(
            arm=arm, prompt=f"request-{number + 1}", place=f"{row.source}: request {number + 1}"
        )
        at = str(number)
        if error := errors.text(at):
            yield replace(record, reason=reason_of(error))
            continue
        first_s, steps = firsts.number(at), intervals.numbers(at) or []
        decode_s = sum(filter(None, steps))
        yield replace(
            record,
            prompt_tokens=inputs[number] or None,
            output_tokens=outputs[number],
            ttft_ms=None if first_s is None else first_s * MS_PER_S,
            decode_ms=decode_s * MS_PER_S if decode_s and None not in steps else None,
        )


def concurrency(row: JsonObject) -> int | None:
    """Return the limit of requests in flight; without one, all if sent at once, else `None`."""
    cap = row.count("max_concurrency")
    # SGLang writes Infinity, which JSON lacks and is read as null.
    if cap is None and row.fields.get("request_rate", 0) in ("inf", None):
        return row.count("num_prompts") or row.count("completed")
    return cap


def facts(rows: Sequence[JsonObject]) -> ImportedFacts:
    """Return the runs' common data set and target, their first day, and the engine if SGLang."""
    days = [day for row in rows if (day := _DAY.fullmatch(row.text("date") or ""))]
    # SGLang's tool records the kind of server.
    by_sglang = any((row.text("backend") or "").startswith("sglang") for row in rows)
    sets = agreed(row.text("dataset_name") for row in rows)
    known = ImportedFacts(
        dataset=sets or _UNKNOWN_SET if rows else None,
        engine="SGLang" if by_sglang else None,
        date=min("-".join(day.groups()) for day in days) if days else None,
    )
    models = (row.text("model_id") or row.text("server_info.model_path") for row in rows)
    return known | target_facts(agreed(models))


def left_out(rows: Sequence[JsonObject]) -> Iterator[str]:
    """Name the data left out: counters summed over a run, and a data set the tool did not save."""
    for row in rows:
        is_summed = any(key.startswith("spec_decode_") for key in row.fields)
        if is_summed or row.number("accept_length") is not None:
            counters = "the counters of speculation, because the tool sums them over all requests"
            yield f"{row.source}: {counters}"
    if any(row.text("dataset_name") is None for row in rows):
        yield (
            "the data set, which the tool does not save: state it with --map dataset=… (the "
            "tool's default is random tokens, which drafts cannot predict)"
        )
