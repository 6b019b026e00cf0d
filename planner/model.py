"""Define what decides a model's memory and speed: its shape, its weights and its load settings."""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import accumulate

import msgspec
from msgspec.structs import asdict, astuple

MIB = 1024 * 1024


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One layer: the widths of its caches, its state per sequence, and the bytes of its weights.

    `k_width` and `v_width` are llama.cpp's `n_embd_k_gqa` and `n_embd_v_gqa`, or 0 if the layer has
    no attention. `window` is the sliding window in tokens. `state_bytes` is the recurrent state of
    one sequence. `expert_bytes` are the weights that `--n-cpu-moe` keeps in host memory.
    """

    k_width: int = 0
    v_width: int = 0
    window: int | None = None
    state_bytes: int = 0
    weight_bytes: float = 0.0
    expert_bytes: float = 0.0


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A model's shape and weights; `None` marks values that are unknown or cannot be derived.

    `layers` are the layers that every token passes. `draft_layers` are the layers of a built-in
    multi-token prediction head, which the engine counts too. `tied` models have one matrix for
    embedding and output, which is loaded twice if the output layer is on a device. `table_bytes`
    are further embeddings, such as those of each layer, which stay in host memory.
    `weights_error` is the share by which the weights may be larger, or `None` if they are a guess.
    """

    name: str
    embedding: int
    vocabulary: int
    layers: tuple[Layer, ...]
    draft_layers: tuple[Layer, ...] = ()
    feed_forward: int | None = None
    heads: int | None = None
    experts: int = 0
    experts_used: int = 0
    expert_feed_forward: int = 0
    embedding_bytes: float = 0.0
    output_bytes: float = 0.0
    table_bytes: float = 0.0
    context_tokens: int | None = None
    architecture: str | None = None
    tied: bool = False
    weights_error: float | None = 0.0

    def __hash__(self) -> int:
        # Hashing every layer would cost more time than the caches keyed by these facts save.
        return hash((self.name, self.embedding_bytes, self.output_bytes))

    @property
    def all_layers(self) -> tuple[Layer, ...]:
        """The layers in the order of their placement; the prediction head's layers come last."""
        return self.layers + self.draft_layers

    @cached_property
    def placed_layers(self) -> int:
        """The number of layers that llama.cpp counts: all layers and the output layer."""
        return len(self.all_layers) + 1

    @cached_property
    def recurrent(self) -> bool:
        """Whether the model has recurrent state, which cannot be cut back to an arbitrary token."""
        return any(layer.state_bytes for layer in self.layers)

    @property
    def mixture(self) -> bool:
        """Whether a token uses only some of the experts."""
        return self.experts > self.experts_used > 0

    @property
    def used_share(self) -> float:
        """The share of a mixture's experts that one token uses, 1 for a dense model."""
        return self.experts_used / self.experts if self.mixture else 1.0

    @property
    def model_bytes(self) -> float:
        """The size of all weights in the file in bytes, including the token embedding."""
        layers = sum(layer.weight_bytes + layer.expert_bytes for layer in self.all_layers)
        return layers + self.matrix_bytes

    @property
    def matrix_bytes(self) -> float:
        """The size in the file of all weights outside the layers."""
        own = 0.0 if self.tied else self.embedding_bytes
        return self.output_bytes + own + self.table_bytes


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A model's load settings. The defaults are llama-server's, with one slot."""

    context: int = 4096
    slots: int = 1
    unified: bool = True
    kv_k: str = "f16"
    kv_v: str = "f16"
    ubatch: int = 512
    rollback_states: int = 0  # copies per sequence that undo rejected tokens
    before_june_2026: bool = False  # a build with larger masks, and logits for every token


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that holds buffers: a device's memory, or main memory.

    `card` is the device's name in the evidence, `gib` its whole size, and `shares` says that it is
    a part of main memory.
    """

    name: str
    free_mib: float
    estimated: bool = False  # the free size is computed from the size of a card
    bandwidth_gb_per_s: float | None = None
    card: str = ""
    gib: float | None = None
    shares: bool = False


class Buffers(msgspec.Struct, kw_only=True):
    """MiB by kind of buffer, on one device or in host memory."""

    model: float = 0.0
    kv: float = 0.0
    recurrent: float = 0.0
    compute: float = 0.0
    draft_model: float = 0.0
    draft_kv: float = 0.0
    draft_recurrent: float = 0.0
    draft_compute: float = 0.0
    output: float = 0.0

    def total(self) -> float:
        return float(sum(astuple(self)))

    def by_kind(self) -> dict[str, float]:
        """MiB by kind of buffer, under the names shown to users."""
        return asdict(self)

    def with_draft(self, draft: "Buffers") -> "Buffers":
        """These and a draft model's buffers, under the kinds that are reserved for drafts."""
        both = self.by_kind()
        for kind, mib in draft.by_kind().items():
            both[f"draft_{kind}" if f"draft_{kind}" in both else kind] += mib
        return Buffers(**both)


class LayerPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """A placement: the last `layers` layers are on devices and divided between them.

    `layers` includes the output layer, as in llama.cpp. The experts of the first `cpu_experts`
    layers stay in host memory. `share` divides the layers between devices.
    """

    layers: int
    cpu_experts: int = 0
    share: tuple[float, ...] = (1.0,)


class LayerSums(msgspec.Struct, frozen=True, kw_only=True):
    """Cumulative sums over layers, so that a difference of two is the sum over a range of layers.

    `dense`, `experts` and `states` are bytes. `caches` has one sample layer for each kind of cache,
    with the cumulative count of such layers. `windows` and `largest_bytes` leave out the prediction
    head's layers.
    """

    dense: tuple[float, ...]
    experts: tuple[float, ...]
    states: tuple[float, ...]
    caches: tuple[tuple[Layer, tuple[float, ...]], ...]
    windows: frozenset[int | None]
    largest_bytes: float


@lru_cache(maxsize=512)
def sums_of(facts: ModelFacts) -> LayerSums:
    """The sums over a model's layers, with the prediction head's layers last; cached per model."""
    layers = facts.all_layers

    def before(values: Iterable[float]) -> tuple[float, ...]:
        return tuple(accumulate(values, initial=0))

    def cache(layer: Layer) -> tuple[int, int, int | None]:
        return layer.k_width, layer.v_width, layer.window

    kinds = {cache(layer): layer for layer in layers if layer.k_width or layer.v_width}
    return LayerSums(
        dense=before(layer.weight_bytes for layer in layers),
        experts=before(layer.expert_bytes for layer in layers),
        states=before(layer.state_bytes for layer in layers),
        caches=tuple(
            (layer, before(cache(each) == kind for each in layers)) for kind, layer in kinds.items()
        ),
        windows=frozenset(layer.window for layer in facts.layers if layer.k_width),
        largest_bytes=max((layer.weight_bytes for layer in facts.layers), default=0.0),
    )
