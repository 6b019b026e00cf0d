"""Turn requests into trials; counters that do not add up are reported and left out."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.imports.forms import Found
from harness.imports.json_values import MS_PER_S
from harness.imports.needed_facts import RateCounts
from harness.run.record import ms
from schemas.submission import Method, Trial

# Kinds of data that results cannot store, with their places in the files.
LeftOut = defaultdict[str, list[str]]
_CLOSE = 0.25  # in tokens; counting tokens or steps differs by one


def trials(
    requests: Sequence[tuple[str, int, Found]],
    *,
    arms: Mapping[str, tuple[str, Method]],
    counts: RateCounts,
    left_out: LeftOut,
) -> tuple[Trial, ...]:
    """Return the trials in file order; repeated requests of an arm and prompt become blocks.

    `arms` has each arm's id and method.
    """
    seen: Counter[tuple[str, str]] = Counter()
    made: list[Trial] = []
    for name, at, request in requests:
        (arm, method), prompt = arms[name], f"request-{at}"
        spent_ms, tokens = ms(_decode_ms(request, counts)), request.count("tokens")
        # An answer of one token has no time after the first token; several tokens in zero time are
        # an error.
        if not tokens or spent_ms is None or (not spent_ms and tokens > 1):
            left_out["a record without tokens or without a time"].append(request.place)
            continue
        trial = Trial(
            arm=arm,
            prompt=prompt,
            block=seen[arm, prompt],
            order=len(made),
            outcome="ok",
            decode_ms=spent_ms,
            output_tokens=tokens,
            prompt_ms=ms(request.prompt_ms),
            finish=request.finish,
        )
        seen[arm, prompt] += 1
        made.append(trial if method.type == "none" else _counted(trial, request, method, left_out))
    return tuple(made)


def _counted(trial: Trial, request: Found, method: Method, left_out: LeftOut) -> Trial:
    """Add the counters; those that contradict each other are reported and left out."""
    drafted, accepted, depth = request.drafted, request.count("accepted"), method.n_max
    if drafted is None and request.is_silent:
        drafted = accepted = 0  # the server omits the counts if it drafted nothing
    if drafted is not None and accepted is not None and accepted > drafted:
        left_out["counters with more accepted than drafted tokens"].append(request.place)
        return trial
    trial = replace(trial, drafted=None if drafted is None else int(drafted), accepted=accepted)
    # The first token needs no round; each round yields one token besides those accepted.
    tokens = (trial.output_tokens or 1) - 1
    if accepted is None or accepted > tokens:
        return trial
    rounds = tokens - accepted
    if depth is not None and ((drafted or 0) > rounds * depth or tokens > rounds * (depth + 1)):
        left_out[f"too few rounds for drafts of at most {depth} tokens"].append(request.place)
        # The counter may include tokens of the last draft that were cut off when the output ended.
        too_many = rounds > 0 and tokens > rounds * (depth + 1) + depth
        return replace(trial, accepted=None) if too_many else trial
    return replace(trial, rounds=rounds)


def _decode_ms(request: Found, counts: RateCounts) -> float | None:
    """Return the milliseconds from the first token to the last, from the rate if no time is given.

    Builds up to mid-2026 computed the rate from all tokens; later builds leave out the first token.
    """
    tokens, stated_ms, per_second = request.count("tokens"), request.number("ms"), request.rate
    if stated_ms is not None or not tokens or not per_second:
        return stated_ms
    spent_ms = (tokens if counts == "tokens" else tokens - 1) / per_second * MS_PER_S
    return spent_ms if math.isfinite(spent_ms) else None


def rate_counts(request: Found) -> RateCounts | None:
    """Return whether a rate counts all tokens, or steps (all tokens but the first).

    `None` if the time and the rate fit neither.
    """
    tokens, spent_ms, per_second = request.count("tokens"), request.number("ms"), request.rate
    more = per_second * spent_ms / MS_PER_S - tokens if tokens and spent_ms and per_second else None
    if more is None or min(abs(more), abs(more + 1)) >= _CLOSE:
        return None
    return "tokens" if abs(more) < _CLOSE else "steps"
