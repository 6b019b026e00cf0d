"""Compare whole requests (reading the prompt, writing the answer) with and without a draft.

A speedup per token leaves out the time that a draft model takes to read the prompt. The time of a
request is

    reading + (answer tokens - 1) x ms per token

The ms per token are the same as in the speedup; the first token is left out, because it comes from
reading the prompt. The arm's reading includes its draft's reading. Like times per token, whole
requests are compared by the means of both times over prompts and tasks. If all answers have the
same length, the formula gives the same result from the mean reading times and the printed rates.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from estimates import intervals
from estimates.model import AnswerLength, Interval
from estimates.pairing import PromptPairs
from estimates.ratios import Scope
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary import METHODS

# Results of different lengths are compared by the request with an answer of this many tokens.
STATED_ANSWER_TOKENS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The cost in ms of a prompt token and an answer token, for both arms."""

    baseline_prompt_token_ms: float
    prompt_token_ms: float
    baseline_token_ms: float
    token_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """A prompt's reading time in the baseline and in the arm, and the length of its answer."""

    reading_ms: intervals.Times
    output_tokens: float

    def times(
        self, token_ms: intervals.Times, output_tokens: float | None = None
    ) -> intervals.Times:
        """Milliseconds of both whole requests, with the measured or a different answer length."""
        written = (output_tokens or self.output_tokens) - 1
        baseline, own = self.reading_ms
        return baseline + written * token_ms[0], own + written * token_ms[1]


def whole_request(costs: Costs, prompt_tokens: float, output_tokens: float) -> float:
    """The speedup of a whole request: the baseline's time over the arm's."""
    written = max(0.0, output_tokens - 1)
    baseline = costs.baseline_prompt_token_ms * prompt_tokens + costs.baseline_token_ms * written
    arm = costs.prompt_token_ms * prompt_tokens + costs.token_ms * written
    return baseline / arm


def request_figures(
    scope: Scope,
    request: Callable[[PromptPairs], PromptRequest | None],
    widen: Callable[[Interval | None, float | None], Interval | None],
) -> dict[str, Any]:
    """The fields of `Estimate` for whole requests; empty if any prompt's reading time is unknown.

    `widen` adds other sources of error to an interval; its second argument is the ratio that
    follows from times per token by the wall clock.
    """
    readings = scope.values(request)
    if readings is None:
        return {}
    walls = scope.values(lambda pairs: pairs.wall_ms)
    figures: dict[str, Any] = {}
    for name, tokens in (("stated_request", STATED_ANSWER_TOKENS), ("whole_request", None)):
        strata = _requests(readings, scope.times, tokens)
        at_walls = None if walls is None else _requests(readings, walls, tokens)
        by_wall = None if at_walls is None else intervals.time_ratio(at_walls)
        figures[name] = intervals.time_ratio(strata)
        figures[f"{name}_interval"] = widen(intervals.ratio_interval(strata), by_wall)
    # The last strata are the requests as measured.
    figures["baseline_request_ms"], figures["request_ms"] = intervals.mean_times(strata)
    reading_ms = intervals.mean_times([[read.reading_ms for read in group] for group in readings])
    figures["baseline_reading_ms"], figures["reading_ms"] = reading_ms
    written = intervals.mean_over_tasks([[e.output_tokens for e in g] for g in readings])
    read = scope.mean(lambda pairs: pairs.prompt.tokens)
    return {**figures, "mean_prompt_tokens": read, "mean_output_tokens": written}


def _requests(
    readings: Sequence[Sequence[PromptRequest]], times: intervals.Strata, tokens: float | None
) -> intervals.Strata:
    """The time of each prompt's whole request in both arms, by task, from `times` per token."""
    return [
        [read.times(token_ms, tokens) for read, token_ms in zip(*both, strict=True)]
        for both in zip(readings, times, strict=True)
    ]


def pays_from(
    figures: Mapping[str, float], times: intervals.Strata, interval: Interval | None
) -> AnswerLength | None:
    """The answer length from which the arm saves time on whole requests.

    The length is 1 + extra reading time / (baseline's time per token x (1 - 1 / speedup)). The
    bounds follow from the speedup's `interval`. `None` if the arm's reading takes no longer, or if
    the arm saves no time per token.
    """
    extra_ms = figures["reading_ms"] - figures["baseline_reading_ms"]
    plain_ms, speedup = intervals.mean_times(times)[0], intervals.time_ratio(times)
    if extra_ms <= 0 or speedup <= 1:
        return None

    def tokens(ratio: float) -> float:
        return 1 + extra_ms / (plain_ms * (1 - 1 / ratio))

    return AnswerLength(
        tokens=tokens(speedup),
        low=None if interval is None else tokens(interval.high),
        high=tokens(interval.low) if interval is not None and interval.low > 1 else None,
    )


