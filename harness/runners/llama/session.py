"""How does llama.cpp answer a campaign's requests? One loaded target, drafts as arms need them.

Baseline and speculation share the loaded target, so that arms can take turns prompt by prompt. The
target keeps the state of a prompt until another one comes, so that a prompt is processed once per
block and not once per arm.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, assert_never

from harness.errors import BadInputError, HarnessError
from harness.runners.base import EngineReport, Failure, Generation, PreparedArm, Request
from harness.runners.llama import log, memory, probe
from harness.runners.llama.compatibility import vocabulary_mismatch
from harness.runners.llama.context import Context, DecodeError, RollbackError
from harness.runners.llama.drafters import ModelDrafter, NoDrafter, PromptLookupDrafter
from harness.runners.llama.report import engine_report
from harness.runners.llama.weights import Weights
from harness.runners.loop import decode
from harness.tokens import token_digest
from schemas.submission import (
    DraftHead,
    DraftModel,
    EmptyDraft,
    Ngram,
    NoSpeculation,
    Oracle,
    OtherMethod,
    Placement,
    Probes,
    PromptLookup,
)

if TYPE_CHECKING:
    from harness.model import ArmPlan, Campaign
    from harness.runners.loop import Drafter
    from schemas.submission import Reason

WARM_UP_OUTPUT_TOKENS = 24


class LlamaSession:
    """A target in memory and the drafts that its arms use. Not safe to share between threads."""

    def __init__(self, campaign: Campaign) -> None:
        """Load the target. Raises `HarnessError` when model or context cannot be had."""
        log.capture()
        self._campaign = campaign
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._memory = memory.Meter()
        self._weights = Weights(campaign.target.path, gpu_layers=campaign.settings.gpu_layers)
        self._prompts = {p.id: self._weights.render(p.text) for p in campaign.suite.prompts}
        _check_context(self._prompts, campaign)
        self._target = self._context(self._weights, outputs=_widest(campaign))
        self._held_prompt: str | None = None
        self._first: tuple[int, float] = (0, 0.0)
        self._draft_models: dict[str, tuple[Weights, Context]] = {}

    def report(self) -> EngineReport:
        """What was loaded and how it is set up."""
        return engine_report(self._target, self._campaign)

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Load the arm's draft, if it has one, and discard one generation with it."""
        began = time.perf_counter()
        method = self._arms[arm].method
        if isinstance(method, DraftModel):
            failure = self._load_draft(method.draft)
            if failure is not None:
                return failure
        load_s = time.perf_counter() - began
        prompt = self._campaign.suite.prompts[0].id
        warm_up = self.generate(
            Request(arm=arm, prompt=prompt, max_output_tokens=WARM_UP_OUTPUT_TOKENS)
        )
        if isinstance(warm_up, Failure):
            return warm_up
        return PreparedArm(
            load_s=load_s,
            warm_up=warm_up,
            placement=self._placement(self._arms[arm]),
            peak_memory=self._memory.in_use(),
        )

    def generate(self, request: Request) -> Generation | Failure:
        """Run one generation."""
        arm = self._arms[request.arm]
        try:
            return self._generate(arm, request)
        except RollbackError:
            self._forget()
            return Failure(
                reason="rollback-unsupported",
                detail="the model cannot forget rejected tokens (recurrent state)",
            )
        except DecodeError as error:
            self._forget()
            return Failure(reason=_reason("other"), detail=str(error))

    def probe(self) -> Probes:
        """Measure the verification curve and what each loaded draft costs per token."""
        prompt = next(iter(self._prompts.values()))
        widest = min(_widest(self._campaign), len(prompt))
        drafting = tuple(
            probe.drafting_cost(context, prompt, draft=draft)
            for draft, (_, context) in self._draft_models.items()
        )
        self._forget()
        try:
            verification = probe.verification_curve(self._target, prompt, widest=widest)
        except RollbackError:
            verification = None
        self._forget()
        return Probes(verification=verification, drafting=drafting or None)

    def close(self) -> None:
        """Free contexts, then weights."""
        for weights, context in [*self._draft_models.values(), (self._weights, self._target)]:
            context.close()
            weights.close()

    def _generate(self, arm: ArmPlan, request: Request) -> Generation:
        prompt = self._prompts[request.prompt]
        began = time.perf_counter()
        prompt_ms = self._begin(request.prompt, prompt)
        drafter = self._drafter(arm, prompt)
        first, margin = self._first
        decoded = decode(
            target=self._target,
            drafter=drafter,
            prompt=prompt,
            first=first,
            first_margin=margin if arm.role == "baseline" else None,
            max_output_tokens=request.max_output_tokens,
        )
        return Generation(
            tokens=decoded.tokens,
            margins=decoded.margins,
            prompt_tokens=len(prompt),
            prompt_sha256=token_digest(prompt),
            prompt_ms=prompt_ms,
            wall_ms=(time.perf_counter() - began) * 1000,
            rounds=decoded.rounds,
            finish="stop" if self._target.is_end(decoded.tokens[-1]) else "length",
        )

    def _begin(self, name: str, prompt: list[int]) -> float | None:
        """Bring the target to the end of the prompt; milliseconds if it had to be processed."""
        if self._held_prompt == name and self._target.try_keep(len(prompt)):
            return None
        began = time.perf_counter()
        token = self._target.prefill(prompt)
        spent_ms = (time.perf_counter() - began) * 1000
        self._first = (token, self._target.margins(1)[0])
        self._held_prompt = name
        return spent_ms

    def _drafter(self, arm: ArmPlan, prompt: list[int]) -> Drafter:
        method = arm.method
        match method:
            case NoSpeculation() | EmptyDraft():
                return NoDrafter()
            case PromptLookup():
                return PromptLookupDrafter(
                    n_max=method.n_max, ngram_min=method.ngram_min, ngram_max=method.ngram_max
                )
            case DraftModel():
                drafter = self._model_drafter(method)
                drafter.start(prompt)
                return drafter
            case Oracle() | Ngram() | DraftHead() | OtherMethod():
                message = f"the in-process runner has no method {method.type}; use a server runner"
                raise BadInputError(message)
            case _:
                assert_never(method)

    def _model_drafter(self, method: DraftModel) -> ModelDrafter:
        _, context = self._draft_models[method.draft]
        return ModelDrafter(context, n_max=method.n_max)

    def _load_draft(self, draft: str) -> Failure | None:
        if draft in self._draft_models:
            return None
        model = next(item for item in self._campaign.drafts if item.model.id == draft)
        try:
            weights = Weights(model.path, gpu_layers=self._campaign.settings.draft_gpu_layers)
            mismatch = vocabulary_mismatch(self._weights, weights)
            if mismatch is not None:
                weights.close()
                return Failure(reason="vocabulary-mismatch", detail=mismatch)
            self._draft_models[draft] = (weights, self._context(weights, outputs=1))
        except HarnessError as error:
            return Failure(reason=_reason("load-failed"), detail=str(error))
        return None

    def _context(self, weights: Weights, *, outputs: int) -> Context:
        settings = self._campaign.settings
        return Context(
            weights,
            tokens=settings.context_tokens,
            batch_tokens=settings.batch_tokens,
            outputs=outputs,
            threads=settings.threads,
        )

    def _placement(self, arm: ArmPlan) -> Placement:
        settings = self._campaign.settings
        drafts = arm.method.type == "draft-model"
        return Placement(
            target_gpu_layers_requested=settings.gpu_layers,
            draft_gpu_layers_requested=settings.draft_gpu_layers if drafts else None,
        )

    def _forget(self) -> None:
        self._target.clear()
        self._held_prompt = None


def _reason(otherwise: Reason) -> Reason:
    return "out-of-memory" if log.out_of_memory() else otherwise


def _widest(campaign: Campaign) -> int:
    depths = (getattr(arm.method, "n_max", None) or 0 for arm in campaign.arms)
    return max(depths, default=0) + 1


def _check_context(prompts: dict[str, list[int]], campaign: Campaign) -> None:
    longest = max(prompts, key=lambda name: len(prompts[name]))
    settings = campaign.settings
    needed = len(prompts[longest]) + settings.max_output_tokens
    if needed > settings.context_tokens:
        message = (
            f"prompt {longest} and its output take {needed} tokens, but the context holds "
            f"{settings.context_tokens}; raise --context to {needed} or more, or leave it out "
            "with --prompts"
        )
        raise BadInputError(message)
