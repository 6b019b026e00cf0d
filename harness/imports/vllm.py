"""Import vLLM's answers with per-request metrics: one per line, or from the batch runner."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from harness.imports import vllm_bench
from harness.imports.foreign_names import finish_of, reason_of
from harness.imports.json_values import JsonObject, lines
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, arms, by_arm
from harness.imports.source_files import Given
from harness.imports.vllm_bench import concurrency, is_result
from harness.run.record import utc
from harness.runners.http.counted_rounds import Counted, totals
from schemas.submission import Reason

_OK = 200
_LAST_MOMENT_S = 253_402_300_799  # the end of the year 9999


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read each file as an arm, the first as the baseline; each concurrency level is one part."""
    rows = [(arm, list(lines(file))) for arm, file in by_arm(files)]
    results = [row for _, found in rows for row in found if is_result(row)]
    levels = dict.fromkeys(map(concurrency, results)) or {None: None}
    parts = []
    for level in levels:
        own = [
            (arm, [r for r in found if not is_result(r) or concurrency(r) == level])
            for arm, found in rows
        ]
        name = f"vllm-{level}-at-once" if len(levels) > 1 and level else "vllm"
        parts.append(_part(name, own))
    return ParsedFiles(parts=tuple(parts), left_out=tuple(vllm_bench.left_out(results)))


def _part(name: str, rows: Sequence[tuple[str, list[JsonObject]]]) -> Part:
    records = tuple(record for arm, found in rows for record in _records(arm, found))
    benched = [(arm, row) for arm, found in rows for row in found if is_result(row)]
    in_flight = {arm: concurrency(row) for arm, row in benched}
    bodies = [_answer(row)[0] for _, found in rows for row in found]
    created = [_moment(body) for body in bodies if body and body.number("created")]
    began = ImportedFacts(engine="vLLM", measured_from=utc(min(created)) if created else None)
    return Part(
        name=name,
        suite="vllm",
        facts=began | vllm_bench.facts([row for _, row in benched]),
        arms=arms(
            records,
            (arm for arm, _ in rows),
            remedy="give each row a custom_id",
            concurrency=in_flight,
        ),
        records=records,
        needs_concurrency=None in in_flight.values(),
    )


def _moment(body: JsonObject) -> datetime:
    """Return when an answer was created."""
    seconds = body.number("created") or 0.0
    if seconds > _LAST_MOMENT_S:
        body.refuse("created", "a time in seconds since 1970")
    return datetime.fromtimestamp(int(seconds), tz=UTC)


def _records(arm: str, rows: Sequence[JsonObject]) -> Iterator[Record]:
    for number, row in enumerate(rows, start=1):
        if is_result(row):
            yield from vllm_bench.records(arm, row)
            continue
        prompt = row.text("custom_id") or row.text("prompt_id") or f"request-{number}"
        body, reason = _answer(row)
        record = Record(arm=arm, prompt=prompt, place=row.place, category=row.text("category"))
        yield replace(record, reason=reason) if body is None else _finished(record, body)


def _answer(row: JsonObject) -> tuple[JsonObject | None, Reason]:
    """Return the completion in a row, or the reason why the row has none."""
    response = row.child("response") if "response" in row.fields else row
    error = row.fields.get("error")
    if error is not None or response is None:
        return None, reason_of(str(error or ""))
    if response is row:
        return row, "other"
    status, body = response.count("status_code"), response.child("body")
    if status not in (None, _OK) or body is None:
        return None, reason_of(str(body.fields if body else "")) if status != _OK else "bad-answer"
    return body, "other"


def _finished(record: Record, body: JsonObject) -> Record:
    """Add the figures, with counters converted by the same code as those of measured answers."""
    body.needed("usage", body.child("usage"), "the server's token count")
    spec = "metrics.speculative_decoding"
    record = replace(
        record,
        place=body.place,
        prompt_tokens=body.count("usage.prompt_tokens"),
        output_tokens=body.count("usage.completion_tokens"),
        ttft_ms=body.number("metrics.time_to_first_token_ms"),
        decode_ms=body.number("metrics.generation_time_ms"),
        finish=finish_of(body),
        drafted=body.count(f"{spec}.num_draft_tokens"),
        accepted=body.count(f"{spec}.num_accepted_draft_tokens"),
    )
    drafted, accepted, tokens = record.drafted, record.accepted, record.output_tokens
    if drafted is None or accepted is None or tokens is None or accepted > drafted:
        return record
    counted = Counted(
        drafted=drafted,
        accepted=accepted,
        steps=body.count(f"{spec}.num_spec_steps"),
        histogram=tuple(body.counts(f"{spec}.acceptance_histogram") or ()) or None,
        lengths=tuple(body.counts(f"{spec}.per_step_drafted") or ()) or None,
    )
    sums = totals(decode_ms=0.0, output_tokens=tokens, counted=counted)
    return replace(
        record,
        accepted=sums.accepted,
        # An answer of one token has no rounds, and trailing zeros are left out.
        accepted_histogram=() if sums.accepted_histogram == (0,) else sums.accepted_histogram,
        drafted_histogram=sums.drafted_histogram,
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
