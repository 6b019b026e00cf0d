"""Prints the answer of a result first: the verdict in words and the command to use.

At most 24 lines of 80 columns, for someone who has never heard of speculative decoding; what does
not fit is left to `--details`.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from estimates.identity import identify
from estimates.model import Estimate, Summary, Verdict
from estimates.repeatability import blocks_run
from harness import PROGRAM
from harness.report import words
from harness.report.terminal import overall
from schemas.method import DraftHead, DraftModel
from schemas.submission import Arm, Method, Submission
from schemas.vocabulary import METHODS, VERDICTS, say

LINES, COLUMNS = 24, 80
_INDENT = "  "
_ARM_COLUMNS, _MOST_ARMS = 24, 6
_LONGEST_PATH = 60
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
    """Lines that stand together; the parts of the highest rank go first where room is short."""

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

    def arms(self) -> list[tuple[Arm, Estimate]]:
        """The arms that draft with their figure over all tasks, the best first."""
        found = []
        for arm in self.submission.arms:
            estimates = [each for each in self.summary.estimates if each.arm == arm.id]
            if arm.role == "speculation" and estimates:
                found.append((arm, overall(estimates)))
        return sorted(found, key=self._place)

    def tasks(self, arm: Arm) -> dict[Verdict, list[str]]:
        """The tasks of an arm by verdict."""
        found: dict[Verdict, list[str]] = {}
        for each in self.summary.estimates:
            if each.arm == arm.id and each.task is not None:
                found.setdefault(each.verdict, []).append(each.task)
        return found

    def _place(self, pair: tuple[Arm, Estimate]) -> tuple[int, int, float]:
        arm, whole = pair
        kept = 0 if whole.verdict == "helps" else 1 if "helps" in self.tasks(arm) else 2
        if whole.speedup is None or whole.verdict == "never-drafted":
            kept = 3
        return arm.concurrency or 1, kept, -(whole.speedup or 0.0)


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
        return [_Part(lines=_folded(_plain_only(result)), style="bold"), _Part(lines=more)]
    best, whole = arms[0]
    return [
        _Part(lines=_folded(_verdict(result, best, whole)), style="bold"),
        _Part(lines=["", *_command(result, best, whole)]),
        _Part(lines=["", *_table(arms)]),
        _Part(lines=["", *_folded(_by_task(result, best))], rank=1),
        _Part(lines=_folded(_why(best, whole)), rank=3),
        _Part(lines=_folded(_basis(result)), rank=0 if result.submission.tier == "imported" else 2),
        _Part(lines=_cautions(result), rank=1, style="yellow"),
        _Part(lines=_folded(_WHAT_IT_IS), rank=4, style="dim"),
        _Part(lines=more),
    ]


def _more(path: Path) -> str:
    for name in (str(path), path.name, "FILE"):
        text = f"All figures: {PROGRAM} show {name} --details"
        if len(text) <= COLUMNS:
            break
    return text


def _folded(text: str) -> list[str]:
    return wrap(text, COLUMNS, break_on_hyphens=False)


def _place_of(result: _Result) -> str:
    return f"on {identify(result.submission).device_label}"


def _plain_only(result: _Result) -> str:
    return f"Nothing drafted for {result.target} {_place_of(result)}: there is no verdict."


def _verdict(result: _Result, arm: Arm, whole: Estimate) -> str:
    """The answer in one or two sentences."""
    target, place = result.target, _place_of(result)
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
            text = f"Not sure yet: too little was measured of {target} {place} for a verdict."
            text += f" {arm.id} ran at {gain} the plain speed." if gain else ""
    some = result.tasks(arm).get("helps")
    return f"{text} For {say.listed(some)} alone it is faster." if some else text


def _range(whole: Estimate) -> str:
    if whole.interval is None:
        return ""
    return f" ({say.bound(whole.interval.low)} to {say.bound(whole.interval.high)})"


def _command(result: _Result, arm: Arm, whole: Estimate) -> list[str]:
    """What to start: the best arm where it gains, else the target alone."""
    some = result.tasks(arm).get("helps")
    pays = whole.verdict == "helps" or bool(some)
    if result.submission.engine.name != "llama.cpp":
        server = result.submission.engine.name
        step = "Keep it switched on" if pays else "Leave it switched off"
        return _folded(f"{step} in {server}: {_recorded(arm) if pays else 'start it plain'}.")
    if whole.verdict == "helps":
        heading = "Use it:"
    elif some:
        heading = f"Use it for {say.listed(some)}:"
    elif whole.verdict in ("uncertain", "too-few-prompts"):
        heading = "Until it is known, without it:"
    else:
        heading = "Leave it off:"
    found = _serving(
        _file(result, result.submission.target.id, result.target),
        _draft_file(result, arm) if pays else None,
        arm.method if pays else None,
    )
    note = "" if METHODS[arm.method.type].llama_cpp or not pays else _nearest(arm)
    return [*_folded(heading), *_broken(found), *_folded(note)]


def _serving(target: str, draft: str | None, method: Method | None) -> list[str]:
    """The options that serve a target with the method of a measured arm, each with its value.

    A method that the server lacks is left to its nearest relative there; `None` is no drafting.
    """
    found = [f"llama-server -m {shlex.quote(target)}"]
    if draft is not None:
        found.append(f"-md {shlex.quote(draft)}")
    if method is None:
        return found
    entry = METHODS[method.type]
    measured = {name: getattr(method, name, None) for name in ("n_max", *entry.optional)}
    if entry.llama_cpp is None:
        entry = METHODS[entry.nearest or method.type]
    sizes = {name: getattr(method, name, None) or value for name, value in entry.defaults.items()}
    given = {name: value for name, value in measured.items() if value is not None}
    words = entry.server_words({**sizes, **given})
    return [*found, *(" ".join(pair) for pair in zip(words[::2], words[1::2], strict=True))]


def _recorded(arm: Arm) -> str:
    return " ".join(arm.argv) if arm.argv else f"the setting that was measured as {arm.id}"


def _nearest(arm: Arm) -> str:
    nearest = METHODS[arm.method.type].nearest
    return (
        f"llama-server's nearest to {arm.method.type} is {nearest}: measure it, too "
        f"(--runner llama-server --method {nearest})."
    )


def _file(result: _Result, model: str, name: str) -> str:
    """The model's file where it is known and fits in a line, else a stand-in with its name."""
    path = str(result.files.get(model, ""))
    return path if path and len(path) <= _LONGEST_PATH else f"{name.replace(' ', '-')}.gguf"