def without_draft_reading(submission: Submission, arm: Arm) -> float | None:
    """The speedup of whole requests, leaving out the draft's time to read the prompt.

    llama-server's timings omit that time, so this is an upper bound. `None` if prompt times are
    missing, if the draft's are known, or if arm and baseline finished different prompts or blocks.
    """
    spent: dict[str, dict[tuple[str, int], float]] = {arm.id: {}, arm.baseline or "": {}}
    for trial in submission.trials:
        if trial.outcome == "ok" and trial.arm in spent:
            if trial.draft_prompt_ms is not None or None in (trial.prompt_ms, trial.decode_ms):
                return None
            spent[trial.arm][trial.prompt, trial.block] = (trial.prompt_ms or 0.0) + (
                trial.decode_ms or 0.0
            )
    own, base = spent.values()
    return sum(base.values()) / sum(own.values()) if own and own.keys() == base.keys() else None


class Readings:
    """The reading times of every prompt, by placement of the target and by draft.

    The in-process runner lets each model read a prompt once and reuses its state, so only the first
    arm's trials have a reading time.
    """

    def __init__(self, submission: Submission) -> None:
        """Collect the reading times and answer lengths of all finished trials."""
        self._arms = {arm.id: arm for arm in submission.arms}
        self._target: dict[tuple[int | None, str], list[float]] = {}
        self._draft: dict[tuple[str | None, str], list[float]] = {}
        self._finished: dict[tuple[str, str], list[Trial]] = {}
        for trial in submission.trials:
            arm = self._arms[trial.arm]
            if trial.outcome != "ok" or (arm.concurrency or 1) > 1:
                continue
            self._finished.setdefault((arm.id, trial.prompt), []).append(trial)
            if trial.prompt_ms is not None:
                self._target.setdefault((_layers(arm), trial.prompt), []).append(trial.prompt_ms)
            if trial.draft_prompt_ms is not None:
                key = (_draft(arm), trial.prompt)
                self._draft.setdefault(key, []).append(trial.draft_prompt_ms)

    def request(self, pairs: PromptPairs) -> PromptRequest | None:
        """The prompt's reading times and answer length; `None` if unknown or requests overlap."""
        baseline = self._finished.get((pairs.arm.baseline or "", pairs.prompt.id))
        own = self._finished.get((pairs.arm.id, pairs.prompt.id), [])
        if baseline is None or (pairs.arm.concurrency or 1) > 1:
            return None
        read = self._read(pairs, baseline, own)
        if read is None:
            return None
        written = median(trial.output_tokens or 1 for trial in baseline)
        return PromptRequest(reading_ms=read, output_tokens=written)

    def _read(
        self, pairs: PromptPairs, baseline: Sequence[Trial], own: Sequence[Trial]
    ) -> intervals.Times | None:
        """Milliseconds that the baseline and the arm took to read the prompt.

        If a server does not report its draft's reading time, the time before the first token is
        used for both arms. An arm that never finished is assumed to have read as long as its
        baseline.
        """
        kind, prompt = METHODS[pairs.arm.method.type], pairs.prompt.id
        base_ms, own_ms = (
            _median(self._target.get((_layers(self._arms[arm or ""]), prompt)))
            for arm in (pairs.arm.baseline, pairs.arm.id)
        )
        drafted_ms: float | None = 0.0
        if kind.drafts and not kind.free:
            drafted_ms = _median(self._draft.get((_draft(pairs.arm), prompt)))
        if base_ms is not None and own_ms is not None and drafted_ms is not None:
            return base_ms, own_ms + drafted_ms
        base_ms, own_ms = _until_first_token(baseline), _until_first_token(own or baseline)
        return None if base_ms is None or own_ms is None else (base_ms, own_ms)


def _until_first_token(trials: Iterable[Trial]) -> float | None:
    """The median time to the first token; `None` if any trial lacks it."""
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
    """The key of a draft's reading times: the draft model (arms may share it), else the arm."""
    return arm.method.draft or arm.id
