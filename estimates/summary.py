"""Derive the summary of one submission."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from estimates import client_clock, ratios, repeatability, verdicts
from estimates import decomposition as parts
from estimates.arguments import is_lossy
from estimates.flags import raised
from estimates.flags.observation import FlagEvidence, repeats
from estimates.intervals import ratio_interval, reaching, time_ratio
from estimates.model import Estimate, Interval, PromptEstimate, Summary, Verdict
from estimates.pairing import PromptPairs, pair_all
from estimates.ratios import Scope, against_alternative, controls, scopes
from estimates.repeatability import by_passes, single_pass, widened
from estimates.requests import PromptRequest, Readings, pays_from, request_figures
from estimates.system_load import widen_for_load
from estimates.throughput import throughput
from schemas.submission import Submission
from schemas.vocabulary import FEWEST_PROMPTS, METHODS

Fields: TypeAlias = dict[str, Any]  # fields of an estimate by name


def summarize(submission: Submission) -> Summary:
    """Derive all values of a valid submission. The same file always gives the same summary."""
    submission = _judged(submission)
    compared = tuple(arm for arm in submission.arms if arm.role != "baseline")
    pairs = pair_all(submission, compared)
    # The estimates of a task and of all tasks need the same prompts.
    request, predict = cache(Readings(submission).request), cache(_predict(submission))
    estimates = tuple(
        estimate(scope, request, predict)
        for arm in compared
        for scope in scopes(submission, arm, pairs[arm.id])
    )
    every_pair = tuple(pair for arm in compared for pair in pairs[arm.id] if pair.trials)
    evidence = FlagEvidence(
        submission=submission,
        pairs=every_pair,
        estimates=estimates,
        repeats=repeats(submission),
    )
    flags = raised(evidence)
    return Summary(
        estimates=verdicts.after_flags(estimates, flags, compared),
        prompts=tuple(
            _prompt_estimate(pair, request(pair))
            for pair in every_pair
            if not METHODS[pair.arm.method.type].instrument
            and not client_clock.only_requests(submission, pair.arm)
        ),
        flags=flags,
        repeatability=repeatability.headline(submission, pairs),
        controls=tuple(controls(submission, every_pair)),
        throughput=throughput(submission),
    )


def estimate(
    scope: Scope,
    request: Callable[[PromptPairs], PromptRequest | None],
    predict: Callable[[PromptPairs], float | None],
) -> Estimate:
    if client_clock.only_requests(scope.submission, scope.arm):
        return _only_requests(scope)
    by_wall = wall_speedup(scope) if scope.complete else None
    interval = published(scope, by_wall)
    requests = (
        request_figures(scope, request, lambda raw, by_wall: _widened(raw, scope, by_wall))
        if scope.complete
        else {}
    )
    estimate = _counted(scope, interval, requests.get("whole_request_interval"))
    if not scope.complete:
        return estimate
    if METHODS[scope.arm.method.type].instrument:  # the arm has R, but its speed is not a method's
        doubt = verdicts.INSTRUMENT
        return replace(estimate, **_decomposition(scope), verdict="uncertain", doubt=doubt)
    speedup = time_ratio(scope.times)
    predicted = _predicted(scope, predict)
    return replace(
        estimate,
        **_decomposition(scope),
        **requests,
        **_alternative(scope),
        pays_from=pays_from(requests, scope.times, interval) if requests else None,
        speedup=speedup,
        interval=interval,
        at_most=any(pairs.at_most for pairs in scope.prompts),
        wall_speedup=by_wall,
        repeatable_within=repeatability.repeatable_within(
            scope.groups, repeatability.confidence(scope.submission)
        ),
        predicted_speedup=predicted,
        unexplained=None if predicted is None else speedup / predicted - 1,
    )


def _only_requests(scope: Scope) -> Estimate:
    """The estimate for an arm whose times per token are wrong, from whole requests only."""
    times = scope.values(client_clock.request_ms) if scope.complete else None
    if times is None:
        counted = _counted(scope, None, None)
        return replace(counted, verdict="uncertain", doubt=client_clock.ONLY_REQUESTS)
    interval = _widened(ratio_interval(times), scope, None)
    return replace(
        _counted(scope, interval, None),
        whole_request=time_ratio(times),
        whole_request_interval=interval,
    )


def _counted(scope: Scope, interval: Interval | None, request: Interval | None) -> Estimate:
    """An estimate with the fields that are known even if no trials are paired."""
    once = scope.complete and single_pass(scope.submission) and len(scope.prompts) > 1
    judged = "no-clear-difference" if once else verdicts.judge(interval, request)
    return Estimate(
        arm=scope.arm.id,
        baseline=scope.arm.baseline or "",
        task=scope.task,
        own_tasks=scope.own_tasks,
        verdict=verdicts.verdict(scope.arm, scope.trials, scope.baseline_trials, judged),
        doubt=_doubt(scope, judged, once=once),
        prompts=len(scope.prompts),
        trials=sum(len(pairs.trials) for pairs in scope.prompts),
        failed_trials=sum(1 for trial in scope.trials if trial.outcome == "failed"),
    )


def _doubt(scope: Scope, judged: Verdict, *, once: bool) -> str | None:
    """The reason why the intervals cannot give a verdict; `None` if they can."""
    if is_lossy(scope.arm):
        return verdicts.LOSSY
    failed = verdicts.failed_share(scope.trials, scope.baseline_trials)
    if failed >= verdicts.MOST_FAILED or (failed > 0 and judged == "helps"):
        return verdicts.FAILURES
    if len(scope.prompts) < FEWEST_PROMPTS:
        return verdicts.FEW_PROMPTS
    if once:
        return verdicts.SINGLE_PASS
    signed = (
        scope.task is not None and scope.arm.role == "speculation" and judged in verdicts.SIGNED
    )
    return verdicts.few_decide(scope.prompts) if signed else None


def published(scope: Scope, by_wall: float | None) -> Interval | None:
    """The interval of the speedup as shown to readers; `None` with too few prompts."""
    interval = _widened(ratio_interval(scope.times) if scope.complete else None, scope, by_wall)
    return None if interval is None else client_clock.widened(interval, scope)


def wall_speedup(scope: Scope) -> float | None:
    """The speedup by the wall clock, stalls included."""
    walls = scope.values(lambda pairs: pairs.wall_ms)
    return None if walls is None else time_ratio(walls)


def _widened(interval: Interval | None, scope: Scope, by_wall: float | None) -> Interval | None:
    """Widen an interval by all other sources of error, and until it contains `by_wall`.

    The sources are disturbances of whole passes (or, if arms are interleaved prompt by prompt, the
    spread of repeats), the load of other programs, and the error of the steady clock, which all
    prompts share.
    """
    if interval is not None and not by_passes(scope.submission):
        interval = interval.at_least(scope.floor)
    interval = widened(interval, scope.submission, scope.arm)
    interval = widen_for_load(interval, scope.submission)
    if interval is None:
        return None
    clock = max(pairs.clock_half_width for pairs in scope.prompts)
    return reaching(interval.wider(clock), by_wall)


def _predicted(scope: Scope, predict: Callable[[PromptPairs], float | None]) -> float | None:
    """The speedup that the probes predict, averaged over prompts as the measured speedup is."""
    ratios = scope.values(predict)
    if ratios is None:
        return None
    return time_ratio(
        [
            [(plain, plain / ratio) for (plain, _), ratio in zip(*both, strict=True)]
            for both in zip(scope.times, ratios, strict=True)
        ]
    )


def _alternative(scope: Scope) -> Fields:
    """The speedup over the alternative, with its interval; empty if no alternative was measured."""
    compared = against_alternative(scope)
    if compared is None:
        return {}
    return {
        "alternative": compared.arm.baseline,
        "over_alternative": time_ratio(compared.times),
        "over_alternative_interval": published(compared, None),
    }


def _decomposition(scope: Scope) -> Fields:
    """The figures of `ratios.FIGURES`, and the counts of prompts by agreement of the output."""
    outputs = (verdicts.worst(each.trials, each.baseline_trials) for each in scope.prompts)
    figures = {name: figure(scope) for name, figure in ratios.FIGURES.items()}
    return {**figures, "exactness": verdicts.count(outputs)}


def _judged(submission: Submission) -> Submission:
    """The submission without the digests of outputs that may differ from the baseline's by design.

    These are sampled outputs, and outputs of an arm with lossy verification.
    """
    sampled = submission.settings.sampling != "greedy"
    lossy = {arm.id for arm in submission.arms if is_lossy(arm)}
    trials = (
        replace(
            trial,
            output_sha256=None,
            compared_tokens=None,
            first_divergence=None,
            text_sha256=None,
            equal_words=None,
        )
        if sampled or trial.arm in lossy
        else trial
        for trial in submission.trials
    )
    return replace(submission, trials=tuple(trials))


def _predict(submission: Submission) -> Callable[[PromptPairs], float | None]:
    """A function that predicts speedups from the probes, for arms with one request at a time."""
    return lambda pairs: (
        parts.predicted_speedup(pairs.arm.method, pairs.trials, submission.probes)
        if (pairs.arm.concurrency or 1) == 1
        else None
    )


def _prompt_estimate(pairs: PromptPairs, request: PromptRequest | None) -> PromptEstimate:
    drafts = parts.can_draft(pairs.arm.method)
    times = request.times((pairs.baseline_ms, pairs.arm_ms)) if request else None
    return PromptEstimate(
        arm=pairs.arm.id,
        prompt=pairs.prompt.id,
        task=pairs.prompt.task,
        blocks=len(pairs.trials),
        speedup=pairs.speedup,
        baseline_tps=1000 / pairs.baseline_ms,
        tps=1000 / pairs.arm_ms,
        whole_request=times[0] / times[1] if times else None,
        baseline_reading_ms=request.reading_ms[0] if request else None,
        reading_ms=request.reading_ms[1] if request else None,
        tokens_per_round=pairs.tokens_per_round,
        round_cost=pairs.round_cost,
        acceptance_rate=parts.acceptance_rate(pairs.trials) if drafts else None,
        exactness=verdicts.worst(pairs.trials, pairs.baseline_trials),
    )
