"""Print the answer of a result first: the verdict in words and the command to use.

At most 24 lines of 80 columns, for someone who has never heard of speculative decoding; what does
not fit is left to `--details`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from estimates.identity import identify
from estimates.model import Estimate, Summary, Verdict
from estimates.repeatability import blocks_run
from harness import PROGRAM
from harness.report import use, words
from harness.report.use import COLUMNS, INDENT, folded
from schemas.submission import Arm, Submission
from schemas.vocabulary import FIXED_TASKS, METHODS, VERDICTS, say

LINES = 24
_ARM_COLUMNS, _MOST_ARMS = 24, 6
_FASTER: Mapping[Verdict, str] = {
    "helps": "is faster on",
    "hurts": "is slower on",
    "no-clear-difference": "makes no clear difference on",
}


_WHAT_IT_IS = (
    "Speculative decoding: something cheap writes some tokens ahead, and the model checks them all "
    "in one step."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A paragraph of the answer; where room is short, the highest rank is dropped first."""

    lines: list[str]
    rank: int = 0
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """A submission with what was derived from it, and the files of its models, where known."""

    submission: Submission
    summary: Summary
    files: Mapping[str, Path]

    @property
    def target(self) -> str:
        return f"{self.submission.target.name} {self.submission.target.quantisation}"

    @property
    def device(self) -> str:
        return identify(self.submission).device_label

    def arms(self) -> list[tuple[Arm, Estimate]]:
        """The arms that draft with their figure over all tasks, the best first."""
        found = []
        for arm in self.submission.arms:
            estimates = [each for each in self.summary.estimates if each.arm == arm.id]
            if arm.role == "speculation" and estimates:
                found.append((arm, words.overall(estimates)))
        return sorted(found, key=self._place)

    def tasks(self, arm: Arm) -> dict[Verdict, list[str]]:
        """The tasks of an arm by verdict."""
        found: dict[Verdict, list[str]] = {}
        for each in self.summary.estimates:
            if each.arm == arm.id and each.task is not None:
                found.setdefault(each.verdict, []).append(each.task)
        return found

    def command(self, arm: Arm, whole: Estimate) -> list[str]:
        """What to start: the best arm where it gains, else the target alone."""
        helped = self.tasks(arm).get("helps", [])
        chosen = arm if whole.verdict == "helps" or helped else None
        doubtful = whole.verdict in ("uncertain", "too-few-prompts")
        server = self.submission.engine.name
        if server != "llama.cpp":
            return use.elsewhere(chosen, server)
        if chosen is not None:
            only = "" if whole.verdict == "helps" else f" for {say.listed(helped)}"
            heading = f"Use it{only}:"
        else:
            heading = "Until it is known, without it:" if doubtful else "Leave it off:"
        return [heading, *use.command(self.submission, chosen, self.files)]

    def _place(self, pair: tuple[Arm, Estimate]) -> tuple[int, int, float]:
        arm, whole = pair
        rank = 0 if whole.verdict == "helps" else 1 if "helps" in self.tasks(arm) else 2
        if whole.speedup is None or whole.verdict == "never-drafted":
            rank = 3
        return arm.concurrency or 1, rank, -(whole.speedup or 0.0)


def show(
    submission: Submission,
    summary: Summary,
    console: Console,
    *,
    path: Path,
    files: Mapping[str, Path] | None = None,
) -> None:
    """Print the verdict. `path` is the result's file, `files` those of its models."""
    parts = _parts(_Result(submission=submission, summary=summary, files=files or {}), path)
    while sum(len(part.lines) for part in parts) > LINES and any(part.rank for part in parts):
        parts.remove(max(parts, key=lambda part: part.rank))
    for part in parts:
        for line in part.lines:
            console.print(Text(line, style=part.style), soft_wrap=True)


def _parts(result: _Result, path: Path) -> list[_Part]:
    arms = result.arms()
    more = ["", _more(path)]
    if not arms:
        return [_Part(lines=folded(_no_method(result)), style="bold"), _Part(lines=more)]
    best, whole = arms[0]
    return [
        _Part(lines=folded(_verdict(result, best, whole)), style="bold"),
        _Part(lines=["", *result.command(best, whole)]),
        _Part(lines=["", *_table(arms)]),
        _Part(lines=["", *folded(_by_task(result, best))], rank=1),
        _Part(lines=folded(_why(best, whole)), rank=3),
        _Part(lines=folded(_basis(result)), rank=0 if result.submission.tier == "imported" else 2),
        _Part(lines=_cautions(result), rank=1, style="yellow"),
        _Part(lines=folded(_WHAT_IT_IS), rank=4, style="dim"),
        _Part(lines=more),
    ]


def _more(path: Path) -> str:
    for name in (str(path), path.name, "FILE"):
        text = f"All figures: {PROGRAM} show {name} --details"
        if len(text) <= COLUMNS:
            break
    return text


