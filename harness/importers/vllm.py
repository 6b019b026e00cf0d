"""How do vLLM's answers with per-request metrics read? One answer a line, or the batch runner's.

A server with `--enable-per-request-metrics` gives the times, one with
`--per-request-spec-decode-metrics` the counters. Bare answers are paired by their position. What
`vllm bench serve` and SGLang's `bench_serving` save is read as well: they write the same lists.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from harness.errors import BadInputError
from harness.importers.entries import Entry, lines
from harness.importers.model import BASELINE, Format, Given, Part, Reading, Record, arms, named
from harness.importers.translate import model_facts, reason_of
from harness.importers.trials import MS_PER_S, histogram, written
from harness.runners.http.counters import Counted, totals
from schemas.submission import Reason

_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_DETAILS = (
    "the times of each request: run vllm bench serve with --save-detailed, SGLang's bench_serving "
    "with --output-details"
)
_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})-[0-9]{6}")


def is_result(row: Entry) -> bool:
    """Whether a row is the result of a whole run of requests, and not an answer."""
    keys = row.value.keys()
    return "request_throughput" in keys and ("num_prompts" in keys or "completed" in keys)


def is_sglang(row: Entry) -> bool:
    """Whether SGLang's tool ran against its own server."""
    return (row.text("backend") or "").startswith("sglang")


def records(arm: str, row: Entry) -> Iterator[Record]:
    """One record for every request. Refuses a result without the lists."""
    if "itls" not in row.value:
        row.refuse("itls", _DETAILS)
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
    # SGLang writes Infinity, which JSON lacks and is read as null.
    if cap is None and "request_rate" in row.value and row.value["request_rate"] in ("inf", None):
        return row.count("num_prompts") or row.count("completed")
    return cap


def facts(rows: Sequence[Entry]) -> dict[str, str]:
    """Target and day, as far as the results say them, and all alike."""
    found: dict[str, str] = {"engine": "SGLang"} if any(map(is_sglang, rows)) else {}
    models = {name for row in rows if (name := _model(row))}
    if len(models) == 1:
        found |= model_facts(models.pop())
    days = [day for row in rows if (day := _DAY.fullmatch(row.text("date") or ""))]
    if days:
        found["date"] = min("-".join(day.groups()) for day in days)
    return found


def left_out(rows: Sequence[Entry]) -> Iterator[str]:
    """Its counters of speculation belong to the whole run, and no request has its own."""
    for row in rows:
        summed = any(key.startswith("spec_decode_") for key in row.value)
        if summed or row.number("accept_length") is not None:
            yield f"{row.file}: the counters of speculation, which the tool sums over all requests"


def _model(row: Entry) -> str | None:
    server = row.child("server_info")
    return row.text("model_id") or (server.text("model_path") if server else None)


def _name(number: int) -> str:
    return f"request-{number + 1}"


_OK = 200


def read(files: Sequence[Given]) -> Reading:
    """Every file is an arm, the first one the baseline; a part for each number of requests."""
    pairs = named(files)
    rows = [(arm, list(lines(file))) for arm, file in pairs]
    results = [row for _, found in rows for row in found if is_result(row)]
    levels = dict.fromkeys(map(concurrency, results)) or {None: None}
    parts = []
    for level in levels:
        own = [(arm, [row for row in found if _is_at(row, level)]) for arm, found in rows]
        name = f"vllm-{level}-at-once" if len(levels) > 1 and level else "vllm"
        parts.append(_part(name, pairs, own))
    return Reading(parts=tuple(parts), left_out=tuple(left_out(results)))


def _is_at(row: Entry, level: int | None) -> bool:
    return not is_result(row) or concurrency(row) == level


def _part(
    name: str, pairs: Sequence[tuple[str, Given]], rows: Sequence[tuple[str, list[Entry]]]
) -> Part:
    records = tuple(record for arm, found in rows for record in _records(arm, found))
    _require_same_prompts(records)
    benched = [(arm, row) for arm, found in rows for row in found if is_result(row)]
    in_flight = {arm: concurrency(row) for arm, row in benched}
    results = [row for _, row in benched]
    return Part(
        name=name,
        suite="vllm",
        facts={"engine": "vLLM"}
        | _window([row for _, found in rows for row in found])
        | facts(results),
        arms=arms(records, pairs, {arm: count for arm, count in in_flight.items() if count}),
        records=records,
        asks=("concurrency",) if None in in_flight.values() else (),
    )


def _records(arm: str, rows: Sequence[Entry]) -> Iterator[Record]:
    for number, row in enumerate(rows, start=1):
        if is_result(row):
            yield from records(arm, row)
            continue
        prompt = row.text("custom_id") or row.text("prompt_id") or f"request-{number}"
        body, reason = _answer(row)
        if body is None:
            category = row.text("category")
            yield Record(arm=arm, prompt=prompt, place=row.place, category=category, reason=reason)
        else:
            yield _finished(arm, prompt, row.text("category"), body)


