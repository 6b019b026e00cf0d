"""Define the axes: settings that distinguish results, with names and types as in the format."""

from dataclasses import dataclass
from typing import Literal

FlashAttention = Literal["auto", "on", "off"]
DraftSampling = Literal["greedy", "probabilistic"]
SplitMode = Literal["none", "layer", "row", "tensor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The axes of a request, a run or a file; `None` is the default or an unknown value.

    The context depth is not among them: a command may name several depths, but a result has one.
    """

    temperature: float | None = None
    sampling_seed: int | None = None
    draft_sampling: DraftSampling | None = None
    kv_type_k: str | None = None
    kv_type_v: str | None = None
    flash_attention: FlashAttention | None = None
    cpu_expert_layers: int | None = None
    cpu_ffn_layers: int | None = None
    split_mode: SplitMode | None = None
    server_arguments: tuple[str, ...] | None = None
