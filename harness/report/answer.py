"""The answer of a result in a few sentences: what a person would tell a friend.

Who picks the best of several settings picks luck, too. So the bounds here, and the verdicts that
follow from them, allow for the choice (`estimates.choices`): among the settings that were measured,
or among these and the tasks where some tasks alone are recommended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from estimates.choices import corrected
from estimates.explain import answer_length
from estimates.model import Estimate, Interval, Summary, Verdict
from estimates.repeatability import block_minutes, blocks_run
from estimates.verdicts import judge
from harness.report import words
from schemas.submission import Arm, Submission
from schemas.vocabulary import DOUBTS, HELPS_ABOVE, say

Answer = Literal["yes", "depends", "long-answers", "unknown", "no", "nothing"]

_BEST_FIRST: tuple[Answer, ...] = ("yes", "depends", "long-answers", "unknown", "no", "nothing")
_RANKS = {answer: rank for rank, answer in enumerate(_BEST_FIRST)} | {"long-answers": 3}
_OPENINGS: dict[Answer, str] = {
    "yes": "Yes.",
    "depends": "It depends.",
    "long-answers": "Only for long answers.",
    "unknown": "Cannot tell yet.",
    "no": "No.",
    "nothing": "No answer.",
}
# What more measuring would settle: the finest of these within two hours.
_SETTLED, _FINEST = (0.05, 0.1, 0.2), 0.02
_PATIENCE_MIN, _LONGEST_MIN = 120, 24 * 60
_TO = "\N{EN DASH}"
_WIDE = 2.0  # an interval beyond this factor says little


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """An arm that drafts, with its figures over all tasks and on each.

    `choices` is among how many settings it is found, `task_choices` among how many figures of
    single tasks.
    """

    arm: Arm
    whole: Estimate
    tasks: tuple[Estimate, ...]
    choices: int
    task_choices: int

    @property
    def alone(self) -> bool:
        """Whether one request at a time was answered."""
        return (self.arm.concurrency or 1) == 1

    @property
    def verdict(self) -> Verdict:
        """The verdict over all tasks, if this is the setting that is picked."""
        return _picked(self.whole, self.choices)

    @cached_property
    def helped(self) -> tuple[Estimate, ...]:
        """The tasks for which it can be recommended."""
        return tuple(each for each in self.tasks if self.verdict_on(each) == "helps")

    @cached_property
    def lost(self) -> tuple[Estimate, ...]:
        """The tasks that take longer with it."""
        return tuple(each for each in self.tasks if _loses(each))

    @property
    def answer(self) -> Answer:
        """What to make of it."""
        if self.verdict in ("failed", "never-drafted"):
            return "nothing"
        gains = self.verdict == "helps"
        if (self.helped or gains) and (self.lost or not gains):
            return "yes" if self._all_helped else "depends"
        if gains:
            return "yes"
        if self.verdict == "slower-in-all":
            return "long-answers"
        lost = _loses(self.whole) or (self.whole.speedup is None and self._all_lost)
        return "no" if lost or self._no_gain else "unknown"

    def verdict_on(self, task: Estimate) -> Verdict:
        """The verdict on one task, if that is what is picked."""
        return _picked(task, self.task_choices)

    @property
    def place(self) -> tuple[int, int, float]:
        """Where it comes in a list: one request at a time first, then the best."""
        return self.arm.concurrency or 1, _RANKS[self.answer], -(self.whole.speedup or 0.0)

    @property
    def _all_helped(self) -> bool:
        return self.whole.speedup is None and self.helped == self.tasks

    @property
    def _all_lost(self) -> bool:
        return bool(self.tasks) and self.lost == self.tasks

    @property
    def _no_gain(self) -> bool:
        interval = self.whole.interval
        judged = self.whole.verdict in ("hurts", "no-clear-difference")
        return judged and interval is not None and interval.high < HELPS_ABOVE


def settings(submission: Submission, summary: Summary) -> list[Setting]:
    """The arms that draft, the best first."""
    found = []
    drafting = [arm for arm in submission.arms if arm.role == "speculation"]
    for arm in drafting:
        alike = {each.id for each in drafting if each.concurrency == arm.concurrency}
        known = [e for e in summary.estimates if e.arm in alike and e.speedup is not None]
        own = [each for each in summary.estimates if each.arm == arm.id]
        if own:
            found.append(
                Setting(
                    arm=arm,
                    whole=words.overall(own),
                    tasks=tuple(each for each in own if each.task and each.speedup is not None),
                    choices=sum(each.task is None for each in known),
                    task_choices=sum(each.task is not None for each in known),
                )
            )
    return sorted(found, key=lambda each: each.place)


def _picked(estimate: Estimate, choices: int) -> Verdict:
    """The verdict on a figure that is the best of so many."""
    if estimate.verdict not in ("helps", "slower-in-all"):
        return estimate.verdict
    interval = _corrected(estimate.interval, estimate.speedup, choices)
    return judge(interval, estimate.whole_request_interval)


def _corrected(interval: Interval | None, ratio: float | None, choices: int) -> Interval | None:
    return None if interval is None or ratio is None else corrected(interval, ratio, choices)


def _loses(estimate: Estimate) -> bool:
    """Whether it takes longer, writing or in all."""
    request = estimate.whole_request_interval
    slower = judge(request) == "hurts" and estimate.verdict == "no-clear-difference"
    return estimate.verdict in ("hurts", "slower-in-all") or slower


def sentences(best: Setting, submission: Submission, summary: Summary) -> str:
    """The answer about the best setting."""
    opening, whole = _OPENINGS[best.answer], best.whole
    if best.answer in ("yes", "no") and whole.speedup is None:
        opening = f"{opening[:-1]}, for {say.listed([each.scope for each in best.tasks])}."
    parts = [opening, *_parts(best, submission, summary)]
    if whole.at_most:
        parts.append("Answers that timed out count as their time limit: it may be slower.")
    return " ".join(filter(None, parts))


def _parts(best: Setting, submission: Submission, summary: Summary) -> Iterator[str]:
    whole = best.whole
    match best.answer:
        case "nothing":
            yield _nothing(best)
        case "long-answers":
            yield from _long_answers(best)
        case "unknown" if whole.interval is None or whole.verdict == "uncertain":
            yield from _undecided(best, summary)
        case "unknown":
            yield from (f"{_rates(best)}: {_excluded(best)}.", _request(best))
            yield _more(best, submission)
        case "yes" | "no" if whole.speedup is not None:
            maybe = ", no gain and perhaps a loss" if whole.verdict == "no-clear-difference" else ""
            yield from (f"{_rates(best)}{maybe}.", _request(best), _range(best.tasks))
        case "depends" | "yes" | "no":
            yield from _by_task(best)


def _figure(ratio: float | None, interval: Interval | None, *, at_most: bool = False) -> str:
    """`1.45x (1.31-1.60)`."""
    text = f"{'at most ' if at_most else ''}{say.times(ratio)}"
    if interval is None:
        return text
    return f"{text} ({say.bound(interval.low)}{_TO}{say.bound(interval.high)})"


def _speedup(best: Setting) -> str:
    whole = best.whole
    interval = _corrected(whole.interval, whole.speedup, best.choices)
    return _figure(whole.speedup, interval, at_most=whole.at_most)


def _rates(best: Setting) -> str:
    name, whole = best.arm.id, best.whole
    if best.choices > 1:
        name = f"{name}, the best of {best.choices} settings,"
    own = f"{'at most ' if whole.at_most else ''}{say.rate(whole.tps)}"
    plain = f"where plain decoding writes {say.rate(whole.baseline_tps)}"
    return f"{name} writes {own} tokens/s {plain}: {_speedup(best)}"


def _request(best: Setting) -> str:
    whole = best.whole
    if whole.whole_request is None:
        return "Prompt time was not recorded." if best.alone else ""
    interval = _corrected(whole.whole_request_interval, whole.whole_request, best.choices)
    return f"Whole answers, prompt included: {_figure(whole.whole_request, interval)}."


def _range(tasks: Sequence[Estimate]) -> str:
    """Between which tasks the speedup ranges; this is no doubt about it."""
    if len(tasks) <= 1:
        return ""
    ranked = sorted(tasks, key=lambda each: each.speedup or 0.0)
    least, most = (f"{each.scope} ({say.times(each.speedup)})" for each in (ranked[0], ranked[-1]))
    return f"Most on {most}, least on {least}."


def _by_task(best: Setting) -> Iterator[str]:
    rest = [each for each in best.tasks if each not in (*best.helped, *best.lost)]
    groups = (each for each in (best.helped, rest, best.lost) if each)
    if best.whole.speedup is not None:
        text = f"{best.arm.id} is {say.listed([*map(_spread, groups)])}"
        yield f"{text}; over all tasks {_speedup(best)}."
        yield _request(best)
    else:
        each = [f"{_on_task(best, task)} on {task.scope}" for task in best.tasks]
        yield f"{best.arm.id} is {say.listed(each)}. Other tasks were not measured."
    if best.helped and best.lost:
        names = say.listed([each.scope for each in best.lost])
        yield f"Switch it on per request where the server can, else leave it off for {names}."
    elif best.helped and rest:
        yield "Elsewhere no gain is clear."


def _on_task(best: Setting, task: Estimate) -> str:
    interval = _corrected(task.interval, task.speedup, best.task_choices)
    return _figure(task.speedup, interval, at_most=task.at_most)


def _spread(tasks: Sequence[Estimate]) -> str:
    """`1.60-1.90x on code and json`."""
    ratios = sorted(each.speedup or 0.0 for each in tasks)
    span = dict.fromkeys(f"{ratio:.2f}" for ratio in (ratios[0], ratios[-1]))
    names = say.listed([each.scope for each in tasks])
    return f"{_TO.join(span)}{say.TIMES} on {names}"


def _long_answers(best: Setting) -> Iterator[str]:
    whole = best.whole
    extra_ms = (whole.reading_ms or 0.0) - (whole.baseline_reading_ms or 0.0)
    answers = f"whole answers of {whole.mean_output_tokens or 0:.0f} tokens are"
    request = _figure(whole.whole_request, whole.whole_request_interval)
    yield f"{_rates(best)}. But reading the prompt costs it {extra_ms / 1000:.2g} s more:"
    yield f"{answers} {request}."
    if whole.pays_from is not None:
        yield f"It pays from about {answer_length(whole.pays_from)}."


def _nothing(best: Setting) -> str:
    if best.verdict == "never-drafted":
        return f"{best.arm.id} never had a draft to offer, so nothing could change."
    return f"{best.arm.id} could not be measured; --details says why."


def _undecided(best: Setting, summary: Summary) -> Iterator[str]:
    """What was found, and why it is no verdict."""
    whole = best.whole
    flag = next((each for each in summary.flags if each.name == whole.doubt), None)
    if whole.speedup is not None:
        yield f"{_rates(best)}. {_request(best)}"
    elif best.tasks:
        yield from _by_task(best)
        return
    if flag is not None:
        yield f"But no verdict: {flag.message} {flag.remedy}"
    elif reason := DOUBTS.get(whole.doubt or ""):
        yield f"But no verdict: {reason}."
    else:
        yield "Too few prompts were compared."


def _excluded(best: Setting) -> str:
    """Which gains and losses the interval excludes."""
    interval = _corrected(best.whole.interval, best.whole.speedup, best.choices)
    if interval is not None and interval.low >= 1:
        return "no loss, and no clear gain"
    if interval is None or interval.high > _WIDE or interval.low < 1 / _WIDE:
        return "too wide to say more"
    gain, loss = say.percent(interval.high - 1), say.percent(1 - interval.low)
    return f"no gain above {gain} and no loss above {loss}"


def _more(best: Setting, submission: Submission) -> str:
    """How much more measuring, and of what, would settle it.

    The width falls with the square root of the prompts, or of the blocks where repeats of the same
    prompts differ as much as prompts do.
    """
    interval, block_min = best.whole.interval, block_minutes(submission)
    width = interval.log_half_width if interval else 0.0
    if width <= _FINEST:
        return ""
    repeats = (best.whole.repeatable_within or 0.0) ** 2 > width**2 / 2
    what = "more blocks (--blocks)" if repeats else "more prompts"
    if block_min is None:
        return f"With {what} it would be known."
    spent_min = block_min * blocks_run(submission)
    goals = [each for each in _SETTLED if each < width] or [_FINEST]
    costs = {each: ((width / each) ** 2 - 1) * spent_min for each in goals}
    goal = next((each for each in goals if costs[each] <= _PATIENCE_MIN), goals[-1])
    if costs[goal] > _LONGEST_MIN:
        return f"With {what} it would be known, but not within a day."
    return f"{words.seconds(60 * costs[goal])} more, with {what}, would settle {say.percent(goal)}."
