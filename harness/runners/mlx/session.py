"""Answer a campaign's requests with `mlx_lm`: one loaded target, drafts as arms need them.

Every arm runs through `stream_generate`, the loop that users of MLX have. It is given the first
token, which reading the prompt yields, and writes the others: the baseline's in single steps, which
it queues ahead of the ones that it shows, a draft arm's in rounds.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx
import mlx_lm
import psutil
from mlx_lm.generate import generation_stream
from mlx_lm.models.cache import can_trim_prompt_cache

from harness.campaign.axes import recorded
from harness.campaign.filling import filled
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import HarnessError
from harness.machine import energy
from harness.models import thinking
from harness.runners import probes
from harness.runners.base import EngineReport, Failure, Generation, PreparedArm, TrialRequest
from harness.runners.failures import reason_in_log
from harness.runners.mlx.model import MlxModel, Prompted, margin, vocabulary_mismatch
from harness.runners.mlx.rounds import totals
from schemas.codec import token_digest
from schemas.rig import Backend
from schemas.submission import Device, DeviceMemory, Engine, Probes, Settings

WARM_UP_OUTPUT_TOKENS = 24
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The tokens after the first one, whether each was drafted, and how long they took.

    `scores` are the log probabilities at each token, where they were asked for.
    """

    tokens: tuple[int, ...]
    from_draft: tuple[bool, ...]
    decode_ms: float
    scores: tuple[mx.array, ...]


