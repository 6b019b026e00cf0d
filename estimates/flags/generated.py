"""Flags about what the arms generated: nothing drafted, wrong counts, other or invalid outputs."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from estimates.decomposition import can_draft, drafted_nothing
from estimates.distributions import p_of_sign
from estimates.flags.observation import FlagEvidence, Observation, bounds, only
from estimates.verdicts import classify
from schemas.submission import Trial
from schemas.vocabulary import METHODS

EARLY, NEAR, INVALID = bounds("diverged"), bounds("near-ties"), bounds("invalid-answers")
# The tasks that demand an answer of a certain form; other answers are only checked for loops.
_FORMAL = ("json", "tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidAnswers:
    """The numbers of faulty answers and of all answers, from an arm and from its comparison arm."""

    faulty: int
    answers: int
    base_faulty: int
    base_answers: int


def never_drafted(evidence: FlagEvidence) -> Observation | None:
    """A speculative arm drafted no token, so it measured the baseline again."""
    finished = [trial for trial in evidence.submission.trials if trial.outcome == "ok"]
    silent = [
        arm.id
        for arm in evidence.submission.arms
        if arm.role == "speculation" and can_draft(arm.method)
        if drafted_nothing([trial for trial in finished if trial.arm == arm.id])
    ]
    return Observation(arms=silent, arm=only(silent)) if silent else None


def counters_disagree(evidence: FlagEvidence) -> Observation | None:
    """The server's metrics page and its responses count drafts differently.

    Figures use the counts in the responses. If these omit rounds, acceptance and round costs are
    wrong. The speedup is still right, because it is computed from tokens and times.
    """
    apart = [
        trial
        for trial in evidence.submission.trials
        if trial.metrics_drafted not in (None, trial.drafted)
        or trial.metrics_accepted not in (None, trial.accepted)
    ]
    if not apart:
        return None
    arms = list(dict.fromkeys(trial.arm for trial in apart))
    return Observation(
        trials=len(apart),
        arms=arms,
        by_answer=sum(trial.drafted or 0 for trial in apart),
        by_page=sum(trial.metrics_drafted or 0 for trial in apart),
        arm=only(arms),
        prompt=apart[0].prompt,
    )


def diverged(evidence: FlagEvidence) -> Observation | None:
    """An output differs from the baseline's at a token that was not a near-tie."""
    others = _concurrent(evidence) | {
        arm.id for arm in evidence.submission.arms if METHODS[arm.method.type].instrument
    }
    forked = [
        trial
        for trial in evidence.submission.trials
        if trial.arm not in others and classify(trial) == "diverged"
    ]
    if not forked:
        return None
    by_tokens = [trial for trial in forked if trial.compared_tokens]
    case = "own"
    if not by_tokens:  # do most texts of an arm diverge in the first words? Near-ties are rarer.
        early = {(t.arm, t.prompt) for t in forked if (t.equal_words or 0) < EARLY["words"]}
        texts = {(t.arm, t.prompt) for t in evidence.submission.trials if t.text_sha256}
        parted, count = (Counter(arm for arm, _ in pairs) for pairs in (early, texts))
        at_once = any(parted[arm] > EARLY["share"] * count[arm] for arm in parted)
        case = "other-text" if at_once else "text"
    prompts = list(dict.fromkeys(trial.prompt for trial in by_tokens or forked))
    arms = list(dict.fromkeys(trial.arm for trial in by_tokens or forked))
    return Observation(
        case=case, arms=arms, prompts=len(prompts), arm=only(arms), prompt=prompts[0]
    )


def near_ties(evidence: FlagEvidence) -> Observation | None:
    """Near-ties are claimed on more prompts than is plausible for answers of this length."""
    tokens = evidence.submission.settings.max_output_tokens or 0
    tied: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    for each in evidence.estimates:
        if each.task is not None and (found := each.exactness) is not None:
            tied[each.arm] += found.diverged_near_tie
            compared[each.arm] += each.prompts - found.not_compared
    share = max(NEAR["share"], 1 - math.exp(-tokens / NEAR["tokens"]))
    many = {arm for arm in tied if tied[arm] > share * compared[arm]} - _concurrent(evidence)
    return Observation(arms=sorted(many), arm=only(many)) if many else None


