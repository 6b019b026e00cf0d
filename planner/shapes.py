"""Derive a model's shape and weights from its name and quantisation, without its file.

`shapes.csv` has a row for each model; an empty cell means the default of `ShapeRow`. The rows were
written from the models' published configurations. Their parameter counts were compared with the
stated sizes, and their caches and embeddings with public logs where available. `gemma-4-12b` is
assumed to be like `gemma-3-12b`, except for the widths of its KV cache, which are from a public
log. If the file is present, its header takes precedence over the table.
"""

import re
from functools import cache

import msgspec
from msgspec.structs import replace

from planner.memory import state_bytes
from planner.model import Layer, ModelFacts
from planner.model_names import Quantisation, table

_BITS = 8
_TABLE_BITS = 4.5  # a table of embeddings has IQ4_NL even in files of fewer bits
_GATE_UP_DOWN = 3
# A `_M` mixture gives the wider matrices of some layers two more bits, a tenth of the layer's
# bytes.
_MORE_BITS = 1.12
# The quantisation assumed for splitting known bytes between layers if the real one is unknown.
_USUAL = Quantisation(name="Q4_K_M", body=4.8, embedding=4.5, output=6.5625)
# The text columns; the cells of all other columns are numbers or `true` and `false`.
_TEXT = ("name", "match", "architecture")


class ShapeRow(msgspec.Struct, frozen=True, kw_only=True):
    """The dimensions in a model's configuration.

    `match` is a pattern for the model's slug; the first row that matches counts. `error` is the
    share by which the weights may exceed the estimate. `full_every`: one in this many layers
    attends to the whole context. The others have a sliding `window`, or a recurrent state if
    `d_inner` is given. `tied`: one matrix is both embedding and output. `gated`: attention has a
    gate as wide as its queries. `head_layers`: layers of a built-in multi-token prediction head, in
    files that contain it. `context_tokens`: the longest context that the newest model of this shape
    was trained for. `table_weights`: the number of further embeddings, such as those of each layer.
    `expert_bits`: the bits per weight of experts, if they are the same in all files. `basis`: what
    an estimated shape is based on.
    """

    name: str
    match: str
    architecture: str
    layers: int
    embedding: int
    feed_forward: int
    heads: int
    head_size: int
    kv_heads: int
    vocabulary: int
    tied: bool
    experts: int = 0
    experts_used: int = 0
    expert_feed_forward: int = 0
    shared_feed_forward: int = 0
    full_every: int = 1
    full_kv_width: int | None = None
    window: int | None = None
    d_conv: int = 0
    d_inner: int = 0
    d_state: int = 0
    groups: int = 0
    gated: bool = False
    head_layers: int = 0
    context_tokens: int | None = None
    table_weights: int = 0
    expert_bits: float | None = None
    error: float = 0.0
    basis: str = ""

    @property
    def parameters(self) -> int:
        """The number of all weights, without a prediction head and further embeddings."""
        matrices = self.vocabulary * self.embedding * (1 if self.tied else 2)
        return matrices + sum(_dense(self, index) + _experts(self) for index in range(self.layers))


@cache
def stated_bytes(slug: str, quantisation: str) -> int | None:
    """The published size of a model's file that the shape alone would miss, or `None`."""
    wanted = (slug, quantisation.removeprefix("UD-"))
    rows = table("file_sizes.csv", ("model", "quantisation", "source"))
    sizes = {(row["model"], row["quantisation"]): int(row["bytes"]) for row in rows}
    return sizes.get(wanted)


@cache
def shape_of(slug: str) -> ShapeRow | None:
    """The shape of the model with this slug; `None` if it is not in the table."""
    return next((row for row in shapes() if re.search(rf"(?:{row.match})(?![a-z0-9])", slug)), None)