class MlxSession:
    """A target in memory and the drafts that its arms use. Not safe to share between threads."""

    def __init__(self, campaign: Campaign) -> None:
        """Load the target. Raises `HarnessError` when it cannot be had."""
        self._campaign = campaign
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._target = target = MlxModel(campaign.target.on_disk)
        self._drafts: dict[str, MlxModel] = {}
        self._judged: set[str] = set()
        self._device, self._backend = _device()
        self._energy = energy.meter(self._backend)
        asked, depth = campaign.settings.thinking, campaign.settings.context_depth_tokens

        def rendered(text: str) -> list[int]:
            return target.render(text, thinking=asked)

        def shown(text: str) -> str:
            if depth is None:
                return text
            return filled(text, depth=depth, size_of=lambda each: len(rendered(each)))

        self._prompts = {each.id: rendered(shown(each.text)) for each in campaign.suite.prompts}

    def report(self) -> EngineReport:
        return EngineReport(
            engine=Engine(
                runner="mlx",
                name="mlx-lm",
                version=mlx_lm.__version__,
                package_version=mx.__version__,  # mlx, which computes
                backend=self._backend,
                devices=(self._device,),
            ),
            settings=self._settings(),
        )

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Load what the arm needs beyond what is there, and discard one generation with it."""
        began = time.perf_counter()
        plan = self._arms[arm]
        failure = self._load_draft(plan)
        if failure is not None:
            return failure
        load_s = time.perf_counter() - began
        mx.reset_peak_memory()
        warm_up = self.warm_up(arm)
        if isinstance(warm_up, Failure):
            return warm_up
        peak = DeviceMemory(device=self._device.name, peak_mib=mx.get_peak_memory() // _MIB)
        return PreparedArm(load_s=load_s, warm_up=warm_up, peak_memory=(peak,))

    def warm_up(self, arm: str) -> Generation | Failure:
        prompt = self._campaign.suite.prompts[0].id
        request = TrialRequest(arm=arm, prompt=prompt, max_output_tokens=WARM_UP_OUTPUT_TOKENS)
        return self._answer(self._arms[arm], request)

    def generate(self, request: TrialRequest) -> Generation | Failure:
        return self._answer(self._arms[request.arm], request)

    def probe(self) -> Probes:
        """Measure the verification curve and what each loaded draft costs per token."""
        prompt = next(iter(self._prompts.values()))
        drafting = []
        for draft, model in self._drafts.items():
            held = model.hold(prompt)
            drafting.append(probes.drafting_cost(held, draft=draft, first=held.first))
        held = self._target.hold(prompt)
        widest = probes.widest(self._campaign)
        trims = can_trim_prompt_cache(held.cache)
        verification = probes.verification_curve(held, prompt, widest=widest) if trims else None
        # The first trial of every prompt is to say how long the prompt took.
        for model in (self._target, *self._drafts.values()):
            model.forget()
        return Probes(verification=verification, drafting=tuple(drafting) or None)

    def close(self) -> None:
        self._drafts.clear()
        mx.clear_cache()

    def _settings(self) -> Settings:
        settings = self._campaign.settings
        template = self._target.tokenizer.chat_template
        text = template if isinstance(template, str) else None
        conversation = self._target.conversation("", thinking=settings.thinking)
        return replace(
            recorded(settings, "mlx"),
            thinking=thinking.state(text, conversation, asked=settings.thinking),
            chat_template_sha256=hashlib.sha256(text.encode()).hexdigest() if text else None,
            energy_method=self._energy.method,
        )

    def _load_draft(self, arm: ArmPlan) -> Failure | None:
        draft = arm.method.draft
        if draft is None or draft in self._drafts:
            return None
        path = next(each.on_disk for each in self._campaign.drafts if each.model.id == draft)
        try:
            model = MlxModel(path)
        except HarnessError as error:
            reason = reason_in_log(str(error)) or "load-failed"
            return Failure(reason=reason, detail=str(error))
        mismatch = vocabulary_mismatch(self._target, model)
        if mismatch is not None:
            return Failure(reason="vocabulary-mismatch", detail=mismatch)
        self._drafts[draft] = model
        return None

    def _answer(self, arm: ArmPlan, request: TrialRequest) -> Generation | Failure:
        prompt = self._prompts[request.prompt]
        draft = self._drafts.get(arm.method.draft or "")
        began = time.perf_counter()
        try:
            # The draft's work on the prompt belongs to the request: a user waits for it too.
            ahead = draft.hold(prompt) if draft else None
            held = self._target.hold(prompt)
            if ahead is not None and not can_trim_prompt_cache(held.cache + ahead.cache):
                detail = "the model's cache cannot forget rejected tokens"
                return Failure(reason="rollback-unsupported", detail=detail)
            return self._generation(arm, request, held, ahead, began=began)
        except RuntimeError as error:  # what MLX raises, as for memory
            detail = " ".join(str(error).split())
            return Failure(reason=reason_in_log(detail) or "other", detail=detail)

    def _generation(
        self,
        arm: ArmPlan,
        request: TrialRequest,
        held: Prompted,
        ahead: Prompted | None,
        *,
        began: float,
    ) -> Generation:
        judged = arm.role == "baseline" and request.prompt not in self._judged
        limit, depth = request.max_output_tokens - 1, arm.method.n_max or 0
        self._energy.start()
        written = self._write(held, ahead, limit=limit, depth=depth, scored=judged)
        energy_j = self._energy.stop()
        wall_ms = (time.perf_counter() - began) * 1000
        # The baseline's loop has queued one more step, which must not run into the next trial.
        mx.synchronize(generation_stream)
        margins = (held.margin, *map(margin, written.scores)) if judged else None
        for each in (held, ahead):
            if each is not None:
                each.model.release(each)
        if judged:
            self._judged.add(request.prompt)
        tokens = (held.first, *written.tokens)
        return Generation(
            tokens=tokens,
            margins=margins,
            prompt_tokens=len(held.prompt),
            prompt_sha256=token_digest(held.prompt),
            prompt_ms=held.prompt_ms,
            draft_prompt_ms=ahead.prompt_ms if ahead else None,
            ttft_ms=_waited_ms(held, ahead),
            wall_ms=wall_ms,
            rounds=totals(
                written.from_draft, limit=limit, depth=depth, decode_ms=written.decode_ms
            ),
            finish="stop" if self._target.is_end(tokens[-1]) else "length",
            energy_j=energy_j,
        )

    def _write(
        self, held: Prompted, ahead: Prompted | None, *, limit: int, depth: int, scored: bool
    ) -> Written:
        """Write up to `limit` tokens after the first one, with a draft if one holds the prompt."""
        if limit < 1 or self._target.is_end(held.first):
            return Written(tokens=(), from_draft=(), decode_ms=0.0, scores=())
        speculation: dict[str, Any] = {}
        if ahead is not None:
            speculation = {"draft_model": ahead.model.network, "num_draft_tokens": depth}
        began = time.perf_counter()
        stream = mlx_lm.stream_generate(
            self._target.network,
            self._target.tokenizer,
            [held.first],
            max_tokens=limit,
            prompt_cache=held.cache + (ahead.cache if ahead else []),
            **speculation,
        )
        answers = [
            (each.token, each.from_draft, each.logprobs if scored else None) for each in stream
        ]
        decode_ms = (time.perf_counter() - began) * 1000
        tokens, from_draft, scores = zip(*answers, strict=True)
        return Written(
            tokens=tokens,
            from_draft=from_draft,
            decode_ms=decode_ms,
            scores=scores if scored else (),
        )


def _waited_ms(held: Prompted, ahead: Prompted | None) -> float | None:
    """Time until the first token, known where every model read the whole prompt."""
    waited: Sequence[float | None] = [each.prompt_ms for each in (held, ahead) if each]
    return None if None in waited else sum(each or 0.0 for each in waited)


def _device() -> tuple[Device, Backend]:
    """What MLX computes on."""
    info = mx.device_info()
    on_gpu = mx.default_device().type == mx.gpu
    total = info.get("memory_size") or psutil.virtual_memory().total
    backend: Backend = "cpu"
    if on_gpu:
        backend = "metal" if mx.metal.is_available() else "cuda"
    return Device(
        name="GPU0" if on_gpu else "CPU",
        kind="gpu" if on_gpu else "cpu",
        description=info.get("device_name") or None,
        memory_total_mib=int(total) // _MIB,
    ), backend
