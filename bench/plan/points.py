"""Read the memory measurements: each point is a model, its setting and its logged buffers."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from planner.memory import state_bytes
from planner.model import Layer, ModelFacts, Setting
from planner.model_names import quantisation_of
from planner.names import read_model
from planner.shapes import facts_of, scaled, shape_of

POINTS = Path(__file__).with_name("memory_points.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arch:
    """The counts and widths that an engine logs about a model, under the engine's names."""

    kv_layers: int = 0
    swa_layers: int = 0
    rs_layers: int = 0
    k_gqa: int = 0
    v_gqa: int = 0
    swa_k_gqa: int = 0
    swa_v_gqa: int = 0
    n_swa: int | None = None
    d_conv: int = 1
    d_inner: int = 0
    d_state: int = 0
    n_group: int = 0
    n_embd: int = 0
    n_vocab: int = 0
    n_ff: int | None = None
    n_head: int | None = None
    n_expert: int = 0
    n_expert_used: int = 0
    n_ff_exp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A loaded model, its setting and the memory it used.

    `gpu_layers` is `None` if the engine chose `chosen_layers` itself to fit into `free_mib`.
    `device_mib` and `host_mib` are logged buffers by kind, `total_mib` is the total memory used on
    a device. `older_mib` is additional memory that older builds reserve, which "fits" must allow
    for. If `held_out` is true, the formulas were written without this point.
    """

    id: str
    model: str
    source: str
    quant: str = ""
    engine: str = ""
    device: str | None = None
    file_bytes: float | None = None
    setting: Setting = field(default_factory=Setting)
    has_head: bool = False
    drafts_with_head: bool = False
    gpu_layers: int | None = None
    free_mib: float = 1e9
    chosen_layers: int | None = None
    arch: Arch | None = None
    device_mib: dict[str, float] = field(default_factory=dict)
    host_mib: dict[str, float] = field(default_factory=dict)
    older_mib: dict[str, float] = field(default_factory=dict)
    total_mib: float | None = None
    held_out: bool = False

    @property
    def origin(self) -> str:
        """The publisher of the log; all points of one origin are left out together."""
        return re.split(r"[:#,§]", self.source)[0]


class UnknownShapeError(ValueError):
    """A point that cannot be planned; the message names what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointList:
    """A list of points and a note on their sources."""

    note: str
    points: tuple[Point, ...]


def listed_points(file: Path = POINTS) -> tuple[Point, ...]:
    """Read the points from `memory_points.json`, or from a different file in the same format."""
    return msgspec.json.decode(file.read_bytes(), type=PointList).points


def facts_behind(point: Point) -> ModelFacts:
    """Return the facts about a point's model, from the table of shapes, from the log, or from both.

    Raises `UnknownShapeError` if neither describes the model's layers.
    """
    shape, bits = shape_of(read_model(point.model).slug), quantisation_of(point.quant)
    arch = point.arch
    if shape is None:
        if arch is None or not _layers(arch):
            raise UnknownShapeError(
                f"the shape of {point.model!r} is unknown: add `arch` with its layers"
            )
        return _bare_facts(point, arch)
    facts = facts_of(shape, bits, file_bytes=point.file_bytes, with_head=point.has_head)
    facts = replace(facts, name=point.model)
    if arch is None:
        return facts
    layers = _layers(arch)
    if len(layers) != len(facts.layers):
        return replace(facts, layers=layers, draft_layers=())
    merged = tuple(
        replace(mine, weight_bytes=old.weight_bytes, expert_bytes=old.expert_bytes)
        for mine, old in zip(layers, facts.layers, strict=True)
    )
    head = (replace(x, k_width=arch.k_gqa, v_width=arch.v_gqa) for x in facts.draft_layers)
    return replace(
        facts,
        layers=merged,
        draft_layers=tuple(head),
        embedding=arch.n_embd or facts.embedding,
        vocabulary=arch.n_vocab or facts.vocabulary,
    )


def _bare_facts(point: Point, arch: Arch) -> ModelFacts:
    """Build a model's `ModelFacts` from the log, because the table of shapes lacks the model."""
    known = point.file_bytes is not None
    weight = 1.0 if known else 0.0  # equal layers, later scaled to the file size
    layers = (replace(x, weight_bytes=weight) for x in _layers(arch))
    head = Layer(k_width=arch.k_gqa, v_width=arch.v_gqa, weight_bytes=weight)
    bits = quantisation_of(point.quant) or quantisation_of("Q4_K_M") if known else None
    matrix = arch.n_vocab * arch.n_embd / 8
    facts = ModelFacts(
        name=point.model,
        embedding=arch.n_embd,
        vocabulary=arch.n_vocab,
        layers=tuple(layers),
        draft_layers=(head,) if point.has_head else (),
        feed_forward=arch.n_ff,
        heads=arch.n_head,
        experts=arch.n_expert,
        experts_used=arch.n_expert_used,
        expert_feed_forward=arch.n_ff_exp,
        embedding_bytes=matrix * bits.embedding if bits else 0.0,
        output_bytes=matrix * bits.output if bits else 0.0,
        weights_error=None,
    )
    return facts if point.file_bytes is None else scaled(facts, file_bytes=point.file_bytes)


def _layers(arch: Arch) -> tuple[Layer, ...]:
    """The layers in order, with full-attention layers at regular intervals."""
    total = arch.kv_layers + arch.swa_layers + arch.rs_layers
    every = max(1, round(total / arch.kv_layers)) if arch.kv_layers else total + 1
    kinds = {
        "full": Layer(k_width=arch.k_gqa, v_width=arch.v_gqa),
        "window": Layer(
            k_width=arch.swa_k_gqa or arch.k_gqa,
            v_width=arch.swa_v_gqa or arch.v_gqa,
            window=arch.n_swa,
        ),
        "state": Layer(
            state_bytes=state_bytes(
                d_conv=arch.d_conv, d_inner=arch.d_inner, d_state=arch.d_state, groups=arch.n_group
            )
        ),
    }
    left = {"full": arch.kv_layers, "window": arch.swa_layers, "state": arch.rs_layers}
    order = []
    for index in range(total):
        kind = "full" if (index + 1) % every == 0 and left["full"] else None
        kind = kind or max(("window", "state"), key=lambda name: left[name])
        kind = kind if left[kind] else "full"
        left[kind] -= 1
        order.append(kinds[kind])
    return tuple(order)
