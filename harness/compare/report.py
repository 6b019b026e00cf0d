"""Format the comparison of two builds for the terminal, and as a Markdown comment."""

import re
from collections.abc import Iterator
from functools import partial
from textwrap import wrap
from typing import Literal

from estimates.model import Interval
from harness.compare.comparison import (
    FEWEST_BLOCKS,
    WIDE,
    ArmChange,
    BuildComparison,
    Direction,
    Outputs,
)
from schemas.vocabulary import HELPS_ABOVE, say

_FASTER: dict[Direction, str] = {
    "higher": "faster",
    "lower": "slower",
    "no-difference": "no difference",
    "unclear": "unclear",
}
_LONGER: dict[Direction, str] = {**_FASTER, "higher": "slower", "lower": "faster"}
_CHANGED: dict[Direction, str] = {**_FASTER, "higher": "higher", "lower": "lower"}
_WIDTH = 79
_NARROWER = (
    "No clear slowdown, but the intervals are wide. Repeat with more --budget and --blocks, or on "
    "a quieter machine."
)
_LONGER_RUN = f"Too few blocks for a verdict: {{}}, but at least {FEWEST_BLOCKS} are needed."
_UNSAFE = re.compile(r"[^\w.()+ -]")
_LEGEND = (
    "Change: head relative to base, with an interval over blocks. The intervals for times and R "
    "hold jointly with {confidence} confidence. An arm is called slower or faster only if its "
    "change is clearly beyond {bound}. R: the time of a round divided by the time of a token "
    "without speculation; lower is better."
)


def headline(comparison: BuildComparison) -> str:
    match comparison.verdict:
        case "invalid-answers":
            return f"Invalid answers with head: {_faults(comparison)}."
        case "slower":
            return f"Slower: {_list(comparison, 'slower')} with head."
        case "failed":
            whose = ", ".join(arm.arm for arm in comparison.arms if arm.failed)
            return f"Not compared: {whose}. No other arm is clearly slower with head."
        case "unclear":
            fewest = min(arm.blocks for arm in comparison.arms)
            return _NARROWER if fewest >= FEWEST_BLOCKS else _LONGER_RUN.format(fewest)
        case "faster":
            return f"No slowdown. Faster: {_list(comparison, 'faster')} with head."
        case "no-difference":
            excluded = say.percent(max(WIDE, 1 - comparison.fail_below))
            return f"No difference: no arm changed clearly, and a change of {excluded} is excluded."


def legend(found: BuildComparison) -> str:
    """Explain the columns and the confidence of the verdict."""
    return _LEGEND.format(
        confidence=say.percent(found.confidence), bound=say.percent(found.fail_below - 1, 1)
    )


def alarms(found: BuildComparison) -> Iterator[str]:
    """Yield a sentence for each arm with equal answers but other tokens per round.

    Greedy counters repeat on a busy machine, so one block is enough. The site's page *Engine
    builds* compares all people's counts by the same bound.
    """
    for arm in found.arms:
        change, same = arm.tokens_per_round, arm.outputs
        if change is None or same is None or same.different or not same.identical:
            continue
        is_clear = change.interval is None or not change.interval.low <= 1 <= change.interval.high
        if is_clear and max(change.ratio, 1 / change.ratio) > HELPS_ABOVE:
            yield (
                f"Acceptance changed: same weights and answers, but {arm.arm} yields "
                f"{say.number(change.base, 2)} → {say.number(change.head, 2)} tokens per round."
            )


def lines(found: BuildComparison) -> Iterator[str]:
    """Yield the comparison as lines for the terminal, the verdict first."""
    yield from wrap(headline(found), _WIDTH)
    yield f"base  {found.base}"
    yield f"head  {found.head}"
    for alarm in alarms(found):
        yield from wrap(alarm, _WIDTH)
    for arm in found.arms:
        yield ""
        size = f"{say.count(arm.prompts, 'prompt')}, {say.count(arm.blocks, 'block')}"
        yield f"{arm.arm}: {arm.failed or size}"
        for what, values, change, verdict in _rows(arm):
            yield f"  {what:<18}{values:<18}{change:<28}{verdict}".rstrip()
    yield ""
    yield from wrap(legend(found), _WIDTH)


