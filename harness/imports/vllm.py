"""Import vLLM's answers with per-request metrics: one per line, or from the batch runner."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from harness.imports import vllm_bench
from harness.imports.foreign_names import finish_of, reason_of
from harness.imports.json_values import Value, rows
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, by_arm
from harness.imports.source_files import Given
from harness.imports.vllm_bench import concurrency, is_result
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


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read each file as an arm, the first as the baseline; each concurrency level is one part."""
    found = [
        (arm, number, row)
        for arm, file in by_arm(files)
        for number, row in enumerate(rows(file), 1)
    ]
    results = [row for _, _, row in found if is_result(row)]
    levels = dict.fromkeys(map(concurrency, results)) or {None: None}
    parts = [
        _part(
            f"vllm-{level}-at-once" if len(levels) > 1 and level else "vllm",
            [each for each in found if not is_result(each[2]) or concurrency(each[2]) == level],
        )
        for level in levels
    ]
    return ParsedFiles(parts, [*vllm_bench.left_out(results)])


def _part(name: str, found: Sequence[tuple[str, int, Value]]) -> Part:
    benched = {arm: concurrency(row) for arm, _, row in found if is_result(row)}
    bodies = [body for _, _, row in found if (body := _answer(row)[0])]
    created = [_moment(body) for body in bodies if body.at("created").number()]
    began = ImportedFacts(engine="vLLM", measured_from=utc(min(created)) if created else None)
    return Part(
        name=name,
        suite="vllm",
        facts=began | vllm_bench.facts([row for _, _, row in found if is_result(row)]),
        methods={arm: None for arm, _, _ in found},
        records=tuple(record for each in found for record in _records(*each)),
        concurrency=benched,
        needs_concurrency=None in benched.values(),
    )


def _moment(body: Value) -> datetime:
    """Return when an answer was created."""
    seconds = body.at("created").number() or 0.0
    if seconds > _LAST_MOMENT_S:
        body.at("created").refuse("a time in seconds since 1970")
    return datetime.fromtimestamp(int(seconds), tz=UTC)


def _records(arm: str, number: int, row: Value) -> Iterator[Record]:
    """Yield the record of an answer, or those of a benchmark; `number` counts rows of the file."""
    if is_result(row):
        yield from vllm_bench.records(arm, row)
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
