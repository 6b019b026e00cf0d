"""Format the comparison of two builds: for the terminal, and a comment in Markdown."""

import re
from collections.abc import Iterator
from functools import partial
from textwrap import wrap

from estimates.builds import WIDE, ArmChange, Comparison, Direction, FigureChange, Outputs
from schemas.vocabulary import say

_FASTER: dict[Direction, str] = {
    "higher": "faster",
    "lower": "slower",
    "no-difference": "no difference",
    "unclear": "unclear",
}
_CHANGED: dict[Direction, str] = {**_FASTER, "higher": "higher", "lower": "lower"}
_WIDTH = 79
_NARROWER = "Repeat with more --blocks, or on a quieter machine."
_UNSAFE = re.compile(r"[^\w.()+ -]")
_LEGEND = (
    "Change: head over base, with its interval over blocks; those of speeds and R are right "
    "together 49 times of 50. R: the cost of a round in plain tokens; lower is better."
)


def headline(found: Comparison) -> str:
    """The verdict in one sentence."""
    match found.verdict:
        case "slower":
            return f"Slower: {_list(found.whose_speed_is('lower'))} with head."
        case "failed":
            whose = ", ".join(each.arm for each in found.arms if each.failed)
            return f"Not compared: {whose}. Nothing that ran is clearly slower with head."
        case "unclear":
            return f"No clear slowdown, but the intervals are wide. {_NARROWER}"
        case "faster":
            return f"No slowdown. Faster: {_list(found.whose_speed_is('higher'))} with head."
        case "no-difference":
            return (
                "No difference: no arm changed clearly, and a change of "
                f"{say.percent(WIDE)} is excluded."
            )


def lines(found: Comparison) -> Iterator[str]:
    """The comparison for the terminal, the verdict first."""
    yield from wrap(headline(found), _WIDTH)
    yield f"base  {found.base}"
    yield f"head  {found.head}"
    for arm in found.arms:
        yield ""
        size = f"{say.count(arm.prompts, 'prompt')}, {say.count(arm.blocks, 'block')}"
        yield f"{arm.arm}: {arm.failed or size}"
        for what, values, change, verdict in _rows(arm):
            yield f"  {what:<18}{values:<18}{change:<28}{verdict}".rstrip()
    yield ""
    yield from wrap(_LEGEND, _WIDTH)


def markdown(found: Comparison) -> str:
    """The comparison as a comment under a pull request."""
    base, head = (_UNSAFE.sub("", name) for name in (found.base, found.head))
    table = [
        f"| {name} | {what} | {values} | {change} | {verdict} |"
        for arm in found.arms
        for name, (what, values, change, verdict) in zip(
            (f"`{arm.arm}`", *[""] * 8),
            _rows(arm) or [("", "", "", arm.failed or "")],
            strict=False,
        )
    ]
    return "\n".join(
        [
            f"### Speculative decoding: {headline(found)}",
            "",
            f"Base: {base}. Head: {head}. Same machine, same prompts, in turns.",
            "",
            "| Method | | Base → head | Change | Verdict |",
            "| --- | --- | --- | --- | --- |",
            *table,
            "",
            _LEGEND,
            "",
        ]
    )


def _list(arms: tuple[ArmChange, ...]) -> str:
    return say.listed(
        [
            f"{each.arm} by {say.percent(abs(each.speed.ratio - 1), 1)}"
            for each in arms
            if each.speed
        ]
    )


def _rows(arm: ArmChange) -> list[tuple[str, str, str, str]]:
    """What was measured of an arm: its name, both values, the change, and what to make of it."""
    rows, number = [], partial(say.number, digits=2)
    for what, change, printed in (
        ("tokens per second", arm.speed, say.rate),
        ("R", arm.round_cost, number),
        ("tokens per round", arm.tokens_per_round, number),
        ("acceptance", arm.acceptance_rate, partial(say.percent, digits=1)),
    ):
        if change is not None:
            words = _FASTER if change is arm.speed else _CHANGED
            values = f"{printed(change.base)} → {printed(change.head)}"
            rows.append((what, values, _change(change), words[change.direction]))
    return [*rows, ("outputs", *_same(arm.outputs))] if arm.outputs else rows


def _change(change: FigureChange) -> str:
    text = say.percent(change.ratio - 1, 1, signed=True)
    if change.interval is None:
        return f"{text} (too few blocks)"
    ends = (change.interval.low - 1, change.interval.high - 1)
    return f"{text} [{', '.join(say.percent(end, 1, signed=True) for end in ends)}]"


def _same(outputs: Outputs) -> tuple[str, str, str]:
    compared = outputs.identical + outputs.different
    if not compared:
        return "not compared", "", ""
    unstable = f"{outputs.unstable} not repeated by one build itself" if outputs.unstable else ""
    verdict = "identical" if outputs.identical == compared else "different"
    return f"{outputs.identical} of {compared} identical", unstable, verdict