def facts_of(
    shape: ShapeRow,
    quantisation: Quantisation | None,
    *,
    file_bytes: float | None = None,
    with_head: bool = False,
) -> ModelFacts:
    """A model's layers and weights, computed from its shape."""
    bits = quantisation or _USUAL
    count = shape.layers + (shape.head_layers if with_head else 0)
    layers = tuple(_layer(shape, index, bits) for index in range(count))
    matrix = shape.vocabulary * shape.embedding / _BITS
    table_bits = max(_TABLE_BITS, bits.embedding)
    facts = ModelFacts(
        name=shape.name,
        architecture=shape.architecture,
        embedding=shape.embedding,
        vocabulary=shape.vocabulary,
        layers=layers[: shape.layers],
        draft_layers=layers[shape.layers :],
        feed_forward=shape.feed_forward or None,
        heads=shape.heads,
        experts=shape.experts,
        experts_used=shape.experts_used,
        expert_feed_forward=shape.expert_feed_forward,
        embedding_bytes=matrix * (bits.output if shape.tied else bits.embedding),
        output_bytes=matrix * bits.output,
        table_bytes=shape.table_weights / _BITS * (bits.output if shape.tied else table_bits),
        tied=shape.tied,
        context_tokens=shape.context_tokens,
        weights_error=None if quantisation is None else quantisation.error + shape.error,
    )
    return facts if file_bytes is None else scaled(facts, file_bytes=file_bytes)


def scaled(facts: ModelFacts, *, file_bytes: float) -> ModelFacts:
    """Scale the layers so that all weights together take the known number of bytes."""
    body = sum(layer.weight_bytes + layer.expert_bytes for layer in facts.all_layers)
    factor = (file_bytes - facts.matrix_bytes) / body
    layers = tuple(
        replace(
            layer,
            weight_bytes=layer.weight_bytes * factor,
            expert_bytes=layer.expert_bytes * factor,
        )
        for layer in facts.all_layers
    )
    own = len(facts.layers)
    return replace(facts, layers=layers[:own], draft_layers=layers[own:], weights_error=0.0)


def _more_bits(index: int, count: int) -> bool:
    """Whether a mixed quantisation gives a layer more bits (`use_more_bits` in llama.cpp)."""
    eighth = count // 8
    return index < eighth or index >= 7 * count // 8 or (index - eighth) % 3 == 2  # noqa: PLR2004


def _layer(shape: ShapeRow, index: int, bits: Quantisation) -> Layer:
    recurrent = _is_recurrent(shape, index)
    full = _is_full(shape, index)
    width = 0 if recurrent else shape.kv_heads * shape.head_size
    if full and shape.full_kv_width is not None:
        width = shape.full_kv_width
    weight = _MORE_BITS if _more_bits(index, shape.layers) else 2 - _MORE_BITS
    body = bits.body / _BITS
    return Layer(
        k_width=width,
        v_width=width,
        window=shape.window if not full and not recurrent else None,
        state_bytes=state_bytes(
            d_conv=shape.d_conv, d_inner=shape.d_inner, d_state=shape.d_state, groups=shape.groups
        )
        if recurrent
        else 0,
        weight_bytes=_dense(shape, index) * body * (weight if not shape.experts else 1),
        expert_bytes=_experts(shape) * (shape.expert_bits or bits.body) / _BITS,
    )


def _is_full(shape: ShapeRow, index: int) -> bool:
    return index >= shape.layers or (index + 1) % shape.full_every == 0


def _is_recurrent(shape: ShapeRow, index: int) -> bool:
    return shape.d_inner > 0 and not _is_full(shape, index)


def _dense(shape: ShapeRow, index: int) -> int:
    """The number of a layer's weights that every token uses."""
    feed = _GATE_UP_DOWN * shape.embedding * (shape.feed_forward + shape.shared_feed_forward)
    router = shape.embedding * shape.experts
    joined = 2 * shape.embedding**2 if index >= shape.layers else 0
    return feed + router + joined + _mixer(shape, index)


def _mixer(shape: ShapeRow, index: int) -> int:
    """The number of weights in a layer's attention, or in the recurrent block that replaces it."""
    if _is_recurrent(shape, index):
        inner = shape.d_inner
        groups = 2 * shape.groups * shape.d_state
        return shape.embedding * (3 * inner + groups)
    queries = shape.heads * shape.head_size
    keys = 2 * shape.kv_heads * shape.head_size
    return shape.embedding * (queries * (3 if shape.gated else 2) + keys)


def _experts(shape: ShapeRow) -> int:
    return _GATE_UP_DOWN * shape.experts * shape.embedding * shape.expert_feed_forward


@cache
def shapes() -> tuple[ShapeRow, ...]:
    return tuple(ShapeRow(**row) for row in table("shapes.csv", _TEXT))
