"""Sum over the layers of a model once, so that placements are cheap to compute."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate

import msgspec

from answers.model import Layer, ModelFacts


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
