"""The whole request: reading the prompt and writing the answer, with and without a draft.

A speedup per token omits the time in which a draft model reads the prompt. For a prompt of n
tokens and an answer of m tokens the two requests take

    baseline = n * baseline_prompt_token_ms + (m - 1) * baseline_token_ms
    arm      = n * prompt_token_ms          + (m - 1) * token_ms

where `prompt_token_ms` includes the reading by target and draft, and reading the prompt yields the
first token. Every figure is by the plain clock, stalls included, because a user waits for them.
`wholeRequest` in `site_src/assets/javascripts/arithmetic.js` is the same formula.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from estimates.intervals import equal_weight_mean, interval_over_tasks
from estimates.pairing import PromptPairs, decode_ms_per_token
from estimates.ratios import Scope
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary import METHODS


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a token of the prompt and a token of the answer cost, in ms; both arms."""

    baseline_prompt_token_ms: float
    prompt_token_ms: float
    baseline_token_ms: float
    token_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """One prompt: what reading took without and with the arm's draft, and the log ratio."""

    baseline_prompt_ms: float
    prompt_ms: float
    output_tokens: float
    baseline_token_ms: float
    token_ms: float
    log_ratio: float


def whole_request(costs: Costs, prompt_tokens: float, output_tokens: float) -> float:
    """How many times as fast a whole request is; above 1 the arm saves time."""
    written = max(0.0, output_tokens - 1)
    baseline = costs.baseline_prompt_token_ms * prompt_tokens + costs.baseline_token_ms * written
    arm = costs.prompt_token_ms * prompt_tokens + costs.token_ms * written
    return baseline / arm


def break_even_tokens(costs: Costs, prompt_tokens: float) -> float | None:
    """The length of the answer from which on the arm saves time; `None` where it never does."""
    saved = costs.baseline_token_ms - costs.token_ms
    lost = (costs.prompt_token_ms - costs.baseline_prompt_token_ms) * prompt_tokens
    if lost <= 0:
        return 1.0 if saved > 0 else None
    return 1 + lost / saved if saved > 0 else None


def request_figures(
    scope: Scope, request: Callable[[PromptPairs], PromptRequest | None]
) -> dict[str, Any]:
    """The fields of `Estimate` about whole requests; none where a prompt's reading is unknown.

    The speedup is the geometric mean over prompts with Student's t interval; the lengths are means.
    Costs are left out where the length of a prompt is unknown.
    """
    groups = scope.values(request)
    if groups is None:
        return {}
    flat = [each for group in groups for each in group]
    logs = [[each.log_ratio for each in group] for group in groups]
    figures = {
        "whole_request": math.exp(equal_weight_mean(logs)),
        "whole_request_interval": interval_over_tasks(logs),
        "mean_output_tokens": fmean(each.output_tokens for each in flat),
    }
    lengths = [pairs.prompt.tokens for pairs in scope.prompts]
    if not all(lengths):
        return figures
    total = sum(length or 0 for length in lengths)
    # Reading is spread over all prompt tokens; writing is a geometric mean, as the speedup is.
    base_logs = [[math.log(each.baseline_token_ms) for each in group] for group in groups]
    own_logs = [[math.log(each.token_ms) for each in group] for group in groups]
    return {
        **figures,
        "mean_prompt_tokens": total / len(flat),
        "baseline_prompt_token_ms": sum(each.baseline_prompt_ms for each in flat) / total,
        "prompt_token_ms": sum(each.prompt_ms for each in flat) / total,
        "baseline_token_ms": math.exp(equal_weight_mean(base_logs)),
        "token_ms": math.exp(equal_weight_mean(own_logs)),
    }


