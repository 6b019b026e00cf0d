"""Load a target and its draft models, each when the first arm needs it, and make drafters."""

from collections.abc import Sequence

from harness.campaign.model import ArmPlan, Campaign, RunSettings
from harness.errors import BadInputError, HarnessError
from harness.runners.base import Failure
from harness.runners.inprocess import log
from harness.runners.inprocess.context import USUAL, Attention, Context
from harness.runners.inprocess.drafters import ModelDrafter, NoDrafter, PromptLookupDrafter
from harness.runners.inprocess.loop import Drafter
from harness.runners.inprocess.prompt_states import PromptStates
from harness.runners.inprocess.scripted import ForcedScript, OracleDrafter, ScriptDrafter
from harness.runners.inprocess.weights import LoadedWeights, vocabulary_mismatch
from schemas.method import Method
from schemas.vocabulary import DEFAULT_RUNNER, METHODS


class Drafting:
    """The draft models of a session, and a new drafter for every generation."""

    def __init__(self, campaign: Campaign, target: LoadedWeights, states: PromptStates) -> None:
        self._drafts = {draft.model.id: draft.on_disk for draft in campaign.drafts}
        self._settings = campaign.settings
        self._seed = campaign.seed
        self._target = target
        self._states = states
        self._loaded: dict[str, tuple[LoadedWeights, Context]] = {}

    def resident_layers(self, arm: ArmPlan) -> int | None:
        """Layers of the arm's draft that are on the GPU, if it has a draft and they are known."""
        loaded = self._loaded.get(arm.method.draft or "")
        return loaded[0].resident_layers if loaded else None

    @property
    def contexts(self) -> dict[str, Context]:
        """The contexts of the drafts that are loaded, by draft id."""
        return {draft: context for draft, (_, context) in self._loaded.items()}

    def load(self, arm: ArmPlan) -> Failure | None:
        """Load the draft that an arm needs, if it needs one; why not, if it cannot be had."""
        method = arm.method
        if method.draft is None or method.draft in self._loaded:
            return None
        try:
            weights = LoadedWeights(
                self._drafts[method.draft], gpu_layers=self._settings.draft_gpu_layers
            )
            mismatch = vocabulary_mismatch(self._target, weights)
            if mismatch is not None:
                weights.close()
                return Failure(reason="vocabulary-mismatch", detail=mismatch)
            context = open_context(weights, self._settings, name=f"draft {method.draft}", outputs=1)
            self._loaded[method.draft] = (weights, context)
        except HarnessError as error:
            return Failure(reason=log.reason("load-failed"), detail=str(error))
        return None

    def drafter(self, arm: ArmPlan, prompt: Sequence[int], reference: Sequence[int]) -> Drafter:
        """A drafter that is ready to follow the prompt.

        `reference` is the baseline's whole text; only instruments read it. Raises
        `BadInputError` for a method that only a server has.
        """
        method, n_max = arm.method, arm.method.n_max or 0
        entry = METHODS[method.type]
        if DEFAULT_RUNNER not in entry.runners:
            message = f"the in-process runner has no method {method.type}; use a server runner"
            raise BadInputError(message)
        if entry.control:
            return NoDrafter()
        if method.acceptance is not None:
            return OracleDrafter(
                reference, n_max=n_max, acceptance=method.acceptance, seed=self._seed
            )
        if method.ngram_min is not None and method.ngram_max is not None:
            return PromptLookupDrafter(
                n_max=n_max, ngram_min=method.ngram_min, ngram_max=method.ngram_max
            )
        script = None
        if method.length is not None:
            script = ForcedScript(reference, n_max=n_max, length=method.length)
            if method.draft is None:
                return ScriptDrafter(script)
        return self._model_drafter(method, prompt, script)

    def _model_drafter(
        self, method: Method, prompt: Sequence[int], script: ForcedScript | None = None
    ) -> "ModelDrafter":
        context = self._loaded[method.draft or ""][1]
        prompt_ms = self._states.ensure_prompt_state(context, prompt).prompt_ms
        return ModelDrafter(
            context, prompt, n_max=method.n_max or 0, prompt_ms=prompt_ms, script=script
        )

    def close(self) -> None:
        """Free contexts, then weights."""
        for weights, context in self._loaded.values():
            self._states.closed(context)
            context.close()
            weights.close()


def open_context(
    weights: LoadedWeights,
    settings: RunSettings,
    *,
    name: str,
    outputs: int,
    attention: Attention = USUAL,
) -> Context:
    """A context as the campaign's settings want it. Raises `MachineError` without memory for it."""
    return Context(
        weights,
        name=name,
        tokens=settings.context_tokens,
        batch_tokens=settings.batch_tokens,
        outputs=outputs,
        threads=settings.threads,
        attention=attention,
    )


def _attention(settings: RunSettings) -> Attention:
    """What the target gets; a draft's context is the usual one, as a server's is by default."""
    return Attention(
        type_k=settings.kv_type_k, type_v=settings.kv_type_v, flash=settings.flash_attention
    )


class Loaded:
    """A target with `gpu_layers` layers on the GPU. Close it before the next one is loaded."""

    def __init__(self, campaign: Campaign, states: PromptStates, *, gpu_layers: int) -> None:
        """Load the target. Raises `HarnessError` when model or context cannot be had."""
        self.gpu_layers = gpu_layers
        self._states = states
        self.weights = LoadedWeights(
            campaign.target.on_disk,
            gpu_layers=gpu_layers,
            split_mode=campaign.settings.split_mode,
        )
        try:
            self.target = open_context(
                self.weights,
                campaign.settings,
                name=f"target at {gpu_layers}",
                outputs=widest(campaign),
                attention=_attention(campaign.settings),
            )
        except HarnessError:
            self.weights.close()
            raise
        self.drafting = Drafting(campaign, self.weights, states)

    def close(self) -> None:
        """Free drafts, context and weights, in this order."""
        self.drafting.close()
        self._states.closed(self.target)
        self.target.close()
        self.weights.close()


def widest(campaign: Campaign) -> int:
    """The most tokens that an arm feeds the target in one step."""
    depths = (arm.method.n_max or 0 for arm in campaign.arms)
    return max(depths, default=0) + 1
