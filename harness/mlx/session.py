"""Answer a campaign's requests with `mlx_lm`: the target stays loaded, drafts load when needed.

Every arm runs through `stream_generate`, the loop that MLX's users run. Reading the prompt yields
the first token, and the loop the others. A baseline decodes in single steps, each queued before the
previous token is returned; an arm with a draft decodes in rounds.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import mlx.core as mx
import mlx_lm
import psutil
from mlx_lm.generate import generation_stream

from harness.campaign.axis_options import recorded
from harness.campaign.context_padding import rendered
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import HarnessError, MachineError
from harness.mlx.draft_rounds import totals
from harness.mlx.model import MlxModel, ReadPrompt, margin, vocabulary_mismatch
from harness.models import thinking
from harness.runners import base, probes
from harness.runners.base import (
    EngineReport,
    FailedError,
    Failure,
    Generation,
    PreparedArm,
    TrialRequest,
    returns_failure,
)
from harness.runners.failures import reason_in
from schemas.codec import token_digest
from schemas.rig import Backend
from schemas.submission import Device, DeviceMemory, Engine, Probes

WARM_UP_OUTPUT_TOKENS = 24
_MIB = 1024 * 1024


class MlxSession:
    """A target in memory and the drafts that its arms use. Not thread-safe."""

    def __init__(self, campaign: Campaign) -> None:
        """Load the target. Raises `HarnessError` if loading fails."""
        self._campaign = campaign
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._target = MlxModel(campaign.target.on_disk)
        self._drafts: dict[str, MlxModel] = {}
        self._with_margins: set[str] = set()
        self._device, self._backend = _device()
        render = partial(self._target.render, thinking=campaign.settings.thinking)
        depth = campaign.settings.context_depth_tokens
        self._prompts = {
            each.id: rendered(each.text, render, depth=depth) for each in campaign.suite.prompts
        }

    def report(self) -> EngineReport:
        settings = self._campaign.settings
        template = self._target.tokenizer.chat_template
        text = template if isinstance(template, str) else None
        conversation = self._target.conversation("", thinking=settings.thinking)
        return EngineReport(
            engine=Engine(
                runner="mlx",
                name="mlx-lm",
                version=mlx_lm.__version__,
                package_version=mx.__version__,  # mlx does the computing, so its version counts
                backend=self._backend,
                devices=(self._device,),
            ),
            settings=replace(
                recorded(settings, "mlx"),
                thinking=thinking.state(text, conversation, asked=settings.thinking),
                chat_template_sha256=hashlib.sha256(text.encode()).hexdigest() if text else None,
            ),
        )

    @returns_failure
    def prepare(self, arm: str) -> PreparedArm:
        began = time.perf_counter()
        self._load_draft(self._arms[arm].method.draft)
        load_s = time.perf_counter() - began
        mx.reset_peak_memory()
        prompt = self._campaign.suite.prompts[0].id
        request = TrialRequest(arm=arm, prompt=prompt, max_output_tokens=WARM_UP_OUTPUT_TOKENS)
        warm_up = self._answer(request)
        peak = DeviceMemory(device=self._device.name, peak_mib=mx.get_peak_memory() // _MIB)
        return PreparedArm(load_s=load_s, warm_up=warm_up, peak_memory=(peak,))

    @returns_failure
    def generate(self, request: TrialRequest) -> Generation:
        return self._answer(request)

    def _answer(self, request: TrialRequest) -> Generation:
        arm, prompt = self._arms[request.arm], self._prompts[request.prompt]
        model = self._drafts.get(arm.method.draft or "")
        began = time.perf_counter()
        try:
            # The draft's prompt processing is part of the request: a user waits for that too.
            draft = model.read(prompt) if model else None
            target = self._target.read(prompt)
            if draft is not None and not (draft.trims() and target.trims()):
                detail = "the models' cache cannot drop rejected tokens (recurrent state)"
                raise FailedError(Failure(reason="rollback-unsupported", detail=detail))
            return self._written(arm, request, target, draft, began)
        except RuntimeError as error:  # raised by MLX for lack of memory and other failures
            detail = " ".join(str(error).split())
            reason = reason_in(detail) or "other"
            raise FailedError(Failure(reason=reason, detail=detail)) from error

    def probe(self) -> Probes:
        prompt = next(iter(self._prompts.values()))
        drafting = []
        for name, model in self._drafts.items():
            draft = model.read(prompt)
            drafting.append(probes.drafting_cost(draft, draft=name, first=draft.first))
            model.forget()
        self._target.forget()  # so that the first trial of every prompt times its reading
        return Probes(drafting=tuple(drafting) or None)

    def step_times(self, widths: Sequence[int]) -> base.StepTimes:
        """Time one step of each width, after the campaign's first prompt. Raises `MachineError`."""
        prompt = next(iter(self._prompts.values()))
        target = self._target.read(prompt)
        if not target.trims():
            raise MachineError(
                f"single steps cannot be timed: the cache is recurrent; {probes.INSTEAD}"
            )
        times = probes.step_times(target, prompt, widths)
        return base.StepTimes(context_tokens=len(prompt), ms=times)

    def close(self) -> None:
        """Do nothing: the end of the process frees the memory."""

    def _load_draft(self, name: str | None) -> None:
        if name is None or name in self._drafts:
            return
        path = next(each.on_disk for each in self._campaign.drafts if each.model.id == name)
        try:
            draft = MlxModel(path)
        except HarnessError as error:
            reason = reason_in(str(error)) or "load-failed"
            raise FailedError(Failure(reason=reason, detail=str(error))) from error
        mismatch = vocabulary_mismatch(self._target, draft)
        if mismatch is not None:
            raise FailedError(Failure(reason="vocabulary-mismatch", detail=mismatch))
        self._drafts[name] = draft

    def _written(
        self,
        arm: ArmPlan,
        request: TrialRequest,
        target: ReadPrompt,
        draft: ReadPrompt | None,
        began: float,
    ) -> Generation:
        with_margins = arm.role == "baseline" and request.prompt not in self._with_margins
        limit, depth = request.max_output_tokens - 1, arm.method.n_max or 0
        decoding = time.perf_counter()
        answers = [
            (each.token, each.from_draft, each.logprobs if with_margins else None)
            for each in self._stream(target, draft, limit, depth)
        ]
        ended = time.perf_counter()
        # The baseline's loop has queued a further step, which must not overlap the next trial.
        mx.synchronize(generation_stream)
        margins = None
        if with_margins:
            self._with_margins.add(request.prompt)
            margins = (target.margin, *(margin(scores) for _, _, scores in answers))
        tokens = (target.first, *(token for token, _, _ in answers))
        drafted = [from_draft for _, from_draft, _ in answers]
        decode_ms = (ended - decoding) * 1000 if answers else 0.0
        waits = [each.prompt_ms for each in (target, draft) if each]
        return Generation(
            tokens=tokens,
            margins=margins,
            prompt_tokens=len(target.prompt),
            prompt_sha256=token_digest(target.prompt),
            prompt_ids=target.prompt,
            prompt_ms=target.prompt_ms,
            draft_prompt_ms=draft.prompt_ms if draft else None,
            ttft_ms=None if None in waits else sum(each or 0.0 for each in waits),
            wall_ms=(ended - began) * 1000,
            rounds=totals(drafted, limit=limit, depth=depth, decode_ms=decode_ms),
            finish="stop" if self._target.is_end(tokens[-1]) else "length",
        )

    def _stream(self, target: ReadPrompt, draft: ReadPrompt | None, limit: int, depth: int) -> Any:  # noqa: ANN401 - responses of `mlx_lm`
        """Stream up to `limit` tokens after the first, in rounds if a draft has read the prompt."""
        if limit < 1 or self._target.is_end(target.first):
            return ()
        speculation: dict[str, Any] = {}
        if draft is not None:
            speculation = {"draft_model": draft.network, "num_draft_tokens": depth}
        return mlx_lm.stream_generate(
            self._target.network,
            self._target.tokenizer,
            [target.first],
            max_tokens=limit,
            prompt_cache=target.cache + (draft.cache if draft else []),
            **speculation,
        )


def _device() -> tuple[Device, Backend]:
    info = mx.device_info()
    on_gpu = mx.default_device().type == mx.gpu
    backend: Backend = "cpu"
    if on_gpu:
        backend = "metal" if mx.metal.is_available() else "cuda"
    device = Device(
        name="GPU0" if on_gpu else "CPU",
        kind="gpu" if on_gpu else "cpu",
        description=info.get("device_name") or None,
        memory_total_mib=int(info.get("memory_size") or psutil.virtual_memory().total) // _MIB,
    )
    return device, backend
