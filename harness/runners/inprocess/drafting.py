"""Which drafter does an arm get? Draft models are loaded when the first arm needs them."""

from collections.abc import Sequence
from typing import assert_never

from harness.campaign.model import ArmPlan, Campaign, RunSettings
from harness.errors import BadInputError, HarnessError
from harness.runners.base import Failure
from harness.runners.inprocess import log
from harness.runners.inprocess.context import Context
from harness.runners.inprocess.drafters import (
    ModelDrafter,
    NoDrafter,
    OracleDrafter,
    PromptLookupDrafter,
)
from harness.runners.inprocess.loop import Drafter
from harness.runners.inprocess.prompt_states import PromptStates
from harness.runners.inprocess.weights import Weights, vocabulary_mismatch
from schemas.submission import (
    DraftHead,
    DraftModel,
    EmptyDraft,
    Ngram,
    NoSpeculation,
    Oracle,
    OtherMethod,
    PromptLookup,
)


class Drafting:
    """The draft models of a session, and a fresh drafter for every generation."""

    def __init__(self, campaign: Campaign, target: Weights, states: PromptStates) -> None:
        self._drafts = {draft.model.id: draft.on_disk for draft in campaign.drafts}
        self._settings = campaign.settings
        self._seed = campaign.seed
        self._target = target
        self._states = states
        self._loaded: dict[str, tuple[Weights, Context]] = {}

    def resident_layers(self, arm: ArmPlan) -> int | None:
        """Layers of the arm's draft that are on the GPU, if it has a draft and they are known."""
        loaded = self._loaded.get(getattr(arm.method, "draft", None) or "")
        return loaded[0].resident_layers if loaded else None

    @property
    def contexts(self) -> dict[str, Context]:
        """The contexts of the drafts that are loaded, by draft id."""
        return {draft: context for draft, (_, context) in self._loaded.items()}

    def load(self, arm: ArmPlan) -> Failure | None:
        """Load the draft that an arm needs, if it needs one; why not, if it cannot be had."""
        method = arm.method
        if not isinstance(method, DraftModel) or method.draft in self._loaded:
            return None
        try:
            weights = Weights(
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

        `reference` is the baseline's whole text; only the oracle looks at it. Raises
        `BadInputError` for a method that only a server has.
        """
        method = arm.method
        match method:
            case NoSpeculation() | EmptyDraft():
                return NoDrafter()
            case PromptLookup():
                return PromptLookupDrafter(
                    n_max=method.n_max, ngram_min=method.ngram_min, ngram_max=method.ngram_max
                )
            case DraftModel():
                context = self._loaded[method.draft][1]
                self._states.bring(context, prompt)
                return ModelDrafter(context, prompt, n_max=method.n_max)
            case Oracle():
                return OracleDrafter(
                    reference, n_max=method.n_max, acceptance=method.acceptance, seed=self._seed
                )
            case Ngram() | DraftHead() | OtherMethod():
                message = f"the in-process runner has no method {method.type}; use a server runner"
                raise BadInputError(message)
            case _:
                assert_never(method)

    def close(self) -> None:
        """Free contexts, then weights."""
        for weights, context in self._loaded.values():
            self._states.closed(context)
            context.close()
            weights.close()


def open_context(weights: Weights, settings: RunSettings, *, name: str, outputs: int) -> Context:
    """A context as the campaign's settings want it. Raises `MachineError` without memory for it."""
    return Context(
        weights,
        name=name,
        tokens=settings.context_tokens,
        batch_tokens=settings.batch_tokens,
        outputs=outputs,
        threads=settings.threads,
    )


class Loaded:
    """A target with `gpu_layers` layers on the GPU. Close it before the next one is loaded."""

    def __init__(self, campaign: Campaign, states: PromptStates, *, gpu_layers: int) -> None:
        """Load the target. Raises `HarnessError` when model or context cannot be had."""
        self.gpu_layers = gpu_layers
        self._states = states
        self.weights = Weights(campaign.target.on_disk, gpu_layers=gpu_layers)
        try:
            self.target = open_context(
                self.weights,
                campaign.settings,
                name=f"target at {gpu_layers}",
                outputs=widest(campaign),
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
    depths = (getattr(arm.method, "n_max", None) or 0 for arm in campaign.arms)
    return max(depths, default=0) + 1
