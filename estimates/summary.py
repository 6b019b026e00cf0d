"""Derive the summary of one submission.

Every arm that is compared with a baseline gets an estimate for each task and one over all tasks,
which has a figure only if every task has a pair (see `estimates.ratios`).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from estimates import decomposition as parts
from estimates import ratios, repeatability
from estimates.decomposition import predicted_speedup
from estimates.flags import raised
from estimates.flags.evidence import FlagEvidence, repeats
from estimates.intervals import (
    Resampled,
    bootstrap_interval,
    equal_weight_mean,
    interval_over_tasks,
    reaching,
    resampled_means,
    t_interval,
)
from estimates.load import widen_for_load
from estimates.model import Estimate, Interval, PromptEstimate, Summary
from estimates.pairing import NORMAL_95, PromptPairs, pair_all
from estimates.passes import by_passes, single_pass, widened
from estimates.ratios import Scope, against_alternative, controls, cpu_speedup, scopes
from estimates.requests import PromptRequest, Readings, request_figures
from estimates.throughput import throughput
from estimates.verdicts import INSTRUMENT, after_flags, count, verdict, worst
from schemas.submission import Submission
from schemas.vocabulary import METHODS

Fields: TypeAlias = dict[str, Any]  # of an estimate, by name


def summarize(submission: Submission, *, resample: bool = True) -> Summary:
    """Derive everything from a valid submission. The same file gives the same summary.

    Without `resample` the bootstrap intervals, which only tables and JSON hold, are left out.
    """
    submission = _judged(submission)
    compared = tuple(arm for arm in submission.arms if arm.role != "baseline")
    pairs = pair_all(submission, compared)
    # A task and all tasks ask for the same prompts.
    request, predict = cache(Readings(submission).request), cache(_predict(submission))
    resampled = cache(resampled_means) if resample else None
    estimates = tuple(
        _estimate(scope, request, predict, resampled)
        for arm in compared
        for scope in scopes(submission, arm, pairs[arm.id])
    )
    every_pair = tuple(each for arm in compared for each in pairs[arm.id])
    evidence = FlagEvidence(
        submission=submission,
        pairs=every_pair,
        estimates=estimates,
        repeats=repeats(submission),
    )
    flags = raised(evidence)
    return Summary(
        estimates=after_flags(estimates, flags, compared),
        prompts=tuple(
            _prompt_estimate(each, request(each))
            for each in every_pair
            if not METHODS[each.arm.method.type].instrument
        ),
        flags=flags,
        repeatability=repeatability.headline(submission, pairs),
        controls=tuple(controls(submission, every_pair)),
        throughput=throughput(submission),
    )


def _estimate(
    scope: Scope,
    request: Callable[[PromptPairs], PromptRequest | None],
    predict: Callable[[PromptPairs], float | None],
    resampled: Resampled | None,
) -> Estimate:
    by_wall = wall_speedup(scope) if scope.complete else None
    interval = published(scope, by_wall)
    estimate = _counted(scope, interval)
    if not scope.complete:
        return estimate
    if METHODS[scope.arm.method.type].instrument:  # it has R, and its speed is that of no method
        return replace(estimate, **_decomposition(scope), verdict="uncertain", doubt=INSTRUMENT)
    speedup = math.exp(equal_weight_mean(scope.log_ratios))
    predicted = scope.mean_over_prompts(predict)
    by_processor = cpu_speedup(scope)
    return replace(
        estimate,
        **_decomposition(scope),
        **_request(scope, request_figures(scope, request)),
        **_alternative(scope),
        speedup=speedup,
        interval=interval,
        wall_speedup=by_wall,
        bootstrap=_timed(bootstrap_interval(scope.groups, resampled), scope) if resampled else None,
        repeatability=repeatability.around(speedup, scope.groups, scope.submission),
        cpu_speedup=by_processor[0] if by_processor else None,
        cpu_interval=by_processor[1] if by_processor else None,
        predicted_speedup=predicted,
        unexplained=None if predicted is None else speedup / predicted - 1,
    )


def _counted(scope: Scope, interval: Interval | None) -> Estimate:
    """The fields that every arm and task has, even without a pair of answers."""
    once = single_pass(scope.submission) and _over_prompts(scope) is not None
    return Estimate(
        arm=scope.arm.id,
        baseline=scope.arm.baseline or "",
        task=scope.task,
        own_tasks=scope.own_tasks,
        verdict=verdict(scope.arm, scope.trials, scope.baseline_trials, interval, single_pass=once),
        prompts=len(scope.prompts),
        trials=sum(len(pairs.trials) for pairs in scope.prompts),
        failed_trials=sum(1 for trial in scope.trials if trial.outcome == "failed"),
    )


def published(scope: Scope, by_wall: float | None) -> Interval | None:
    """The interval that the terminal, tables and pages show; `None` with too few prompts."""
    return reaching(_timed(_over_prompts(scope), scope), by_wall)


def wall_speedup(scope: Scope) -> float | None:
    """The speedup by the plain clock, with every stall in it."""
    logs = scope.values(lambda pairs: pairs.wall_log_ratio)
    return None if logs is None else math.exp(equal_weight_mean(logs))


def _timed(interval: Interval | None, scope: Scope) -> Interval | None:
    """The widened interval with the error of the steady clock, which all prompts share."""
    honest = _honest(interval, scope)
    if honest is None:
        return None
    return honest.wider(max(pairs.clock_half_width for pairs in scope.prompts))


def _honest(interval: Interval | None, scope: Scope) -> Interval | None:
    """The interval, widened by what disturbs whole passes and by the load of other programs."""
    return widen_for_load(widened(interval, scope.submission, scope.arm), scope.submission)


def _over_prompts(scope: Scope) -> Interval | None:
    if not scope.complete:
        return None
    ratios = scope.log_ratios
    if scope.task is None:
        return interval_over_tasks(ratios)
    interval = t_interval(ratios[0])
    if interval is None or by_passes(scope.submission):
        return interval
    by_repeats = NORMAL_95 * scope.repeat_deviation / math.sqrt(len(ratios[0]))
    return interval.at_least(by_repeats)


def _request(scope: Scope, figures: Fields) -> Fields:
    """The figures about whole requests with the widened interval."""
    if not figures:
        return {}
    interval = _honest(figures["whole_request_interval"], scope)
    return {**figures, "whole_request_interval": interval}


def _alternative(scope: Scope) -> Fields:
    """The speedup over the target without a draft in memory, if that was measured."""
    compared = against_alternative(scope)
    if compared is None:
        return {}
    return {
        "alternative": compared.arm.baseline,
        "over_alternative": math.exp(equal_weight_mean(compared.log_ratios)),
        "over_alternative_interval": _timed(_over_prompts(compared), compared),
    }


def _decomposition(scope: Scope) -> Fields:
    """The figures of `ratios.FIGURES`, and how many prompts have the baseline's output."""
    outputs = (worst(pairs.trials, pairs.baseline_trials) for pairs in scope.prompts)
    figures = {name: figure(scope) for name, figure in ratios.FIGURES.items()}
    return {**figures, "exactness": count(outputs)}


