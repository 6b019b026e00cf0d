"""Write the page *Will it fit?* and its file: the memory that each model needs on a card.

`answers` plans every model entirely on the card, for each quantisation, cache type and draft. The
needs for weights, cache, compute and draft add up, so the file has each of them once and the page
adds four numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from operator import attrgetter
from typing import Self

import duckdb
import orjson

from answers import placement, shapes
from answers.catalog import family_of
from answers.listed import model_label
from answers.model import LayerPlacement, Memory, ModelFacts, Setting
from answers.model_names import quantisation_of
from answers.rates import Rate
from pipeline.site.pages import answer_pages, learned_file
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped

PATH = "assets/fits.json"
FORMAT, VERSION = "draftmap-fits", 1
DEFAULT_QUANTISATION, DEFAULT_CONTEXT, DEFAULT_MEMORY, DEFAULT_RAM = "Q4_K_M", 8192, 12, 32
DEFAULT_MODEL = "qwen3-14b"
QUANTISATIONS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "MXFP4", "IQ4_XS", "Q3_K_M", "Q2_K")
CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
KV_TYPES = ("f16", "q8_0", "q4_0")
# The page's name of a way to draft, and the arguments of `plan` for this way.
NO_DRAFT, OWN_HEAD, SMALL_MODEL = "none", "head", "model"
DRAFT_QUANTISATION = "Q8_0"
SHOWN_MEMORIES = (4, 8, 12, 16, 24, 32, 48)
HEAD_DEPTH = 3
# A draft model shares the target's vocabulary, so it is of the same family and much smaller.
MUCH_SMALLER = 6
GIB = 1024.0


def fits(
    connection: duckdb.DuckDBPyConnection, site: Site, rates: tuple[Rate, ...]
) -> Iterator[Page | Asset]:
    """Yield the page, its data file, and the file of what the planner learned from results."""
    errors = learned_file.errors_of(rates, learned_file.memory_used(connection))
    needs = site.cache.get_or_make("needs", lambda: orjson.dumps(document()))
    yield Asset(path=PATH, data=needs)
    yield Asset(path=learned_file.PATH, data=learned_file.learned_file(connection, rates, errors))
    yield render(
        "fits.md.jinja",
        path="will-it-fit.md",
        site=site,
        answers_folder=answer_pages.FOLDER,
        needs_path=PATH,
        families=families(),
        quantisations=QUANTISATIONS,
        contexts=CONTEXTS,
        kv_types=KV_TYPES,
        defaults=(
            DEFAULT_QUANTISATION,
            DEFAULT_CONTEXT,
            DEFAULT_MEMORY,
            DEFAULT_MODEL,
            DEFAULT_RAM,
        ),
        memories=SHOWN_MEMORIES,
        lines=orjson.loads(site.cache.get_or_make("fits", lambda: orjson.dumps(lines()))),
        own_errors=tuple(learned_file.own_errors(errors)),
        learned_path=learned_file.PATH,
    )


@cache
def document() -> Mapping[str, object]:
    """The memory of each model on a card, in MiB. This memory does not depend on results."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "quantisations": QUANTISATIONS,
        "contexts": CONTEXTS,
        "kv": KV_TYPES,
        "models": tuple(map(needs, shapes.shapes())),
    }


def needs(shape: shapes.ShapeRow) -> Mapping[str, object]:
    """A model's memory needs: weights by quantisation, cache by its type and context, and so on.

    For each draft, `mib` is the memory it adds, by cache type and context. `margin` is, by
    quantisation, the memory to leave free or the possible error of these figures, whichever is
    larger.
    """
    drafts = {NO_DRAFT: "none"}
    if shape.head_layers:
        drafts[OWN_HEAD] = "mtp"
    if (small := draft_of(shape)) is not None:
        drafts[SMALL_MODEL] = f"{small.name}:{DRAFT_QUANTISATION}"
    alone = {
        (kv, context): _Parts.of(load(shape, context=context, kv=kv))
        for kv in KV_TYPES
        for context in CONTEXTS
    }
    return {
        "id": shape.name,
        "label": model_label(shape.name),
        "longest": shape.context_tokens or placement.LONGEST_CONTEXT,
        "weights": [_Parts.of(load(shape, quantisation=each)).weights for each in QUANTISATIONS],
        "cache": [[alone[kv, context].cache for context in CONTEXTS] for kv in KV_TYPES],
        "compute": [alone[KV_TYPES[0], context].compute for context in CONTEXTS],
        "drafts": {
            draft: {"name": name, **_draft_needs(shape, draft, alone)}
            for draft, name in drafts.items()
        },
    }