def markdown(comparison: BuildComparison) -> str:
    """Return the comparison as a Markdown comment for a pull request."""
    base, head = (_UNSAFE.sub("", name) for name in (comparison.base, comparison.head))
    table = [
        f"| {name} | {what} | {values} | {change} | {verdict} |"
        for arm in comparison.arms
        for name, (what, values, change, verdict) in zip(
            (f"`{arm.arm}`", *[""] * 8),
            _rows(arm) or [("", "", "", arm.failed or "")],
            strict=False,
        )
    ]
    return "\n".join(
        [
            f"### Speculative decoding: {headline(comparison)}",
            "",
            f"Base: {base}. Head: {head}. Same machine, same prompts, alternating.",
            "",
            *(f"{alarm}\n" for alarm in alarms(comparison)),
            "| Method | | Base → head | Change | Verdict |",
            "| --- | --- | --- | --- | --- |",
            *table,
            "",
            legend(comparison),
            "",
        ]
    )


def _list(found: BuildComparison, direction: Literal["faster", "slower"]) -> str:
    """List the arms in which head is faster, or those in which it is slower, with each change."""
    listed = []
    for arm in found.arms:
        changed = arm.whose(direction)
        texts = [f"{say.percent(abs(x.ratio - 1), 1)} ({name})" for name, x in changed.items()]
        listed += [f"{arm.arm} by {', '.join(texts)}"] if texts else []
    return say.listed(listed)


def _faults(found: BuildComparison) -> str:
    return say.listed(
        [
            f"{each.faulty} of {each.answers} answers of {arm.arm} (base: {each.base_faulty} of "
            f"{each.base_answers})"
            for arm in found.arms
            if (each := arm.invalid)
        ]
    )


def _rows(arm: ArmChange) -> list[tuple[str, str, str, str]]:
    """Return an arm's rows, one per figure: name, both values, change, and conclusion."""
    rows, number = [], partial(say.number, digits=2)
    for what, change, printed, words in (
        ("tokens per second", arm.speed, say.rate, _FASTER),
        ("prompt tokens/s", arm.prompt_speed, say.rate, _FASTER),
        ("whole request", arm.whole_request, lambda ms: f"{number(ms / 1000)} s", _LONGER),
        ("R", arm.round_cost, number, _CHANGED),
        ("tokens per round", arm.tokens_per_round, number, _CHANGED),
        ("acceptance", arm.acceptance_rate, partial(say.percent, digits=1), _CHANGED),
    ):
        if change is not None:
            values = f"{printed(change.base)} → {printed(change.head)}"
            rows.append(
                (what, values, signed(change.ratio, change.interval), words[change.direction])
            )
    return [*rows, ("outputs", *_same(arm.outputs))] if arm.outputs else rows


def signed(ratio: float, interval: Interval | None) -> str:
    """Print a ratio as a change in percent, with its interval in brackets."""
    if interval is None:
        return f"{say.percent(ratio - 1, 1, signed=True)} (too few blocks)"
    change, low, high = (
        say.percent(each - 1, 1, signed=True) for each in (ratio, interval.low, interval.high)
    )
    return f"{change} [{low}, {high}]"


def _same(outputs: Outputs) -> tuple[str, str, str]:
    compared = outputs.identical + outputs.different
    if not compared:
        return "not compared", "", ""
    unstable = f"{outputs.unstable} differ within a build" if outputs.unstable else ""
    verdict = "identical" if outputs.identical == compared else "different"
    return f"{outputs.identical} of {compared} identical", unstable, verdict