def _answer(row: Entry) -> tuple[Entry | None, Reason]:
    """The completion in a row, or why there is none."""
    response = row.child("response") if "response" in row.value else row
    error = row.value.get("error")
    if error is not None or response is None:
        return None, reason_of(str(error or ""))
    if response is row:
        return row, "other"
    status, body = response.count("status_code"), response.child("body")
    if status not in (None, _OK) or body is None:
        return None, reason_of(str(body.value if body else "")) if status != _OK else "bad-answer"
    return body, "other"


def _finished(arm: str, prompt: str, category: str | None, body: Entry) -> Record:
    usage, metrics = body.child("usage"), body.child("metrics")
    if usage is None:
        body.refuse("usage", "the server's count of tokens")
    spec = metrics.child("speculative_decoding") if metrics else None
    record = Record(
        arm=arm,
        prompt=prompt,
        place=body.place,
        category=category,
        prompt_tokens=usage.count("prompt_tokens"),
        output_tokens=usage.count("completion_tokens"),
        ttft_ms=metrics.number("time_to_first_token_ms") if metrics else None,
        decode_ms=metrics.number("generation_time_ms") if metrics else None,
        finish=_finish(body),
    )
    return record if spec is None else _counted(record, spec)


def _counted(record: Record, spec: Entry) -> Record:
    """With the counters in the format's way of counting, exactly as a measured answer has them."""
    drafted, accepted = spec.count("num_draft_tokens"), spec.count("num_accepted_draft_tokens")
    if drafted is None or accepted is None or record.output_tokens is None:
        return replace(record, drafted=drafted, accepted=accepted)
    if accepted > drafted:
        return replace(record, drafted=drafted, accepted=accepted)
    steps, accepted_lengths = spec.count("num_spec_steps"), spec.counts("acceptance_histogram")
    counted = Counted(
        drafted=drafted,
        accepted=accepted,
        steps=steps,
        histogram=tuple(accepted_lengths) if accepted_lengths else None,
    )
    sums = totals(decode_ms=0.0, output_tokens=record.output_tokens, counted=counted)
    return replace(
        record,
        drafted=drafted,
        accepted=sums.accepted,
        rounds=sums.rounds,
        accepted_histogram=sums.accepted_histogram,
        drafted_histogram=_drafts(spec.counts("per_step_drafted") or [], sums.rounds),
    )


def _drafts(lengths: list[int], rounds: int | None) -> tuple[int, ...] | None:
    """Rounds by drafted length; vLLM lists those that drafted, the others had a draft of 0."""
    plain = (rounds or 0) - len(lengths)
    return histogram([*lengths, *([0] * plain)]) if lengths else None


def _finish(body: Entry) -> Literal["length", "stop"] | None:
    choices = body.children("choices") if body.value.get("choices") else []
    finish = choices[0].text("finish_reason") if choices else None
    if finish == "length":
        return "length"
    return "stop" if finish == "stop" else None


def _require_same_prompts(records: Sequence[Record]) -> None:
    """Answers paired by position must be to prompts of the same length."""
    lengths = {r.prompt: r for r in records if r.arm == BASELINE and r.prompt_tokens}
    for record in records:
        base = lengths.get(record.prompt)
        if base is None or not record.prompt_tokens:
            continue
        if record.prompt_tokens != base.prompt_tokens:
            message = (
                f"{record.place}: a prompt of {record.prompt_tokens} tokens, the baseline's "
                f"{record.prompt} has {base.prompt_tokens}; the files do not hold the same prompts "
                "in the same order: give each row a custom_id"
            )
            raise BadInputError(message)


def _window(rows: Sequence[Entry]) -> dict[str, str]:
    """The second in which the first answer was made."""
    bodies = [_answer(row)[0] for row in rows]
    created = [made for body in bodies if body and (made := body.moment("created"))]
    return {"measured_from": written(min(created))} if created else {}


FORMAT = Format(
    read=read,
    signs=(
        frozenset({"usage", "choices"}),
        frozenset({"custom_id", "response"}),
        frozenset({"request_throughput", "num_prompts"}),
        frozenset({"request_throughput", "completed"}),
    ),
    help="""answers of a server with `--enable-per-request-metrics` (and
`--per-request-spec-decode-metrics summary`), one per line or as the batch runner writes them; or
what `vllm bench serve --save-detailed` or SGLang's `bench_serving --output-details` saves, whose
counters are sums and are left out; runs with other numbers of requests at once become results of
their own. Lacks machine, quantisation, method and sampling.

- `--from vllm off.jsonl on.jsonl --map method=eagle3:n_max=3 --map quantisation=BF16
--map target=Qwen3-8B --map backend=cuda --map gpu="NVIDIA L40S" --map sampling=greedy`""",
)