class Readings:
    """How long each prompt took to read, by placement of the target and by draft.

    In-process each model reads a prompt once and its state is reused, so that only the trials of
    the arm that came first have the time.
    """

    def __init__(self, submission: Submission) -> None:
        """Collect the reading times of all finished trials."""
        self._arms = {arm.id: arm for arm in submission.arms}
        self._target: dict[tuple[int | None, str], list[float]] = {}
        self._draft: dict[tuple[str | None, str], list[float]] = {}
        for trial in submission.trials:
            arm = self._arms[trial.arm]
            if trial.outcome != "ok" or (arm.concurrency or 1) > 1:
                continue
            if trial.prompt_ms is not None:
                self._target.setdefault((_layers(arm), trial.prompt), []).append(trial.prompt_ms)
            if trial.draft_prompt_ms is not None:
                key = (_draft(arm), trial.prompt)
                self._draft.setdefault(key, []).append(trial.draft_prompt_ms)

    def request(self, pairs: PromptPairs) -> PromptRequest | None:
        """The whole request on one prompt: the median over the paired blocks."""
        if (pairs.arm.concurrency or 1) > 1:
            return None
        read = self._read(pairs)
        base = [decode_ms_per_token(trial) for trial in pairs.baseline_trials]
        own = [decode_ms_per_token(trial) for trial in pairs.trials]
        base_ms, own_ms = [ms for ms in base if ms], [ms for ms in own if ms]
        if read is None or len(base_ms) < len(base) or len(own_ms) < len(own):
            return None
        baseline_prompt_ms, prompt_ms = read
        written = median(trial.output_tokens or 1 for trial in pairs.baseline_trials) - 1
        ratios = [
            math.log((baseline_prompt_ms + b * written) / (prompt_ms + a * written))
            for b, a in zip(base_ms, own_ms, strict=True)
        ]
        return PromptRequest(
            baseline_prompt_ms=baseline_prompt_ms,
            prompt_ms=prompt_ms,
            output_tokens=written + 1,
            baseline_token_ms=median(base_ms),
            token_ms=median(own_ms),
            log_ratio=median(ratios),
        )

    def _read(self, pairs: PromptPairs) -> tuple[float, float] | None:
        """Milliseconds in which the baseline and the arm read the prompt.

        If a server does not report how long its draft read, the time before the first token counts
        for both.
        """
        baseline = self._arms[pairs.arm.baseline or ""]
        base = _median(self._target.get((_layers(baseline), pairs.prompt.id)))
        own = _median(self._target.get((_layers(pairs.arm), pairs.prompt.id)))
        drafted = self._drafting(pairs)
        if base is not None and own is not None and drafted is not None:
            return base, own + drafted
        outside = [_until_first_token(each) for each in (pairs.baseline_trials, pairs.trials)]
        if outside[0] is None or outside[1] is None:
            return None
        return outside[0], outside[1]

    def _drafting(self, pairs: PromptPairs) -> float | None:
        kind = METHODS[pairs.arm.method.type]
        if kind.free or not kind.drafts:
            return 0.0
        return _median(self._draft.get((_draft(pairs.arm), pairs.prompt.id)))


def _until_first_token(trials: Iterable[Trial]) -> float | None:
    """The median time before the first token, if every trial read its prompt and was timed."""
    waited = [_waited_ms(trial) for trial in trials]
    known = [ms for ms in waited if ms is not None]
    return median(known) if known and len(known) == len(waited) else None


def _waited_ms(trial: Trial) -> float | None:
    if trial.ttft_ms is not None:
        return trial.ttft_ms
    if trial.wall_ms is None or trial.decode_ms is None or trial.prompt_ms is None:
        return None
    return max(trial.prompt_ms, trial.wall_ms - trial.decode_ms)


def _median(values: Sequence[float] | None) -> float | None:
    return median(values) if values else None


def _layers(arm: Arm) -> int | None:
    return arm.placement.target_gpu_layers_requested if arm.placement else None


def _draft(arm: Arm) -> str | None:
    """Arms that share a draft model share what it read."""
    return arm.method.draft or arm.id
