"""Answer a campaign's requests with llama.cpp: the target stays loaded, drafts load when needed.

Baseline and speculation share the loaded target, so that arms can alternate prompt by prompt.
Before an arm with a different placement is loaded, everything else is freed.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from harness.campaign.context_padding import rendered
from harness.campaign.model import ArmPlan, Campaign, layers_of
from harness.errors import BadInputError, HarnessError, MachineError
from harness.runners import probes
from harness.runners.base import (
    EngineReport,
    FailedError,
    Failure,
    Generation,
    PreparedArm,
    StepTimes,
    TrialRequest,
    returns_failure,
)
from harness.runners.device_placement import placement_of
from harness.runners.devices import MemoryMeter
from harness.runners.inprocess import engine_log
from harness.runners.inprocess.context import Context, DecodeError, RollbackError
from harness.runners.inprocess.drafters import ModelDrafter, NoDrafter
from harness.runners.inprocess.loaded import LoadedModels
from harness.runners.inprocess.loop import decode
from harness.runners.inprocess.prompt_states import PromptStates
from harness.runners.inprocess.report import engine_report
from schemas.codec import token_digest
from schemas.submission import Probes

WARM_UP_OUTPUT_TOKENS = 24
_NO_ROLLBACK = "the model cannot drop tokens from its context"


class LlamaSession:
    """A target in memory and the drafts that its arms use. Not thread-safe."""

    def __init__(self, campaign: Campaign) -> None:
        """Load the target. Raises `HarnessError` if model or context cannot be loaded."""
        engine_log.capture()
        self._campaign = campaign
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._memory = MemoryMeter()
        self._states = PromptStates()
        self._with_drafts: list[ArmPlan] = []
        self._references: dict[tuple[str, int], tuple[int, ...]] = {}
        layers = campaign.settings.gpu_layers
        self._loaded: LoadedModels | None = LoadedModels(campaign, self._states, gpu_layers=layers)
        render = partial(self._loaded.weights.render, thinking=campaign.settings.thinking)
        depth = campaign.settings.context_depth_tokens
        self._prompts = {
            each.id: rendered(each.text, render, depth=depth) for each in campaign.suite.prompts
        }
        _check_context(self._prompts, campaign)

    def report(self) -> EngineReport:
        return engine_report(self._at(self._campaign.settings.gpu_layers).target, self._campaign)

    @returns_failure
    def prepare(self, arm: str) -> PreparedArm:
        began = time.perf_counter()
        plan = self._arms[arm]
        loaded = self._loaded_for(plan)
        loaded.load_draft(plan)
        if plan not in self._with_drafts:
            self._with_drafts.append(plan)
        load_s = time.perf_counter() - began
        warm_up = self._warm_up(loaded, plan)
        draft = loaded.drafts.get(plan.method.draft or "")
        placement = placement_of(
            plan,
            self._campaign,
            target_layers=loaded.weights.resident_layers,
            draft_layers=draft.weights.resident_layers if draft else None,
        )
        peak = self._memory.in_use()
        return PreparedArm(load_s=load_s, warm_up=warm_up, placement=placement, peak_memory=peak)

    @returns_failure
    def generate(self, request: TrialRequest) -> Generation:
        """Run one generation, after a warm-up if the target was just loaded for it."""
        arm = self._arms[request.arm]
        here = self._loaded
        loaded = self._loaded_for(arm)
        if loaded is not here:
            self._warm_up(loaded, arm)
        return self._answer(loaded, arm, request)

    def cleared_target(self) -> Context:
        """Return the target's context without a text, for a use other than trials."""
        target = self._at(self._campaign.settings.gpu_layers).target
        self._states.forget(target)
        return target

    def probe(self) -> Probes:
        prompt = next(iter(self._prompts.values()))
        loaded = self._at(self._campaign.settings.gpu_layers)
        drafting = []
        for draft, context in loaded.drafts.items():
            first = self._states.ensure_prompt_state(context, prompt).first
            drafting.append(probes.drafting_cost(context, draft=draft, first=first))
            self._states.forget(context)
        # The first trial of every prompt must measure the prompt's time.
        self._states.clear()
        self._states.forget(loaded.target)
        return Probes(drafting=tuple(drafting) or None)

    def step_times(self, widths: Sequence[int]) -> StepTimes:
        """Time one step of each width after the first prompt."""
        prompt = next(iter(self._prompts.values()))
        target = self._at(self._campaign.settings.gpu_layers).target
        self._states.ensure_prompt_state(target, prompt)
        try:
            times = probes.step_times(target, prompt, widths)
        except (RollbackError, DecodeError) as error:
            raise MachineError(
                f"single steps cannot be timed: {str(error) or _NO_ROLLBACK}; {probes.INSTEAD}"
            ) from error
        return StepTimes(context_tokens=len(prompt), ms=times)

    def tokens_of(self, prompt: str) -> tuple[int, ...]:
        return tuple(self._prompts[prompt])

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None

    def _loaded_for(self, arm: ArmPlan) -> LoadedModels:
        try:
            return self._at(layers_of(arm, self._campaign.settings))
        except HarnessError as error:
            raise engine_log.failed("load-failed", error) from error

    def _at(self, gpu_layers: int) -> LoadedModels:
        """Return the models with this many target layers on the GPU, reloading them if necessary.

        The drafts of arms prepared with this many layers are loaded too. Raises `HarnessError`.
        """
        if self._loaded is not None and self._loaded.gpu_layers == gpu_layers:
            return self._loaded
        self.close()
        self._loaded = loaded = LoadedModels(self._campaign, self._states, gpu_layers=gpu_layers)
        for arm in self._with_drafts:
            if layers_of(arm, self._campaign.settings) == gpu_layers:
                with suppress(FailedError):
                    loaded.load_draft(arm)
        return loaded

    def _warm_up(self, loaded: LoadedModels, arm: ArmPlan) -> Generation:
        prompt = self._campaign.suite.prompts[0].id
        request = TrialRequest(arm=arm.id, prompt=prompt, max_output_tokens=WARM_UP_OUTPUT_TOKENS)
        return self._answer(loaded, arm, request)

    def _answer(self, loaded: LoadedModels, arm: ArmPlan, request: TrialRequest) -> Generation:
        try:
            return self._generate(loaded, arm, request)
        except RollbackError as error:
            self._states.forget(loaded.target)
            detail = "the model cannot drop rejected tokens (recurrent state)"
            raise FailedError(Failure(reason="rollback-unsupported", detail=detail)) from error
        except DecodeError as error:
            self._states.forget(loaded.target)
            raise engine_log.failed("other", error) from error

    def _generate(self, loaded: LoadedModels, arm: ArmPlan, request: TrialRequest) -> Generation:
        prompt = self._prompts[request.prompt]
        target = loaded.target
        truth = self._truth(loaded, arm, request)
        began = time.perf_counter()
        # The draft's prompt processing is part of the request: a user waits for that too.
        drafter = loaded.drafter(arm, prompt, truth or ())
        state = self._states.ensure_prompt_state(target, prompt)
        decoded = decode(
            target=target,
            drafter=drafter,
            prompt=prompt,
            first=state.first,
            first_margin=state.margin if arm.role == "baseline" else None,
            max_output_tokens=request.max_output_tokens,
        )
        wall_ms = (time.perf_counter() - began) * 1000
        # The time to the first token is unknown unless every model read the whole prompt.
        readers = (state, drafter) if isinstance(drafter, ModelDrafter) else (state,)
        waits_ms = [each.prompt_ms for each in readers]
        if arm.role == "baseline":
            key = (request.prompt, request.max_output_tokens)
            self._references.setdefault(key, (*prompt, *decoded.tokens))
        return Generation(
            tokens=decoded.tokens,
            margins=decoded.margins,
            prompt_tokens=len(prompt),
            prompt_sha256=token_digest(prompt),
            prompt_ids=tuple(prompt),
            prompt_ms=state.prompt_ms,
            draft_prompt_ms=drafter.prompt_ms if isinstance(drafter, ModelDrafter) else None,
            ttft_ms=None if None in waits_ms else sum(each or 0.0 for each in waits_ms),
            wall_ms=wall_ms,
            rounds=decoded.rounds,
            finish="stop" if target.is_end(decoded.tokens[-1]) else "length",
        )

    def _truth(self, loaded: LoadedModels, arm: ArmPlan, request: TrialRequest) -> tuple[int, ...]:
        """Return the token ids of prompt and baseline answer; empty if the method needs no answer.

        The answer is the baseline's first answer; if there is none yet, it is generated untimed.
        """
        if not arm.method.scripted:
            return ()
        key = (request.prompt, request.max_output_tokens)
        known = self._references.get(key)
        if known is None:
            prompt = self._prompts[request.prompt]
            answer = decode(
                target=loaded.target,
                drafter=NoDrafter(),
                prompt=prompt,
                first=self._states.ensure_prompt_state(loaded.target, prompt).first,
                first_margin=None,
                max_output_tokens=request.max_output_tokens,
            )
            known = self._references[key] = (*prompt, *answer.tokens)
        return known


def _check_context(prompts: dict[str, list[int]], campaign: Campaign) -> None:
    longest = max(prompts, key=lambda name: len(prompts[name]))
    settings = campaign.settings
    needed = len(prompts[longest]) + settings.max_output_tokens
    if needed > settings.context_tokens:
        raise BadInputError(
            f"the prompt {longest} and its output take {needed} tokens, but the context has room "
            f"for {settings.context_tokens}; raise --context to {needed} or more, or leave the "
            "prompt out with --prompts"
        )
