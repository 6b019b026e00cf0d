"""How does llama.cpp answer a campaign's requests? One loaded target, drafts as arms need them.

Baseline and speculation share the loaded target, so that arms can take turns prompt by prompt. The
target keeps the state of a prompt until another one comes, so that a prompt is processed once per
block and not once per arm.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.runners.base import EngineReport, Failure, Generation, PreparedArm, Request
from harness.runners.llama import log, memory, probe
from harness.runners.llama.context import DecodeError, RollbackError
from harness.runners.llama.drafters import NoDrafter
from harness.runners.llama.drafting import Drafting, open_context
from harness.runners.llama.report import engine_report, placement_of
from harness.runners.llama.weights import Weights
from harness.runners.loop import decode
from harness.tokens import token_digest
from schemas.submission import Probes

if TYPE_CHECKING:
    from harness.model import ArmPlan, Campaign
    from harness.runners.loop import Decoded, Drafter

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
        self._target = open_context(self._weights, campaign.settings, outputs=_widest(campaign))
        self._drafting = Drafting(campaign, self._weights)
        self._held_prompt: str | None = None
        self._first: tuple[int, float] = (0, 0.0)
        self._references: dict[tuple[str, int], tuple[int, ...]] = {}

    def report(self) -> EngineReport:
        """What was loaded and how it is set up."""
        return engine_report(self._target, self._campaign)

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Load the arm's draft, if it has one, and discard one generation with it."""
        began = time.perf_counter()
        failure = self._drafting.load(self._arms[arm])
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
            placement=placement_of(self._arms[arm], self._campaign),
            peak_memory=self._memory.in_use(),
        )

    def generate(self, request: Request) -> Generation | Failure:
        """Run one generation."""
        try:
            return self._generate(self._arms[request.arm], request)
        except RollbackError:
            self._forget()
            return Failure(
                reason="rollback-unsupported",
                detail="the model cannot forget rejected tokens (recurrent state)",
            )
        except DecodeError as error:
            self._forget()
            return Failure(reason=log.reason("other"), detail=str(error))

    def probe(self) -> Probes:
        """Measure the verification curve and what each loaded draft costs per token."""
        prompt = next(iter(self._prompts.values()))
        drafting = tuple(
            probe.drafting_cost(context, prompt, draft=draft)
            for draft, context in self._drafting.contexts.items()
        )
        try:
            verification = probe.verification_curve(
                self._target, prompt, widest=_widest(self._campaign)
            )
        except RollbackError:
            verification = None
        self._forget()
        return Probes(verification=verification, drafting=drafting or None)

    def close(self) -> None:
        """Free drafts, context and weights, in this order."""
        self._drafting.close()
        self._target.close()
        self._weights.close()

    def _generate(self, arm: ArmPlan, request: Request) -> Generation:
        prompt = self._prompts[request.prompt]
        limit = request.max_output_tokens
        drafter = self._drafting.drafter(
            arm, prompt, lambda: self._reference(request.prompt, limit)
        )
        began = time.perf_counter()
        prompt_ms = self._begin(request.prompt)
        decoded = self._decode(drafter, prompt, limit, margins=arm.role == "baseline")
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

    def _decode(self, drafter: Drafter, prompt: list[int], limit: int, *, margins: bool) -> Decoded:
        first, margin = self._first
        return decode(
            target=self._target,
            drafter=drafter,
            prompt=prompt,
            first=first,
            first_margin=margin if margins else None,
            max_output_tokens=limit,
        )

    def _begin(self, name: str) -> float | None:
        """Bring the target to the end of a prompt; milliseconds if it had to be processed."""
        prompt = self._prompts[name]
        if self._held_prompt == name and self._target.try_keep(len(prompt)):
            return None
        began = time.perf_counter()
        token = self._target.prefill(prompt)
        spent_ms = (time.perf_counter() - began) * 1000
        self._first = (token, self._target.margins(1)[0])
        self._held_prompt = name
        return spent_ms

    def _reference(self, name: str, limit: int) -> tuple[int, ...]:
        """Prompt and plain answer, for the oracle; generated once per prompt, outside any clock."""
        known = self._references.get((name, limit))
        if known is None:
            prompt = self._prompts[name]
            self._begin(name)
            answer = self._decode(NoDrafter(), prompt, limit, margins=False).tokens
            known = self._references[name, limit] = (*prompt, *answer)
        return known

    def _forget(self) -> None:
        self._target.clear()
        self._held_prompt = None


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
