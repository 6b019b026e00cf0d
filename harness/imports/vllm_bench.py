"""Read results of `vllm bench serve` and SGLang's `bench_serving`: lists, one entry per request."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.imports.foreign_names import reason_of, target_facts
from harness.imports.json_values import MS_PER_S, Value
from harness.imports.needed_facts import ImportedFacts, agreed
from harness.imports.records import Record

_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_DETAILS = (
    "the times of each request: run vllm bench serve with --save-detailed, or SGLang's "
    "bench_serving with --output-details"
)
_UNKNOWN_SET = "unknown-data-set"
_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})-[0-9]{6}")


def is_result(row: Value) -> bool:
    """Whether a row is the result of a whole run of requests, rather than of one answer."""
    return "request_throughput" in row.keys and bool({"num_prompts", "completed"} & row.keys)


def records(arm: str, row: Value) -> Iterator[Record]:
    """Yield one record per request. Raises `BadInputError` if the lists are missing."""
    intervals = row.at("itls").each("a list" if "itls" in row.keys else _DETAILS)
    expected = f"a list of {len(intervals)}, one entry per request"
    lists = [row.at(key).each() for key in _LISTS]
    for key, each in zip(_LISTS, lists, strict=True):
        if len(each) != len(intervals):
            row.at(key).refuse(expected)
    for number, (read, written, first, steps, error) in enumerate(zip(*lists, strict=True), 1):
        record = Record(
            arm=arm, prompt=f"request-{number}", place=f"{row.source}: request {number}"
        )
        if message := error.text():
            yield replace(record, reason=reason_of(message))
            continue
        gaps_s = [each.number() for each in steps.each()] if steps.json is not None else []
        decode_s, first_s = sum(filter(None, gaps_s)), first.number()
        yield replace(
            record,
            prompt_tokens=read.count() or None,
            output_tokens=written.count() or 0,
            ttft_ms=None if first_s is None else first_s * MS_PER_S,
            decode_ms=decode_s * MS_PER_S if decode_s and None not in gaps_s else None,
        )


def concurrency(row: Value) -> int | None:
    """Return the limit of requests in flight; without one, all if sent at once, else `None`."""
    cap = row.at("max_concurrency").count()
    # SGLang writes Infinity, which JSON lacks and is read as null.
    if cap is None and "request_rate" in row.keys and row.at("request_rate").json in ("inf", None):
        return row.at("num_prompts").count() or row.at("completed").count()
    return cap


def facts(rows: Sequence[Value]) -> ImportedFacts:
    """Return the runs' common data set and target, their first day, and the engine if SGLang."""
    days = [day for row in rows if (day := _DAY.fullmatch(row.at("date").text() or ""))]
    # SGLang's tool records the kind of server.
    by_sglang = any((row.at("backend").text() or "").startswith("sglang") for row in rows)
    sets = agreed(row.at("dataset_name").text() for row in rows)
    known = ImportedFacts(
        dataset=sets or _UNKNOWN_SET if rows else None,
        engine="SGLang" if by_sglang else None,
        date=min("-".join(day.groups()) for day in days) if days else None,
    )
    models = (row.at("model_id").text() or row.at("server_info.model_path").text() for row in rows)
    return known | target_facts(agreed(models))


def left_out(rows: Sequence[Value]) -> Iterator[str]:
    """Name the data left out: counters summed over a run, and a data set the tool did not save."""
    for row in rows:
        is_summed = any(key.startswith("spec_decode_") for key in row.keys)
        if is_summed or row.at("accept_length").number() is not None:
            counters = "the counters of speculation, because the tool sums them over all requests"
            yield f"{row.source}: {counters}"
    if any(row.at("dataset_name").text() is None for row in rows):
        yield (
            "the data set, which the tool does not save: state it with --map dataset=… (the "
            "tool's default is random tokens, which drafts cannot predict)"
        )
