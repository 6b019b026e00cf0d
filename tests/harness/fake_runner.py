"""A fake engine with its own clock, for tests and benches of the code around an engine."""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from harness.campaign.axis_options import recorded
from harness.campaign.model import ArmPlan, Campaign, layers_of
from harness.runners import base
from harness.runners.options import ConnectionOptions
from schemas import submission
from schemas.method import DRAFT_MODEL

_PROMPT_TOKENS = 100
_PROMPT_MS = 50.0
_LOAD_S = 0.5
_WARM_UP_OUTPUT_TOKENS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeRig:
    """The truth about a fake rig.

    A round that feeds w tokens costs `step_ms + (w - 1) * extra_width_ms` and `draft_token_ms` per
    drafted token; a draft model takes `draft_prompt_ms` for the prompt. Every drafted token is
    accepted with the probability of its prompt, or else of its task, up to the first rejection; an
    arm repeats a prompt with the same rejections, as greedy decoding does. `slowdown(order)`
    multiplies all times of the trial that runs as number `order`, `slowdown_at(clock_ms)` those of
    a round that begins at that time, `disturbance(rng)` those of a single round. `layers_slowdown`
    multiplies the steps of arms that request this many layers of the target on the GPU. `noise` is
    the standard deviation of each round's log duration. A step for several streams processes the
    tokens of all of them. A trial that would take longer than `answer_limit_s` times out.
    """

    step_ms: float = 20.0
    extra_width_ms: float = 2.0
    draft_token_ms: float = 2.0
    draft_prompt_ms: float = 20.0
    acceptance: dict[str, float] = field(default_factory=dict)
    default_acceptance: float = 0.6
    noise: float = 0.01
    slowdown: Callable[[int], float] | None = None
    slowdown_at: Callable[[float], float] | None = None
    disturbance: Callable[[random.Random], float] | None = None
    layers_slowdown: dict[int, float] = field(default_factory=dict)
    failing_arms: dict[str, submission.Reason] = field(default_factory=dict)
    failing_trials: dict[int, submission.Reason] = field(default_factory=dict)
    answer_limit_s: float | None = None


# A thousand times as fast as the usual rig: a file is refused if its trials claim to have taken
# longer than the run that wrote it.
_FAST = FakeRig(step_ms=0.02, extra_width_ms=0.002, draft_token_ms=0.002, draft_prompt_ms=0.02)


def connect(_options: ConnectionOptions) -> base.Adapter:
    """Entry for the table of runners: tests of commands use it in place of an engine."""
    return base.Adapter(open=partial(FakeSession, _FAST))


