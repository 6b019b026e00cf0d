"""Load a target, load each of its draft models on first use, and make drafters."""

from collections.abc import Sequence

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError, HarnessError
from harness.runners.inprocess import drafters, engine_log
from harness.runners.inprocess.context import Context, with_default_attention
from harness.runners.inprocess.gguf_model import LoadedWeights
from harness.runners.inprocess.loop import Drafter
from harness.runners.inprocess.prompt_states import PromptStates
from harness.runners.probes import widest
from schemas.vocabulary import DEFAULT_RUNNER, METHODS


class LoadedModels:
    """A target with `gpu_layers` layers on the GPU, and the drafts used so far.

    `drafts` has the drafts' contexts by draft id. Close these models before loading others.
    """

    def __init__(self, campaign: Campaign, states: PromptStates, *, gpu_layers: int) -> None:
        """Load the target. Raises `HarnessError` if model or context cannot be loaded."""
        self.gpu_layers = gpu_layers
        self._campaign = campaign
        self._states = states
        self.drafts: dict[str, Context] = {}
        settings = campaign.settings
        self.weights = LoadedWeights(
            campaign.target.on_disk, gpu_layers=gpu_layers, split_mode=settings.split_mode
        )
        try:
            name = f"target at {gpu_layers}"
            self.target = Context(self.weights, settings, name=name, outputs=widest(campaign))
        except HarnessError:
            self.weights.close()
            raise

    def load_draft(self, arm: ArmPlan) -> None:
        """Load the draft that an arm needs, if any. Raises `FailedError` if that is impossible."""
        draft = arm.method.draft
        if draft is None or draft in self.drafts:
            return
        settings = with_default_attention(self._campaign.settings)
        path = next(model.on_disk for model in self._campaign.drafts if model.model.id == draft)
        try:
            weights = LoadedWeights(path, gpu_layers=settings.draft_gpu_layers)
            self.drafts[draft] = Context(weights, settings, name=f"draft {draft}", outputs=1)
        except HarnessError as error:
            raise engine_log.failed("load-failed", error) from error

    def drafter(self, arm: ArmPlan, prompt: Sequence[int], reference: Sequence[int]) -> Drafter:
        """Return a drafter that is ready to continue the prompt.

        `reference` is the prompt with the baseline's answer, which only test drafters read. Raises
        `BadInputError` for a method that only servers support.
        """
        method, n_max = arm.method, arm.method.n_max or 0
        entry = METHODS[method.type]
        if DEFAULT_RUNNER not in entry.runners:
            raise BadInputError(
                f"the in-process runner does not support the method {method.type}; use a "
                "server runner"
            )
        if entry.control:
            return drafters.NoDrafter()
        if method.acceptance is not None:
            seed = self._campaign.seed
            return drafters.OracleDrafter(
                reference, n_max=n_max, acceptance=method.acceptance, seed=seed
            )
        if method.ngram_min is not None and method.ngram_max is not None:
            return drafters.PromptLookupDrafter(
                n_max=n_max, ngram_min=method.ngram_min, ngram_max=method.ngram_max
            )
        script = None
        if method.length is not None:
            script = drafters.ScriptDrafter(reference, n_max=n_max, length=method.length)
            if method.draft is None:
                return script
        context = self.drafts[method.draft or ""]
        prompt_ms = self._states.ensure_prompt_state(context, prompt).prompt_ms
        return drafters.ModelDrafter(
            context, prompt, n_max=n_max, prompt_ms=prompt_ms, script=script
        )

    def close(self) -> None:
        """Free each context and then its weights; the target comes last."""
        for context in (*self.drafts.values(), self.target):
            self._states.forget(context)
            context.close()
            context.weights.close()
