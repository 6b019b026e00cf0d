"""Import vLLM's answers with per-request metrics, and its and SGLang's serving benchmarks.

Answers are one per line, or from the batch runner. A benchmark has lists, one entry per request.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from harness.imports.foreign_names import finish_of, reason_of, target_facts
from harness.imports.json_values import MS_PER_S, Value, rows
from harness.imports.needed_facts import ImportedFacts, agreed
from harness.imports.records import Format, ParsedFiles, Part, Record, by_arm
from harness.imports.source_files import Given
from harness.run.record import utc
from harness.runners.http.counted_rounds import Counted, totals
from schemas.submission import Reason

_OK = 200
_LAST_MOMENT_S = 253_402_300_799  # the end of the year 9999
_SPEC = "metrics.speculative_decoding"
_FIGURES = {
    "prompt_tokens": "usage.prompt_tokens",
    "output_tokens": "usage.completion_tokens",
    "ttft_ms": "metrics.time_to_first_token_ms",
    "decode_ms": "metrics.generation_time_ms",
    "drafted": f"{_SPEC}.num_draft_tokens",
    "accepted": f"{_SPEC}.num_accepted_draft_tokens",
}
_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_DETAILS = (
    "the times of each request: run vllm bench serve with --save-detailed, or SGLang's "
    "bench_serving with --output-details"
)
_UNKNOWN_SET = "unknown-data-set"
_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})-[0-9]{6}")


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read each file as an arm, the first as the baseline; each concurrency level is one part."""
    found = [
        (arm, number, row)
        for arm, file in by_arm(files)
        for number, row in enumerate(rows(file), 1)
    ]
    results = [row for _, _, row in found if _is_bench(row)]
    levels = dict.fromkeys(map(_concurrency, results)) or {None: None}
    parts = [
        _part(
            f"vllm-{level}-at-once" if len(levels) > 1 and level else "vllm",
            [each for each in found if not _is_bench(each[2]) or _concurrency(each[2]) == level],
        )
        for level in levels
    ]
    return ParsedFiles(parts, [*_left_out(results)])


def _part(name: str, found: Sequence[tuple[str, int, Value]]) -> Part:
    benched = {arm: _concurrency(row) for arm, _, row in found if _is_bench(row)}
    bodies = [body for _, _, row in found if (body := _answer(row)[0])]
    created = [_moment(body) for body in bodies if body.at("created").number()]
    began = ImportedFacts(engine="vLLM", measured_from=utc(min(created)) if created else None)
    return Part(
        name=name,
        suite="vllm",
        facts=began | _facts([row for _, _, row in found if _is_bench(row)]),
        methods={arm: None for arm, _, _ in found},
        records=tuple(record for each in found for record in _records(*each)),
        concurrency=benched,
    )


def _moment(body: Value) -> datetime:
    """Return when an answer was created."""
    seconds = body.at("created").number() or 0.0
    if seconds > _LAST_MOMENT_S:
        body.at("created").refuse("a time in seconds since 1970")
    return datetime.fromtimestamp(int(seconds), tz=UTC)


def _records(arm: str, number: int, row: Value) -> Iterator[Record]:
    """Yield the record of an answer, or those of a benchmark; `number` counts rows of the file."""
    if _is_bench(row):
        yield from _benched(arm, row)
        return
    body, reason = _answer(row)
    record = Record(
        arm=arm,
        prompt=row.at("custom_id").text() or row.at("prompt_id").text() or f"request-{number}",
        place=row.place,
        category=row.at("category").text(),
        reason=reason,
    )
    yield record if body is None else _finished(record, body)


def _answer(row: Value) -> tuple[Value | None, Reason | None]:
    """Return the completion in a row, or the reason why the row has none."""
    response, error = row.at("response"), row.at("error").json
    if error is not None:
        return None, reason_of(str(error))
    if "response" not in row.keys:
        return row, None
    status, body = response.at("status_code").count(), response.at("body")
    if status not in (None, _OK):
        return None, reason_of(str(body.json or ""))
    if body.json is None:
        return None, "bad-answer" if status == _OK else "other"
    return body.object(), None


def _finished(record: Record, body: Value) -> Record:
    """Add the figures, with counters converted by the same code as those of measured answers."""
    if not body.has("usage"):
        body.at("usage").refuse("the server's token count")
    figures = body.fields(Record, _FIGURES)
    record = replace(record, place=body.place, finish=finish_of(body), **figures)
    drafted, accepted, tokens = record.drafted, record.accepted, record.output_tokens
    if drafted is None or accepted is None or tokens is None or accepted > drafted:
        return record
    counted = Counted(
        drafted=drafted,
        accepted=accepted,
        steps=body.at(f"{_SPEC}.num_spec_steps").count(),
        histogram=_counts(body.at(f"{_SPEC}.acceptance_histogram")),
        lengths=_counts(body.at(f"{_SPEC}.per_step_drafted")),
    )
    sums = totals(decode_ms=0.0, output_tokens=tokens, counted=counted)
    return replace(
        record,
        accepted=sums.accepted,
        # An answer of one token has no rounds, and trailing zeros are left out.
        accepted_histogram=() if sums.accepted_histogram == (0,) else sums.accepted_histogram,
        drafted_histogram=sums.drafted_histogram,
    )


def _counts(values: Value) -> tuple[int, ...] | None:
    """Return a list of counts, where null is 0; `None` for an empty or missing list."""
    return (
        tuple(each.count() or 0 for each in values.each()) or None
        if values.json is not None
        else None
    )


def _is_bench(row: Value) -> bool:
    """Whether a row is the result of a whole run of requests, rather than of one answer."""
    return "request_throughput" in row.keys and bool({"num_prompts", "completed"} & row.keys)


def _benched(arm: str, row: Value) -> Iterator[Record]:
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


def _concurrency(row: Value) -> int | None:
    """Return the limit of requests in flight; without one, all if sent at once, else `None`."""
    cap = row.at("max_concurrency").count()
    # SGLang writes Infinity, which JSON lacks and is read as null.
    if cap is None and "request_rate" in row.keys and row.at("request_rate").json in ("inf", None):
        return row.at("num_prompts").count() or row.at("completed").count()
    return cap


def _facts(rows: Sequence[Value]) -> ImportedFacts:
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


def _left_out(rows: Sequence[Value]) -> Iterator[str]:
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


FORMAT = Format(
    read=read,
    signs=(
        frozenset({"usage", "choices"}),
        frozenset({"custom_id", "response"}),
        frozenset({"request_throughput", "num_prompts"}),
        frozenset({"request_throughput", "completed"}),
    ),
    help="""answers from a server with `--enable-per-request-metrics` (and
`--per-request-spec-decode-metrics summary`), one per line or as the batch runner writes them.
Files from `vllm bench serve --save-detailed` and SGLang's `bench_serving --output-details` work
too, but their counters are sums and are left out. Runs with different numbers of concurrent
requests become separate results. The files lack machine, quantisation, method and sampling.

- `--from vllm off.jsonl on.jsonl --map method=eagle3:n_max=3 --map quantisation=BF16
--map target=Qwen3-8B --map backend=cuda --map gpu="NVIDIA L40S" --map sampling=greedy`""",
)
