"""Import vLLM's answers with per-request metrics: one per line, or from the batch runner."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.imports import vllm_bench
from harness.imports.json_lines import lines
from harness.imports.json_object import JsonObject
from harness.imports.names import finish_of, reason_of
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, arms, require_same_prompts
from harness.imports.source_files import Given, by_arm
from harness.imports.vllm_bench import concurrency, is_result
from harness.run.record import utc
from harness.runners.http.counted_rounds import Counted, totals
from schemas.submission import Reason

_OK = 200


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
    records = tuple(record for arm, records in rows for record in _records(arm, records))
    require_same_prompts(records, "give each row a custom_id")
    benched = [(arm, row) for arm, records in rows for row in records if is_result(row)]
    in_flight = {arm: concurrency(row) for arm, row in benched}
    bodies = [_answer(row)[0] for _, records in rows for row in records]
    created = [made for body in bodies if body and (made := body.moment("created"))]
    began = ImportedFacts(engine="vLLM", measured_from=utc(min(created)) if created else None)
    return Part(
        name=name,
        suite="vllm",
        facts=began | vllm_bench.facts([row for _, row in benched]),
        arms=arms(records, (arm for arm, _ in rows), concurrency=in_flight),
        records=records,
        needs_concurrency=None in in_flight.values(),
    )


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
    usage = body.needed("usage", body.child("usage"), "the server's token count")
    metrics = body.child("metrics")
    spec = metrics.child("speculative_decoding") if metrics else None
    record = replace(
        record,
        place=body.place,
        prompt_tokens=usage.count("prompt_tokens"),
        output_tokens=usage.count("completion_tokens"),
        ttft_ms=metrics.number("time_to_first_token_ms") if metrics else None,
        decode_ms=metrics.number("generation_time_ms") if metrics else None,
        finish=finish_of(body),
    )
    return record if spec is None else _counted(record, spec)


def _counted(record: Record, spec: JsonObject) -> Record:
    """Add the counters, converted to the result format by the same code as measured answers."""
    drafted, accepted = spec.count("num_draft_tokens"), spec.count("num_accepted_draft_tokens")
    record = replace(record, drafted=drafted, accepted=accepted)
    if drafted is None or accepted is None or record.output_tokens is None or accepted > drafted:
        return record
    counted = Counted(
        drafted=drafted,
        accepted=accepted,
        steps=spec.count("num_spec_steps"),
        histogram=tuple(spec.counts("acceptance_histogram") or ()) or None,
        lengths=tuple(spec.counts("per_step_drafted") or ()) or None,
    )
    sums = totals(decode_ms=0.0, output_tokens=record.output_tokens, counted=counted)
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