def invalid_answers(evidence: FlagEvidence) -> Observation | None:
    """An arm's answers are invalid (unparsable, wrong, looping) more often than its baseline's."""
    submission = evidence.submission
    tasks = {prompt.id: prompt.task for prompt in submission.suite.prompts}
    counts: dict[str, str] = {}
    for arm in submission.arms:
        trials, base = (
            [trial for trial in submission.trials if trial.arm == name]
            for name in (arm.id, arm.baseline)
        )
        if problem := worse(trials, base, tasks):
            counts[arm.id] = (
                f"{problem.faulty} of {problem.answers} with {arm.id}, "
                f"{problem.base_faulty} of {problem.base_answers} with {arm.baseline}"
            )
    return Observation(counts=[*counts.values()], arm=only(counts)) if counts else None


def worse(
    trials: Sequence[Trial], base: Sequence[Trial], tasks: Mapping[str, str]
) -> InvalidAnswers | None:
    """The faulty answers of an arm if it is clearly worse than `base`, else `None`.

    The two arms are compared first on JSON answers and tool calls, then on all other answers.
    `tasks` maps a prompt to its task.
    """
    for formal in (True, False):
        ours, theirs = (
            [t for t in answers if t.answer and (tasks.get(t.prompt) in _FORMAL) == formal]
            for answers in (trials, base)
        )
        if _clearly_worse(_faulty_share(ours), _faulty_share(theirs)):
            return InvalidAnswers(
                faulty=_faulty(ours),
                answers=len(ours),
                base_faulty=_faulty(theirs),
                base_answers=len(theirs),
            )
    return None


def _faulty(trials: Sequence[Trial]) -> int:
    return sum(each.answer != "valid" for each in trials)


def _faulty_share(trials: Sequence[Trial]) -> dict[str, float]:
    """The share of faulty answers for each prompt."""
    ran, faulty = Counter(t.prompt for t in trials), Counter[str]()
    faulty.update(each.prompt for each in trials if each.answer != "valid")
    return {prompt: faulty[prompt] / times for prompt, times in ran.items()}


def _clearly_worse(own: Mapping[str, float], base: Mapping[str, float]) -> bool:
    """Whether an arm's share of faulty answers is clearly higher, by the sign test and in size."""
    more = [own[each] - base[each] for each in own.keys() & base.keys()]
    lost, won = sum(each > 0 for each in more), sum(each < 0 for each in more)
    clear = lost > won and p_of_sign(lost, won) <= INVALID["p"]
    return clear and sum(more) >= INVALID["share"] * len(more)


def baseline_not_reproducible(evidence: FlagEvidence) -> Observation | None:
    """The baseline's output for the same prompt differs between blocks."""
    baselines = {arm.id for arm in evidence.submission.arms if arm.role == "baseline"}
    baselines -= _concurrent(evidence)
    outputs: dict[tuple[str, str], set[str]] = {}
    for trial in evidence.submission.trials:
        if trial.arm in baselines and trial.outcome == "ok" and trial.output_sha256:
            outputs.setdefault((trial.arm, trial.prompt), set()).add(trial.output_sha256)
    return _on_prompts(key for key, seen in outputs.items() if len(seen) > 1)


def concurrent_outputs_vary(evidence: FlagEvidence) -> Observation | None:
    """An output with concurrent requests differs from the baseline's output."""
    concurrent = _concurrent(evidence)
    forked = [
        trial
        for trial in evidence.submission.trials
        if trial.arm in concurrent and classify(trial) in ("diverged", "diverged-near-tie")
    ]
    return _on_prompts((trial.arm, trial.prompt) for trial in forked)


def _on_prompts(found: Iterable[tuple[str, str]]) -> Observation | None:
    """Summarise pairs of arm and prompt in one observation, with the first prompt."""
    keys = dict.fromkeys(found)
    prompts = list(dict.fromkeys(prompt for _, prompt in keys))
    arm = only(arm for arm, _ in keys)
    return Observation(prompts=len(prompts), arm=arm, prompt=prompts[0]) if prompts else None


def _concurrent(evidence: FlagEvidence) -> set[str]:
    return {arm.id for arm in evidence.submission.arms if (arm.concurrency or 1) > 1}