class FakeSession:
    """Answers with fake generations. The same seed gives the same answers.

    `clock_ms` is the rig's own time: the total of prompts and rounds in this session.
    """

    def __init__(self, rig: FakeRig, campaign: Campaign) -> None:
        self._rig = rig
        self._campaign = campaign
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._tasks = {prompt.id: prompt.task for prompt in campaign.suite.prompts}
        self._rng = random.Random(campaign.seed)  # noqa: S311 - fake data
        self._answered = 0
        self.clock_ms = 0.0

    def report(self) -> base.EngineReport:
        asked = self._campaign.settings
        return base.EngineReport(
            engine=submission.Engine(
                runner="openai",  # the runner with the fewest required facts
                name="fake",
                version="1",
                backend="cpu",
                devices=(submission.Device(name="CPU", kind="cpu"),),
            ),
            settings=replace(
                recorded(asked, "openai"),
                context_tokens=asked.context_tokens,
            ),
        )

    def prepare(self, arm: str) -> base.PreparedArm | base.Failure:
        """Prepare an arm at once, or fail as the rig says."""
        reason = self._rig.failing_arms.get(arm)
        if reason is not None:
            return base.Failure(reason=reason, detail="the fake rig is set to fail")
        prompt = self._campaign.suite.prompts[0].id
        warm_up = self._generation(self._arms[arm], prompt, _WARM_UP_OUTPUT_TOKENS)
        layers = layers_of(self._arms[arm], self._campaign.settings)
        placement = submission.Placement(target_gpu_layers_requested=layers)
        return base.PreparedArm(load_s=_LOAD_S, warm_up=warm_up, placement=placement)

    def generate(self, request: base.TrialRequest) -> base.Generation | base.Failure:
        """Generate with the rig's costs of rounds."""
        return self._answer(request, streams=1)

    def step_times(self, widths: Sequence[int]) -> base.StepTimes:
        """Cost of a step of each width on the rig, without noise."""
        ms = (self._rig.step_ms + (width - 1) * self._rig.extra_width_ms for width in widths)
        return base.StepTimes(context_tokens=_PROMPT_TOKENS, ms=tuple(ms))

    def generate_concurrently(
        self, requests: Sequence[base.TrialRequest], concurrency: int
    ) -> Iterator[base.FinishedRequest]:
        """Generate with shared steps; all slots stay in use until the end of the pass."""
        free_ms = [0.0] * min(concurrency, len(requests))
        for request in requests:
            slot = free_ms.index(min(free_ms))
            result = self._answer(request, streams=len(free_ms))
            yield base.FinishedRequest(request=request, started_ms=free_ms[slot], result=result)
            free_ms[slot] += 0.0 if isinstance(result, base.Failure) else result.wall_ms

    def _answer(
        self, request: base.TrialRequest, *, streams: int
    ) -> base.Generation | base.Failure:
        number, self._answered = self._answered, self._answered + 1
        reason = self._rig.failing_trials.get(number)
        if reason is not None:
            return base.Failure(reason=reason, detail="the fake rig is set to fail")
        factor = self._rig.slowdown(number) if self._rig.slowdown else 1.0
        arm = self._arms[request.arm]
        answer = self._generation(arm, request.prompt, request.max_output_tokens, factor, streams)
        limit_s = self._rig.answer_limit_s
        if limit_s is None or answer.wall_ms <= 1000 * limit_s:
            return answer
        late = base.Failure(reason="timed-out", detail=f"no answer within {limit_s:g} s")
        return late.given_up_after(limit_s)

    def probe(self) -> submission.Probes:
        drafting = tuple(
            submission.DraftingProbe(
                draft=draft.model.id, repeats=1, token_ms_median=self._rig.draft_token_ms
            )
            for draft in self._campaign.drafts
        )
        return submission.Probes(drafting=drafting or None)

    def close(self) -> None:
        """Nothing to free."""

    def _generation(
        self, arm: ArmPlan, prompt: str, limit: int, factor: float = 1.0, streams: int = 1
    ) -> base.Generation:
        rig = self._rig
        by_task = rig.acceptance.get(self._tasks[prompt], rig.default_acceptance)
        acceptance = rig.acceptance.get(prompt, by_task)
        chance = random.Random(f"{arm.id} {prompt}")  # noqa: S311 - fake data
        prompt_ms = _PROMPT_MS * self._factor(factor)
        draft_prompt_ms = None
        if arm.method.type == DRAFT_MODEL:
            draft_prompt_ms = self._rig.draft_prompt_ms * self._factor(factor)
        waited_ms = prompt_ms + (draft_prompt_ms or 0.0)
        self.clock_ms += waited_ms
        rounds: list[base.Round] = []
        produced, owed = 1, 0.0
        while produced < limit:
            drafted = min(arm.method.n_max or 0, limit - produced - 1)
            accepted = _accepted(chance, drafted, acceptance)
            if arm.method.length is not None:
                owed += arm.method.length - 1
                accepted = min(int(owed), drafted)
                owed -= accepted
            rounds.append(self._round(arm, drafted, accepted, factor, streams))
            produced += accepted + 1
        decode_ms = sum(item.round_ms for item in rounds)
        tokens = _text(prompt, limit)
        return base.Generation(
            tokens=tokens,
            margins=(5.0,) * limit if arm.role == "baseline" else None,
            prompt_tokens=self._campaign.settings.context_depth_tokens or _PROMPT_TOKENS,
            prompt_sha256=hashlib.sha256(prompt.encode()).hexdigest()[:16],
            prompt_ms=prompt_ms,
            draft_prompt_ms=draft_prompt_ms,
            ttft_ms=waited_ms,
            wall_ms=decode_ms + waited_ms,
            rounds=tuple(rounds),
            finish="length",
        )

    def _factor(self, factor: float) -> float:
        """Slowdown factor of a round that begins now."""
        slowdown_at = self._rig.slowdown_at
        return factor * slowdown_at(self.clock_ms) if slowdown_at else factor

    def _round(
        self, arm: ArmPlan, drafted: int, accepted: int, factor: float, streams: int
    ) -> base.Round:
        scale = self._factor(factor) * self._rng.lognormvariate(0.0, self._rig.noise)
        if self._rig.disturbance:
            scale *= self._rig.disturbance(self._rng)
        drafts = arm.method.draft is not None
        draft_ms = drafted * self._rig.draft_token_ms * scale if drafts else 0.0
        layers = layers_of(arm, self._campaign.settings)
        verify_ms = self._verify_ms(drafted, streams) * scale
        verify_ms *= self._rig.layers_slowdown.get(layers, 1.0)
        self.clock_ms += draft_ms + verify_ms
        return base.Round(
            drafted=drafted,
            accepted=accepted,
            draft_ms=draft_ms,
            verify_ms=verify_ms,
            round_ms=draft_ms + verify_ms,
            cpu_ms=draft_ms + verify_ms,
        )

    def _verify_ms(self, drafted: int, streams: int = 1) -> float:
        return self._rig.step_ms + (streams * (drafted + 1) - 1) * self._rig.extra_width_ms


def _accepted(chance: random.Random, drafted: int, acceptance: float) -> int:
    for index in range(drafted):
        if chance.random() >= acceptance:
            return index
    return drafted


@lru_cache(maxsize=256)
def _text(prompt: str, count: int) -> tuple[int, ...]:
    """Every arm writes the same text, as greedy decoding should."""
    rng = random.Random(prompt)  # noqa: S311 - fake data
    return tuple(rng.randrange(5, 40_000) for _ in range(count))