def _no_method(result: _Result) -> str:
    arms = result.submission.arms
    where = f"{result.target} on {result.device}"
    if any(METHODS[arm.method.type].instrument for arm in arms):
        return f"Acceptance was set, so this says what a round of {where} costs, and no verdict."
    if all(arm.role == "baseline" for arm in arms):
        return f"Only plain decoding was measured for {where}: there is no verdict."
    return f"Only controls were measured for {where}: there is no verdict on a method."


def _verdict(result: _Result, arm: Arm, whole: Estimate) -> str:
    """The answer in one or two sentences."""
    target, place = result.target, f"on {result.device}"
    gain = "" if whole.speedup is None else f"{say.times(whole.speedup)}{_range(whole)}"
    match whole.verdict:
        case "helps":
            return (
                f"Yes: {arm.id} makes {target} answer faster {place}, at {gain} the speed of "
                "plain decoding."
            )
        case "hurts":
            text = f"No: speculative decoding makes {target} slower {place}"
            text += f"; {arm.id}, the best of what was tried, runs at {gain} the plain speed."
        case "no-clear-difference":
            text = (
                f"No clear gain: {arm.id} runs {target} {place} at {gain} the speed of plain "
                "decoding, which may be a gain or a loss."
            )
        case "never-drafted":
            return f"No change: {arm.id} never had a draft to offer {target} {place}."
        case "failed":
            return f"No answer: nothing that drafts for {target} could be measured {place}."
        case "uncertain" | "too-few-prompts":
            tasks = [task for each in result.tasks(arm).values() for task in each]
            if whole.speedup is None and len(tasks) < len(FIXED_TASKS):
                text = f"No verdict over all tasks: {target} was measured {place} on "
                text += f"{say.listed(tasks)} only."
            else:
                text = f"Not sure yet: too little was measured of {target} {place} for a verdict."
            text += f" {arm.id} ran at {gain} the plain speed." if gain else ""
    some = result.tasks(arm).get("helps", [])
    return f"{text} For {say.listed(some)} alone it is faster." if some else text


def _range(whole: Estimate) -> str:
    if whole.interval is None:
        return ""
    return f" ({say.bound(whole.interval.low)} to {say.bound(whole.interval.high)})"


def _table(arms: Sequence[tuple[Arm, Estimate]]) -> list[str]:
    """Every arm with its speed, what it is of the plain one, and the verdict."""
    width = min(_ARM_COLUMNS, max(5, *(len(arm.id) for arm, _ in arms)))
    lines = [f"{INDENT}{'':{width}}  tokens/s  of plain speed"]
    plain = arms[0][1].baseline_tps
    if plain is not None and len({whole.baseline for _, whole in arms}) == 1:
        lines.append(f"{INDENT}{'plain':{width}}  {plain:8.1f}")
    for arm, whole in arms[:_MOST_ARMS]:
        name = arm.id if len(arm.id) <= width else f"{arm.id[: width - 1]}\N{HORIZONTAL ELLIPSIS}"
        speed = say.number(whole.tps)
        ratio = f"{say.times(whole.speedup)}{_range(whole)}"
        row = f"{name:{width}}  {speed:>8}  {ratio:21}  {VERDICTS[whole.verdict].word}"
        lines.append(INDENT + row)
    left = len(arms) - _MOST_ARMS
    return [*lines, f"{INDENT}and {left} more"] if left > 0 else lines


def _by_task(result: _Result, arm: Arm) -> str:
    found = result.tasks(arm)
    parts = [f"{word} {say.listed(found[key])}" for key, word in _FASTER.items() if key in found]
    clear = "helps" in found or "hurts" in found
    return f"By kind of text, {arm.id} {'; it '.join(parts)}." if clear else ""


def _why(arm: Arm, whole: Estimate) -> str:
    cost, got = whole.round_cost, whole.tokens_per_round
    if cost is None or got is None:
        return ""
    return (
        f"Why: one round of {arm.id} (draft, then check) takes as long as {cost:.1f} plain "
        f"tokens and gives {got:.1f}."
    )


def _basis(result: _Result) -> str:
    submission = result.submission
    prompts = say.count(len(submission.suite.prompts), "prompt")
    blocks = say.count(blocks_run(submission), "block")
    if submission.tier == "imported":
        return f"Imported, with {prompts}, {blocks}; never averaged with measured results."
    text = f"Measured with {prompts}, {blocks}"
    quick = submission.profile == "quick"
    return text + (": a first look. Without --quick it gets surer." if quick else ".")


def _cautions(result: _Result) -> list[str]:
    """The first serious flag in full, or how many doubts there are."""
    flags = [flag for flag in result.summary.flags if flag.severity != "note"]
    serious = next((flag for flag in flags if flag.severity == "serious"), None)
    if serious is not None:
        mark = words.SEVERITIES["serious"][0]
        return folded(f"{mark} {serious.name}: {serious.message} {serious.remedy}")
    if not flags:
        return []
    names = say.listed(list(dict.fromkeys(flag.name for flag in flags)))
    return folded(f"! {say.count(len(flags), 'doubt')} about these figures: {names}.")