def _judged(submission: Submission) -> Submission:
    """The submission, without outputs to compare if tokens were sampled: such texts differ."""
    if submission.settings.sampling == "greedy":
        return submission
    trials = (
        replace(trial, output_sha256=None, compared_tokens=None, first_divergence=None)
        for trial in submission.trials
    )
    return replace(submission, trials=tuple(trials))


def _predict(submission: Submission) -> Callable[[PromptPairs], float | None]:
    """A function that predicts speedups from the probes, which time one request at a time."""
    return lambda pairs: (
        predicted_speedup(pairs.arm.method, pairs.trials, submission.probes)
        if (pairs.arm.concurrency or 1) == 1
        else None
    )


def _prompt_estimate(pairs: PromptPairs, request: PromptRequest | None) -> PromptEstimate:
    drafts = parts.can_draft(pairs.arm.method)
    return PromptEstimate(
        arm=pairs.arm.id,
        prompt=pairs.prompt.id,
        task=pairs.prompt.task,
        blocks=len(pairs.trials),
        speedup=pairs.speedup,
        baseline_tps=1000 / pairs.baseline_ms,
        tps=1000 / pairs.arm_ms,
        whole_request=math.exp(request.log_ratio) if request else None,
        baseline_reading_ms=request.baseline_prompt_ms if request else None,
        reading_ms=request.prompt_ms if request else None,
        tokens_per_round=parts.yielded(pairs),
        round_cost=parts.round_cost(pairs),
        acceptance_rate=parts.acceptance_rate(pairs.trials) if drafts else None,
        exactness=worst(pairs.trials, pairs.baseline_trials),
    )
