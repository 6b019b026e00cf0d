"""Estimate the shapes of models outside the table from their numbers of parameters.

The number of parameters is in `sizes.csv` or, for models that it does not list, in the name
(`foo-7b`, `bar-30b-a3b`, `baz-e2b`). The rules are fitted to the rows of `shapes.csv`: the width
and the number of layers are powers of the number of parameters and agree with the rows within 20 %,
and the number of KV heads is the usual one. The feed-forward width is chosen so that all layers
together have the stated number of parameters.
"""

import math
import re
from functools import cache

import msgspec
from msgspec.structs import replace

from planner.model_names import table
from planner.shapes import ShapeRow, shape_of

# "7B" may be 6.5 or 7.6 billion; a number from a table is more exact.
_NAME_ERROR, _TABLE_ERROR = 0.15, 0.08
_SIZE = re.compile(r"(?:^|-)(e?)(\d+(?:\.\d+)?)([bm])(?:-a(\d+(?:\.\d+)?)b)?(?=-|$)")
# The names of heads and adapters in separate files do not state their size.
_NO_MODEL = re.compile(r"eagle|dflash|dspark|medusa|assistant|speculator|draft|lora|mmproj")
_VOCABULARY, _HEAD, _STEP = 151_936, 128, 128  # medians of the rows, and the step between widths
# For dense models and for mixtures: a, b, c and d of width = a * billions ** b and of layers = c *
# billions ** d, the width of a layer's keys, and the width of its queries over the model's width.
_DENSE, _MIXTURE = (1491, 0.415, 23.1, 0.244, 1024, 1), (1527, 0.131, 10.1, 0.352, 512, 2)
_TIED_BELOW = 4  # billions; most models below this size have one matrix for embedding and output
_EXPERTS = 256
ESTIMATED = "unknown"  # the architecture of an estimated shape
_TEXT = ("name", "match", "source")


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """A model's total and active parameters, in billions, and what else is known of its shape.

    `table_b` are further embeddings, such as those of each layer; Gemma's models have them, and one
    matrix for embedding and output.
    """

    name: str
    parameters_b: float
    active_b: float | None = None
    layers: int | None = None
    embedding: int | None = None
    kv_width: int | None = None
    head_layers: int = 0
    table_b: float = 0.0
    source: str = ""
    match: str = ""

    @property
    def stated(self) -> str:
        """The numbers of parameters and where they are stated."""
        size = f"{self.parameters_b:g}B" + (f"-A{self.active_b:g}B" if self.active_b else "")
        return f"{size} ({self.source})" if self.match else f"the {size} in its name"


def shape_named(slug: str) -> ShapeRow | None:
    """The shape of a model from the table, else estimated from its size; `None` if unknown."""
    found = shape_of(slug)
    if found is not None:
        return found
    size = size_of(slug)
    return None if size is None else _shape(size)


def is_head(slug: str) -> bool:
    """Whether a slug names a draft head or other component, not a model of the size in its name."""
    return _NO_MODEL.search(slug) is not None


@cache
def size_of(slug: str) -> Size | None:
    """A model's size from `sizes.csv`, else from its slug; `None` if neither states it."""
    if is_head(slug):
        return None
    for listed in _sizes():
        if re.search(listed.match, slug):
            return replace(listed, name=slug)
    found = [*_SIZE.finditer(slug)]
    if len(found) != 1:  # "a-3b or b-125m" states no size
        return None
    _, number, unit, active_b = found[0].groups()
    billions = float(number) / (1000 if unit == "m" else 1)
    active = float(active_b) if active_b else None
    return Size(name=slug, parameters_b=billions, active_b=active) if billions else None


@cache
def _sizes() -> tuple[Size, ...]:
    return tuple(Size(**row) for row in table("sizes.csv", _TEXT))


def _shape(size: Size) -> ShapeRow:
    a, b, c, d, usual_kv, queries = _DENSE if size.active_b is None else _MIXTURE
    width = a * math.pow(size.parameters_b, b)
    embedding = size.embedding or max(1, round(width / _STEP)) * _STEP
    layers = size.layers or max(1, round(c * math.pow(size.parameters_b, d)))
    kv_width = size.kv_width or int(usual_kv)
    head = kv_width // (kv_heads := max(1, kv_width // _HEAD))
    heads = max(1, round(queries * embedding / head))
    parameters, tied = size.parameters_b * 1e9, size.parameters_b < _TIED_BELOW or size.table_b > 0
    ends = 1 if tied else 2
    vocabulary = min(_VOCABULARY, int(parameters / (2 * ends * embedding)))
    attention = layers * embedding * 2 * head * (heads + kv_heads)
    body = parameters - ends * vocabulary * embedding - attention
    shape = ShapeRow(
        name=size.name,
        match="",
        architecture=ESTIMATED,
        layers=layers,
        embedding=embedding,
        feed_forward=max(1, round(body / (3 * layers * embedding))),
        heads=heads,
        head_size=head,
        kv_heads=kv_heads,
        vocabulary=vocabulary,
        tied=tied,
        head_layers=size.head_layers,
        table_weights=int(size.table_b * 1e9),
        error=_TABLE_ERROR if size.match else _NAME_ERROR,
        basis=f"{size.name} is not in our table of shapes; the plan is based on {size.stated}",
    )
    if size.active_b is None:
        return shape
    active = size.active_b * 1e9 - vocabulary * embedding - attention
    return replace(
        shape,
        feed_forward=0,
        experts=_EXPERTS,
        experts_used=min(_EXPERTS - 1, max(1, round(_EXPERTS * active / body))),
        expert_feed_forward=max(1, round(body / (3 * layers * _EXPERTS * embedding))),
    )