def _draft_file(result: _Result, arm: Arm) -> str | None:
    if not isinstance(arm.method, DraftModel | DraftHead):
        return None
    for draft in result.submission.drafts:
        if draft.id == arm.method.draft:
            return _file(result, draft.id, f"{draft.name} {draft.quantisation}")
    return None


def _broken(options: Sequence[str]) -> list[str]:
    """A command over several lines, as shells that know a backslash read it."""
    lines, line = [], _INDENT
    for option in options:
        if line.strip() and len(line) + len(option) + 3 > COLUMNS:
            lines.append(f"{line}\\")
            line = 2 * _INDENT
        line += f"{option} "
    return [*lines, line.rstrip()]


def _table(arms: Sequence[tuple[Arm, Estimate]]) -> list[str]:
    """Every arm with its speed, what it is of the plain one, and the verdict."""
    width = min(_ARM_COLUMNS, max(5, *(len(arm.id) for arm, _ in arms)))
    lines = [f"{_INDENT}{'':{width}}  tokens/s  of plain speed"]
    plain = arms[0][1].baseline_tps
    if plain is not None and len({whole.baseline for _, whole in arms}) == 1:
        lines.append(f"{_INDENT}{'plain':{width}}  {plain:8.1f}")
    for arm, whole in arms[:_MOST_ARMS]:
        name = arm.id if len(arm.id) <= width else f"{arm.id[: width - 1]}\N{HORIZONTAL ELLIPSIS}"
        speed = say.number(whole.tps)
        ratio = f"{say.times(whole.speedup)}{_range(whole)}"
        row = f"{name:{width}}  {speed:>8}  {ratio:21}  {VERDICTS[whole.verdict].word}"
        lines.append(_INDENT + row)
    left = len(arms) - _MOST_ARMS
    return [*lines, f"{_INDENT}and {left} more"] if left > 0 else lines


def _by_task(result: _Result, arm: Arm) -> str:
    found = result.tasks(arm)
    parts = [f"{word} {say.listed(found[key])}" for key, word in _FASTER.items() if key in found]
    told = "helps" in found or "hurts" in found
    return f"By kind of text, {arm.id} {'; it '.join(parts)}." if told else ""


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
        return _folded(f"{mark} {serious.name}: {serious.message} {serious.remedy}")
    if not flags:
        return []
    names = say.listed(list(dict.fromkeys(flag.name for flag in flags)))
    return _folded(f"! {say.count(len(flags), 'doubt')} about these figures: {names}.")
