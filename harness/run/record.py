"""Assemble a submission from the facts of a journal. Pure functions."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, TypeVar

from estimates.running_order import disagreeing, plan_digest
from harness import __version__
from harness.campaign.answer_form import form_of
from harness.campaign.model import Campaign, PlannedTrial, SuitePrompt
from harness.campaign.trial_order import order_name, plan
from harness.errors import NothingMeasuredError
from harness.run import journal, one_token_requests
from harness.run.stopping import Ended
from harness.runners.base import Failure, Generation, Round, Totals
from schemas import submission
from schemas.codec import text_digest, token_digest
from schemas.vocabulary import RUNNERS

F = TypeVar("F", bound=journal.Fact)
T = TypeVar("T")

_MS_DECIMALS = 3
# The file format's limit for $.warmups and $.environment, which grow with every resumption.
_MOST_ENTRIES = 64
_NOTHING = "no answer was finished before the run ended; add --resume to continue"


def failed_trial(
    planned: PlannedTrial | submission.Trial, failure: Failure, *, order: int
) -> submission.Trial:
    """Return the trial for a request that got no answer, or an unusable one."""
    return submission.Trial(
        arm=planned.arm,
        prompt=planned.prompt,
        block=planned.block,
        order=order,
        outcome="failed",
        reason=failure.reason,
        wall_ms=ms(failure.waited_ms),
    )


def trial_of(
    generation: Generation,
    planned: PlannedTrial,
    *,
    order: int,
    started_ms: float | None = None,
    prompt: SuitePrompt | None = None,
) -> submission.Trial:
    """Return the trial for a generation, with counters, histograms and medians of its rounds."""
    text, whole = generation.text, generation.whole
    measured: dict[str, Any] = {
        field.name: ms(getattr(generation, field.name)) for field in fields(submission.Measured)
    }
    trial = submission.Trial(
        arm=planned.arm,
        prompt=planned.prompt,
        block=planned.block,
        order=order,
        outcome="ok",
        output_tokens=generation.output_tokens,
        decode_ms=ms(generation.decode_ms),
        started_ms=ms(started_ms),
        finish=generation.finish,
        output_sha256=None if whole is None else token_digest(whole),
        text_sha256=None if text is None or whole is not None else text_digest(text),
        answer=(
            form_of(prompt, text, cut=generation.finish == "length")
            if prompt and text and not generation.reasoning_tokens
            else None
        ),
        **measured,
    )
    if isinstance(generation.rounds, Totals):
        stated = {total.name: getattr(generation.rounds, total.name) for total in fields(Totals)}
        return replace(trial, **{**stated, "decode_ms": trial.decode_ms})
    return _with_rounds(trial, generation.rounds)


def _with_rounds(trial: submission.Trial, rounds: Sequence[Round]) -> submission.Trial:
    lengths = sorted({item.drafted for item in rounds})
    by_drafted = [[item for item in rounds if item.drafted == length] for length in lengths]
    return replace(
        trial,
        draft_ms=ms(sum(item.draft_ms for item in rounds)),
        verify_ms=ms(sum(item.verify_ms for item in rounds)),
        rounds=len(rounds),
        drafted=sum(item.drafted for item in rounds),
        accepted=sum(item.accepted for item in rounds),
        accepted_histogram=_histogram(item.accepted for item in rounds),
        drafted_histogram=_histogram(item.drafted for item in rounds),
        round_ms_median=_medians([item.round_ms for item in group] for group in by_drafted),
        round_cpu_ms_median=_medians([item.cpu_ms for item in group] for group in by_drafted),
    )


def assemble(
    campaign: Campaign,
    facts: Sequence[journal.Fact],
    *,
    machine: submission.Machine,
    commit: str | None = None,
    part_s: float,
    ended: Ended,
) -> submission.Submission:
    """Assemble the submission from the facts of a journal.

    `part_s` are the seconds since the campaign was started or last resumed. Raises
    `NothingMeasuredError` if no trial was recorded.
    """
    trials = _of(facts, journal.TrialFact)
    if not trials:
        raise NothingMeasuredError(_NOTHING)
    engine = _of(facts, journal.EngineFact)[-1]
    probes = [fact.probes for fact in _of(facts, journal.ProbesFact)]
    parts = [each for each in facts if isinstance(each, journal.Started | journal.Resumed)]
    return submission.Submission(
        tier="measured",
        profile=campaign.profile,
        measured_from=parts[0].measured_from,
        measured_until=later(parts[-1].measured_from, part_s),
        tool=submission.Tool(name="draftmap", version=__version__, commit=commit),
        machine=machine,
        engine=engine.engine,
        target=campaign.target.model,
        drafts=tuple(draft.model for draft in campaign.drafts),
        settings=_settings(engine, trials),
        design=_design(campaign, facts, ended),
        suite=_suite(campaign, trials),
        arms=tuple({fact.arm.id: fact.arm for fact in _of(facts, journal.ArmFact)}.values()),
        trials=tuple(one_token_requests.beside(compared(campaign, trials), facts)),
        warmups=_thinned([each.warmup for each in _of(facts, journal.WarmupFact)]),
        probes=probes[-1] if probes and probes[-1] != submission.Probes() else None,
        environment=_thinned([each.snapshot for each in _of(facts, journal.SnapshotFact)]),
    )


def _settings(
    engine: journal.EngineFact, trials: Sequence[journal.TrialFact]
) -> submission.Settings:
    """Return the engine's settings; answers show if a model thinks without being asked to."""
    thinks = any(fact.trial.reasoning_tokens for fact in trials)
    return replace(engine.settings, thinking=True) if thinks else engine.settings


