"""Estimate how long a run takes: from the models' sizes before it, from its trials while it runs.

Before a run, the time follows from the bytes that must be read for its tokens and prompts. On an
idle CPU this is right to within a factor of 1.5. The trials so far give a better estimate.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

import numpy as np
import psutil

from harness.campaign.model import ArmPlan, Campaign
from harness.models.model_file import ModelFile
from harness.report import events, words

COPIED_BYTES, _COPIES = 64 * 1024 * 1024, 8
# Averages of English and code, and the words that a chat template adds.
_CHARACTERS_PER_TOKEN, _TEMPLATE_TOKENS, _WARM_UP_TOKENS = 3.6, 20, 24
_ACCEPTED = 0.6  # assumed share of the drafted tokens
_BATCHED = 0.5  # prefill time as a share of the time for the same tokens one by one
_FIXED_S, _DISK_BYTES_PER_S = 5.0, 1e9
_LATEST = 6  # answers of an arm that show its present pace


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRate:
    """The memory bandwidth of one thread in bytes/s, and the number of threads that compute."""

    bytes_per_s: float
    threads: int


def this_machine(
    threads: int | None, clock: Callable[[], float] = time.perf_counter
) -> MachineRate:
    """Measure the fastest of eight memory copies; `threads` defaults to all cores but one."""
    source = np.zeros(COPIED_BYTES, dtype=np.uint8)
    destination, took_s = np.ones_like(source), []
    for _ in range(_COPIES):
        began = clock()
        np.copyto(destination, source)
        took_s.append(clock() - began)
    cores = psutil.cpu_count(logical=False) or 1
    return MachineRate(
        bytes_per_s=2 * COPIED_BYTES / min(took_s),  # each byte is read and written
        threads=min(cores, threads or max(1, cores - 1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTime:
    """Expected seconds: of a run with all blocks and repeats, without repeats, and of one block."""

    seconds: float
    least_seconds: float
    first_seconds: float

    @property
    def span(self) -> str:
        """The fewest and the most seconds in words, such as `4 min to 6 min`."""
        return " to ".join(dict.fromkeys(map(words.seconds, (self.least_seconds, self.seconds))))


class _Cost(NamedTuple):
    """Seconds to load a model, to read its weights once, and to compute one more token per step."""

    load_s: float
    read_s: float
    compute_s: float


def expected(campaign: Campaign, rate: MachineRate) -> ExpectedTime | None:
    """Estimate a campaign's duration on a machine; `None` if a model's size is unknown."""
    target = _cost(campaign.target, rate)
    if target is None:
        return None
    drafts = {draft.model.id: _cost(draft, rate) for draft in campaign.drafts}
    prompts = [
        campaign.settings.context_depth_tokens
        or len(prompt.text) / _CHARACTERS_PER_TOKEN + _TEMPLATE_TOKENS
        for prompt in campaign.suite.prompts
    ]
    answers = len(prompts) * (campaign.settings.max_output_tokens - 1)
    start_s = block_s = 0.0
    for arm in campaign.arms:
        draft = drafts.get(arm.method.draft or "")
        token_s = _token_s(arm, target, draft)
        block_s += answers * token_s
        start_s += _WARM_UP_TOKENS * token_s
        for model in filter(None, (target, draft)):
            start_s += model.load_s + _BATCHED * sum(prompts) * model.compute_s
    restarted = campaign.interleaved == "block"  # a new engine start for each arm and block
    once_s = _FIXED_S + (0.0 if restarted else start_s)
    block_s += start_s if restarted else 0.0
    # In the worst case every prompt is repeated, which amounts to another block.
    most = campaign.blocks + (campaign.stopping.repeat_beyond is not None)
    return ExpectedTime(
        seconds=once_s + block_s * most,
        least_seconds=once_s + block_s * campaign.blocks,
        first_seconds=once_s + block_s,
    )


def _cost(file: ModelFile, rate: MachineRate) -> _Cost | None:
    size = file.model.file_bytes
    if size is None:
        return None
    parameters = file.model.parameters or size / 2
    active = file.model.active_parameters or parameters
    return _Cost(
        load_s=size / _DISK_BYTES_PER_S,
        read_s=size * active / parameters / rate.bytes_per_s,
        compute_s=active / rate.bytes_per_s / rate.threads,
    )


def _token_s(arm: ArmPlan, target: _Cost, draft: _Cost | None) -> float:
    """Return seconds per token: drafting and verification time divided by the tokens per round."""
    depth = (arm.method.n_max or 0) if draft else 0
    drafting_s = depth * (draft.read_s + draft.compute_s) if draft else 0.0
    round_s = drafting_s + target.read_s + (depth + 1) * target.compute_s
    return round_s / sum(_ACCEPTED**position for position in range(depth + 1))


@dataclass(slots=True)
class _Observed:
    """A campaign's trial counts, and the seconds that its answers took, by arm.

    In `arms`, a failed arm is `None`. `once_s` has what does not recur with every answer: the start
    of a server, by arm and block, or else the first processing of a prompt, by arm and prompt.
    """

    total: int = 0
    done: int = 0
    prompts: int = 1
    restarts: bool = False
    arms: dict[str, list[float] | None] = field(default_factory=dict)
    once_s: dict[object, float] = field(default_factory=dict)

    @property
    def answers_s(self) -> list[list[float]]:
        return [each for each in self.arms.values() if each is not None]

    def count(self, event: events.TrialEnded, passed_s: float) -> None:
        trial = event.trial
        again_s = passed_s if event.again_s is None else min(event.again_s, passed_s)
        self.done += 1
        self.arms[trial.arm] = [*(self.arms.get(trial.arm) or ()), again_s]
        key = (trial.arm, trial.block if self.restarts else trial.prompt)
        self.once_s[key] = self.once_s.get(key, 0.0) + passed_s - again_s

    def rest_s(self) -> float:
        """The remaining seconds of all arms, each of which has an answer."""
        trials, arms = max(0, self.total - self.done), max(1, len(self.arms))
        share = (trials + sum(map(len, self.answers_s))) / arms
        answers_s = (_pace_s(each) * max(0.0, share - len(each)) for each in self.answers_s)
        unread = min(self.prompts * len(self.answers_s) - len(self.once_s), trials)
        once = trials // self.prompts if self.restarts else max(0, unread)
        return sum(answers_s) + _pace_s([*self.once_s.values()]) * once


def _pace_s(seconds: Sequence[float]) -> float:
    """Return the mean of the latest times: a machine may have become slower or faster."""
    return fmean(seconds[-_LATEST:])


class RemainingTime:
    """An estimate that assumes that an arm's remaining answers take as long as its latest ones.

    It is unknown until every arm has an answer, since an arm's warm-up (a short text) is not
    typical. Starting a server and processing a prompt for the first time are counted separately.
    """

    def __init__(
        self, most_s: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start without observations; `most_s` is the time limit of the run, if any."""
        self._clock = clock
        self._last_s = clock()
        self._ends_s = float("inf") if most_s is None else clock() + most_s
        self._campaigns: dict[str, _Observed] = {}

    def observe(self, name: str, event: events.Event) -> None:
        """Update the estimate with an event of the named campaign."""
        passed_s = self._clock() - self._last_s
        campaign = self._campaigns.setdefault(name, _Observed())
        match event:
            case events.TrialStarted() if campaign.once_s:
                return  # the time since the last trial belongs to this trial
            case events.TrialsPlanned():
                campaign.total, campaign.done = event.total, event.done
                campaign.prompts, campaign.restarts = event.prompts, event.restarts
            case events.WarmedUp(arm=arm):
                campaign.arms.setdefault(arm, [])
            case events.ArmFailed(arm=arm):
                campaign.arms[arm] = None
            case events.TrialEnded():
                campaign.count(event, passed_s)
        self._last_s += passed_s

    @property
    def trials(self) -> tuple[int, int]:
        """The numbers of finished and planned trials."""
        campaigns = self._campaigns.values()
        return sum(each.done for each in campaigns), sum(each.total for each in campaigns)

    def end_in(self, left_s: float) -> None:
        """Set the time until the run's limit."""
        self._ends_s = self._clock() + left_s

    def block_s(self) -> float:
        """The seconds of a further block of all campaigns; 0 until the first trial ends.

        An arm without an answer is assumed to take as long as the others.
        """
        campaigns = self._campaigns.values()
        paces = [_pace_s(arm) for each in campaigns for arm in each.answers_s if arm]
        usual_s, sum_s = fmean(paces or [0.0]), 0.0
        for each in campaigns:
            sum_s += each.prompts * sum(_pace_s(arm or [usual_s]) for arm in each.answers_s)
            if each.restarts and each.once_s:
                sum_s += len(each.answers_s) * _pace_s([*each.once_s.values()])
        return sum_s

    def seconds(self) -> float | None:
        """The seconds until all trials are done; `None` until every arm has an answer."""
        campaigns = self._campaigns.values()
        if not all(each.once_s and all(each.answers_s) for each in campaigns):
            return None
        rest_s = sum(each.rest_s() for each in campaigns)
        # After the limit no block is started, but the running block is finished.
        block = sum(-each.done % (each.prompts * len(each.arms) or 1) for each in campaigns)
        done, total = self.trials
        block_s = rest_s * min(1.0, block / max(1, total - done))
        return min(rest_s, max(block_s, self._ends_s - self._clock()))
