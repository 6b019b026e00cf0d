"""What is in memory? The target at one placement, and the drafts that were loaded beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.runners.llama.drafting import Drafting, open_context
from harness.runners.llama.weights import Weights

if TYPE_CHECKING:
    from harness.model import Campaign
    from harness.runners.llama.prompt_states import PromptStates


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
