"""Show a tune: its findings and advice."""

from collections.abc import Iterator
from textwrap import wrap

from answers.engine_commands import ServeLine
from harness.machine.command_line import pasted
from harness.tune.outcome import Outcome, by_task, recommended, why
from schemas.vocabulary import say, sentence

_WIDTH = 79
_TASKS_SHOWN = 8


def lines(outcome: Outcome, *, command: ServeLine | None) -> Iterator[str]:
    yield from wrap(why(outcome), _WIDTH)
    effort = f"{say.count(len(outcome.contenders), 'arm')} considered"
    if "race" in outcome.stages:
        prompts = say.count(len(outcome.stages["race"].suite.prompts), "prompt")
        effort += (
            f"; {outcome.raced} of them measured in the race on {prompts}, the others only forecast"
        )
    yield from wrap(f"{effort}; {say.count(outcome.trials, 'trial')} in total.", _WIDTH)
    yield from _tasks(outcome)
    if outcome.verdict is None or outcome.leader is None:
        return
    advice = f"Use {outcome.leader.arm.id}" if recommended(outcome) else sentence("off")
    yield f"{advice}{':' if command else '.'}"
    if command:
        yield pasted(command.words)
        yield from [command.note] if command.note else []


def _tasks(outcome: Outcome) -> Iterator[str]:
    """Yield the better arm on every task, in as few lines as possible."""
    found = list(by_task(outcome))
    if len(found) < 2:  # noqa: PLR2004 - a single task is the whole
        return
    leader = outcome.leader.arm.id if outcome.leader else ""
    parts = []
    for each in found[:_TASKS_SHOWN]:
        other = "" if each.arm == leader else f" with {each.arm}"
        word = {"use": "", "off": " off,", "unclear": " unclear,"}[each.word]
        parts.append(f"{each.task}{word} {say.times(each.speedup.estimate)}{other}")
    yield from wrap(f"By task: {'; '.join(parts)}.", _WIDTH)
