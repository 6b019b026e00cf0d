"""Turn records into trials; counters that do not add up are reported and left out."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.imports.json_values import MS_PER_S
from harness.imports.needed_facts import RateCounts
from harness.imports.records import Record
from harness.run.record import ms
from schemas.submission import Method, Trial

# Kinds of data that results cannot store, with their places in the files.
LeftOut = defaultdict[str, list[str]]
_CLOSE = 0.25  # in tokens; counting tokens or steps differs by one


def trials(
    records: Iterable[Record],
    *,
    arms: Mapping[str, tuple[str, Method]],
    prompts: Mapping[str, str],
    counts: RateCounts,
    left_out: LeftOut,
) -> tuple[Trial, ...]:
    """Return the trials in file order; repeated records of an arm and prompt become blocks."""
    seen: Counter[tuple[str, str]] = Counter()
    made: list[Trial] = []
    for record in records:
        spent_ms, tokens = ms(_decode_ms(record, counts)), record.output_tokens
        # An answer of one token has no time after the first token; several tokens in zero time are
        # an error.
        is_timed = tokens and spent_ms is not None and (spent_ms or tokens == 1)
        if record.reason is None and not is_timed:
            left_out["a record without tokens or without a time"].append(record.place)
            continue
        (arm, method), prompt = arms[record.arm], prompts[record.prompt]
        trial = Trial(
            arm=arm,
            prompt=prompt,
            block=seen[arm, prompt],
            order=len(made),
            outcome="failed" if record.reason else "ok",
            reason=record.reason,
            decode_ms=None if record.reason else spent_ms,
        )
        seen[arm, prompt] += 1
        made.append(trial if record.reason else _finished(trial, record, method, left_out))
    return tuple(made)


def _finished(trial: Trial, record: Record, method: Method, left_out: LeftOut) -> Trial:
    """Add the record's figures; counters that contradict each other are reported and left out."""
    trial = replace(
        trial,
        output_tokens=record.output_tokens,
        prompt_ms=ms(record.prompt_ms),
        ttft_ms=ms(record.ttft_ms),
        finish=record.finish,
    )
    drafted, accepted, depth = record.drafted, record.accepted, method.n_max
    if method.type == "none":
        return trial
    if drafted is not None and accepted is not None and accepted > drafted:
        left_out["counters with more accepted than drafted tokens"].append(record.place)
        return trial
    trial = replace(trial, drafted=drafted, accepted=accepted)
    # The first token needs no round; each round yields one token besides those accepted.
    tokens = (record.output_tokens or 1) - 1
    if accepted is None or accepted > tokens:
        return trial
    rounds = tokens - accepted
    if depth is not None and ((drafted or 0) > rounds * depth or tokens > rounds * (depth + 1)):
        left_out[f"too few rounds for drafts of at most {depth} tokens"].append(record.place)
        # The counter may include tokens of the last draft that were cut off when the output ended.
        too_many = rounds > 0 and tokens > rounds * (depth + 1) + depth
        return replace(trial, accepted=None) if too_many else trial
    return replace(
        trial,
        rounds=rounds,
        accepted_histogram=record.accepted_histogram,
        drafted_histogram=record.drafted_histogram,
    )


def _decode_ms(record: Record, counts: RateCounts) -> float | None:
    """Return the milliseconds from the first token to the last, from the rate if no time is given.

    Builds up to mid-2026 computed the rate from all tokens; later builds leave out the first token.
    """
    tokens, per_second = record.output_tokens, record.per_second
    if record.decode_ms is not None or not tokens or not per_second:
        return record.decode_ms
    spent_ms = (tokens if counts == "tokens" else tokens - 1) / per_second * MS_PER_S
    return spent_ms if math.isfinite(spent_ms) else None


def rate_counts(records: Iterable[Record]) -> RateCounts | None:
    """Return whether the tool's rates count all tokens, or steps (all tokens but the first).

    The first record with a time and a rate that fit either unit decides; `None` without one.
    """
    for record in records:
        tokens, spent_ms, per_second = record.output_tokens, record.decode_ms, record.per_second
        if tokens and spent_ms and per_second:
            more = per_second * spent_ms / MS_PER_S - tokens
            if abs(more) < _CLOSE:
                return "tokens"
            if abs(more + 1) < _CLOSE:
                return "steps"
    return None