def _draft_needs(
    shape: shapes.ShapeRow, draft: str, alone: Mapping[tuple[str, int], "_Parts"]
) -> Mapping[str, object]:
    """The memory that a draft adds to the needs of the model alone, and the margin with it."""

    def added(kv: str, context: int) -> int:
        together = _Parts.of(load(shape, context=context, kv=kv, draft=draft))
        return together.besides(alone[kv, context])

    margins = (_Parts.of(load(shape, quantisation=q, draft=draft)).margin for q in QUANTISATIONS)
    return {
        "mib": [[added(kv, context) for context in CONTEXTS] for kv in KV_TYPES],
        "margin": list(margins),
    }


@dataclass(frozen=True, slots=True)
class _Parts:
    """The memory for a whole model on a card, in whole MiB; `cache` includes recurrent states."""

    weights: int
    cache: int
    compute: int
    draft: int
    margin: int

    @classmethod
    def of(cls, case: placement.LoadPlan) -> Self:
        whole = LayerPlacement(layers=case.target.placed_layers)
        found = placement.project(case, whole)
        (on_card,), (need,) = found.devices, found.devices_need
        draft = sum(mib for kind, mib in on_card.by_kind().items() if kind.startswith("draft_"))
        return cls(
            weights=ceil(on_card.model),
            cache=ceil(on_card.kv + on_card.recurrent),
            compute=ceil(on_card.compute),
            draft=ceil(draft),
            margin=ceil(need - on_card.total()),
        )

    def besides(self, alone: Self) -> int:
        """The memory that a draft adds: its buffers, and saved states to undo rejected tokens."""
        return self.draft + self.cache - alone.cache


def load(
    shape: shapes.ShapeRow,
    *,
    quantisation: str = DEFAULT_QUANTISATION,
    context: int = DEFAULT_CONTEXT,
    kv: str = KV_TYPES[0],
    draft: str = NO_DRAFT,
    card_gib: float = 0.0,
) -> placement.LoadPlan:
    """A load plan for a model on one card, as in `plan`; the needs do not depend on its size."""
    facts = facts_in(shape, quantisation)
    head = draft == OWN_HEAD
    copies = HEAD_DEPTH if head and facts.recurrent else 0
    small = draft_of(shape) if draft == SMALL_MODEL else None
    return placement.LoadPlan(
        target=facts,
        setting=Setting(context=context, kv_k=kv, kv_v=kv, rollback_states=copies),
        devices=(Memory(name="card", free_mib=placement.free_of(card_gib * GIB)),),
        host=Memory(name="host", free_mib=DEFAULT_RAM * GIB - placement.SYSTEM_MIB),
        uses_head=head,
        draft=placement.Draft(facts=facts_in(small, DRAFT_QUANTISATION)) if small else None,
    )


@cache
def draft_of(shape: shapes.ShapeRow) -> shapes.ShapeRow | None:
    """The smallest model of the family, if it is small enough to draft for this target."""
    same = [other for other in shapes.shapes() if family_of(other.name) == family_of(shape.name)]
    least = min(same, key=attrgetter("parameters"))
    return least if least.parameters * MUCH_SMALLER <= shape.parameters else None


def families() -> Mapping[str, tuple[tuple[str, str], ...]]:
    labelled = [(shape.name, model_label(shape.name)) for shape in shapes.shapes()]
    return grouped(
        labelled,
        lambda each: each[1] if family_of(each[0]) == each[0] else each[1].rpartition(" ")[0],
    )


def lines() -> tuple[tuple[str, str, tuple[tuple[int, int, placement.Extent], ...]], ...]:
    """The page's table: for each model and card size, layers on the card, all layers, and `Extent`.

    For a mixture with experts in main memory, the first number is negative: minus the number of
    layers whose experts are there.
    """
    found = []
    for shape in shapes.shapes():
        facts = facts_in(shape, DEFAULT_QUANTISATION)
        row = []
        for gib in SHOWN_MEMORIES:
            best = placement.fit(load(shape, card_gib=gib))
            experts = best.placement.cpu_experts
            layers = best.placement.layers if not (facts.mixture and experts) else -experts
            row.append((layers, facts.placed_layers, best.extent))
        found.append((shape.name, model_label(shape.name), tuple(row)))
    return tuple(found)


@cache
def facts_in(shape: shapes.ShapeRow, quantisation: str) -> ModelFacts:
    """A model's `ModelFacts` in this quantisation, including a built-in head if it has one."""
    return shapes.facts_of(shape, quantisation_of(quantisation), with_head=shape.head_layers > 0)
