"""Turn records into trials; counters that do not add up are reported and left out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.imports.counting import decode_ms
from harness.imports.needed_facts import RateCounts
from harness.imports.records import Record
from harness.run.record import ms
from schemas.codec import text_digest
from schemas.submission import Method, Trial

# Kinds of data that results cannot store, with their places in the files.
LeftOut = defaultdict[str, list[str]]


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
    for read in records:
        record = replace(read, decode_ms=decode_ms(read, counts))
        spent_ms, tokens = ms(record.decode_ms), record.output_tokens
        # An answer of one token has no time after the first token; several tokens in zero time are
        # an error.
        is_timed = tokens and spent_ms is not None and (spent_ms or tokens == 1)
        if record.reason is None and not is_timed:
            left_out["a record without tokens or without a time"].append(record.place)
            continue
        arm, method = arms[record.arm]
        prompt = prompts[record.prompt]
        block = seen[arm, prompt]
        seen[arm, prompt] += 1
        trial = Trial(arm=arm, prompt=prompt, block=block, order=len(made), outcome="ok")
        if record.reason is not None:
            made.append(replace(trial, outcome="failed", reason=record.reason))
        else:
            made.append(_finished(trial, record, method, left_out))
    return tuple(made)


def _finished(trial: Trial, record: Record, method: Method, left_out: LeftOut) -> Trial:
    trial = replace(
        trial,
        output_tokens=record.output_tokens,
        decode_ms=ms(record.decode_ms),
        prompt_ms=ms(record.prompt_ms),
        ttft_ms=ms(record.ttft_ms),
        finish=record.finish,
        output_sha256=record.output_hash and text_digest(record.output_hash),
    )
    return _with_counters(trial, record, method, left_out)


def _with_counters(trial: Trial, record: Record, method: Method, left_out: LeftOut) -> Trial:
    """Add the record's counters; those that contradict each other are reported and left out."""
    if method.type == "none":
        return trial
    drafted, accepted = record.drafted, record.accepted
    if drafted is not None and accepted is not None and accepted > drafted:
        left_out["counters with more accepted than drafted tokens"].append(record.place)
        return trial
    depth, rounds = method.n_max, record.rounds
    if depth is not None and _too_few(rounds, depth, record):
        left_out[f"too few rounds for drafts of at most {depth} tokens"].append(record.place)
        fits = not _too_many(accepted, depth, record)
        return replace(trial, drafted=drafted, accepted=accepted if fits else None)
    trial = replace(trial, drafted=drafted, accepted=accepted)
    if rounds is None:
        return trial
    if accepted is not None and record.output_tokens != 1 + accepted + rounds:
        left_out["rounds that contradict the numbers of tokens and accepted tokens"].append(
            record.place
        )
        return trial
    return replace(
        trial,
        rounds=rounds,
        accepted_histogram=_fitting(record.accepted_histogram, rounds, accepted),
        drafted_histogram=_fitting(record.drafted_histogram, rounds, drafted),
    )


def _too_many(accepted: int | None, depth: int, record: Record) -> bool:
    """Whether the accepted tokens leave too few rounds to have yielded the whole output.

    Each round yields one token besides those accepted. The counter may include tokens of the last
    draft that were cut off when the output ended.
    """
    tokens = (record.output_tokens or 1) - 1
    left = tokens - (accepted or 0)
    return left > 0 and tokens > left * (depth + 1) + depth


def _too_few(rounds: int | None, depth: int, record: Record) -> bool:
    """Whether the counts of drafted or output tokens are too high for the number of rounds."""
    if rounds is None:
        return _too_many(record.accepted, depth, record)
    tokens = (record.output_tokens or 1) - 1
    return (record.drafted or 0) > rounds * depth or tokens > rounds * (depth + 1)


def _fitting(
    histogram: tuple[int, ...] | None, rounds: int, total: int | None
) -> tuple[int, ...] | None:
    """Return a histogram without trailing zeros; `None` if it contradicts `rounds` or `total`."""
    if histogram is None or sum(histogram) != rounds:
        return None
    if sum(length * count for length, count in enumerate(histogram)) != total:
        return None
    longest = max((length for length, count in enumerate(histogram) if count), default=-1)
    return histogram[: longest + 1]