def later(time: str, seconds: float) -> str:
    return utc(datetime.fromisoformat(time) + timedelta(seconds=seconds))


def utc(time: datetime) -> str:
    """Return a time in the format of result files, to the second."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def compared(
    campaign: Campaign, facts: Sequence[journal.TrialFact]
) -> tuple[submission.Trial, ...]:
    """Return the trials, each compared with the baseline's first output for the prompt."""
    if campaign.settings.temperature is not None:  # when sampling, a different text is not an error
        return tuple(fact.trial for fact in facts)
    baselines = {arm.id for arm in campaign.arms if arm.role == "baseline"}
    first: dict[str, journal.TrialFact] = {}
    for fact in facts:
        if fact.trial.arm in baselines and (fact.tokens is not None or fact.text is not None):
            first.setdefault(fact.trial.prompt, fact)
    return tuple(_compare(fact, first.get(fact.trial.prompt)) for fact in facts)


def _compare(fact: journal.TrialFact, reference: journal.TrialFact | None) -> submission.Trial:
    if reference is None or fact is reference:
        return fact.trial
    if reference.tokens is None or fact.tokens is None:
        return replace(fact.trial, equal_words=_equal_words(fact.text, reference.text))
    pairs = zip(fact.tokens, reference.tokens, strict=False)
    index = next((i for i, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
    compared_tokens = min(len(fact.tokens), len(reference.tokens))
    if index is None:
        return replace(fact.trial, compared_tokens=compared_tokens)
    margin = reference.margins[index] if reference.margins else None
    return replace(
        fact.trial,
        compared_tokens=compared_tokens,
        first_divergence=index,
        divergence_margin=None if margin is None else round(margin, 4),
    )


def _equal_words(one: str | None, other: str | None) -> int | None:
    """Return how many leading words two texts share.

    Returns `None` if either text is missing, or is a prefix of the other.
    """
    if not one or not other or one.startswith(other) or other.startswith(one):
        return None
    pairs = zip(one.split(), other.split(), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _design(
    campaign: Campaign,
    facts: Sequence[journal.Fact],
    ended: Ended,
) -> submission.Design:
    rule, trials = campaign.stopping, (fact.trial for fact in _of(facts, journal.TrialFact))
    usual = RUNNERS[_of(facts, journal.EngineFact)[-1].engine.runner].interleaved
    again = disagreeing(trials, campaign.blocks, rule.repeat_beyond)
    design = submission.Design(
        blocks=campaign.blocks,
        order=order_name(sum(arm.gpu_layers is None for arm in campaign.arms)),
        planned_trials=len(plan(campaign, again)),
        ended=ended,
        seed=campaign.seed,
        resumed=len(_of(facts, journal.Resumed)),
        # In-process arms always alternate prompt by prompt, so the order is not recorded.
        interleaved=campaign.interleaved if "block" in (usual, campaign.interleaved) else None,
        budget_s=rule.budget_s,
        repeat_beyond=rule.repeat_beyond,
    )
    prompts = (prompt.id for prompt in campaign.suite.prompts)
    digest = plan_digest((arm.id for arm in campaign.arms), prompts, design)
    return replace(design, plan_sha256=digest)


def _suite(campaign: Campaign, trials: Sequence[journal.TrialFact]) -> submission.Suite:
    """Return the suite with its attempted prompts, each in its most frequent rendering."""
    stated: dict[str, Counter[submission.Prompt]] = {}
    for fact in trials:  # a failed trial has no facts about its rendered prompt
        known = fact.prompt.tokens is not None
        stated.setdefault(fact.prompt.id, Counter())[fact.prompt] += known
    prompts = [prompt.id for prompt in campaign.suite.prompts if prompt.id in stated]
    return submission.Suite(
        id=campaign.suite.id,
        version=campaign.suite.version,
        sha256=campaign.suite.sha256,
        language=None if campaign.suite.language == "en" else campaign.suite.language,
        prompts=tuple(stated[prompt].most_common(1)[0][0] for prompt in prompts),
    )


def _thinned(items: Sequence[T]) -> tuple[T, ...] | None:
    """Reduce a list to the format's limit: keep the first, the last, and evenly spaced entries."""
    last = len(items) - 1
    if last < _MOST_ENTRIES:
        return tuple(items) or None
    return tuple(items[i * last // (_MOST_ENTRIES - 1)] for i in range(_MOST_ENTRIES))


def _of(facts: Sequence[journal.Fact], kind: type[F]) -> list[F]:
    return [fact for fact in facts if isinstance(fact, kind)]


def _medians(groups: Iterable[list[float]]) -> tuple[float, ...]:
    return tuple(round(statistics.median(group), _MS_DECIMALS) for group in groups)


def _histogram(lengths: Iterable[int]) -> tuple[int, ...]:
    counts = Counter(lengths)
    return tuple(counts[length] for length in range(max(counts, default=-1) + 1))


def ms(value: float | None) -> float | None:
    """Round to thousandths; `None` stays `None`."""
    return None if value is None else round(value, _MS_DECIMALS)
