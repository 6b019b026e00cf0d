"""Write the page *Will it fit?* and its file: the memory that each model needs on a card.

`answers` plans every model entirely on the card, for each quantisation, cache type and draft. The
needs for weights, cache, compute and draft add up, so the file has each of them once and the page
adds four numbers.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from math import ceil, floor

import orjson

from answers import catalog, placement, usual_weights
from answers.listed import model_label
from answers.machines import MachineWords, described_computer
from answers.model import Setting
from answers.names import read_model
from answers.planner_errors import planner_errors
from answers.shapes import shapes
from answers.speed import SPEED_ERROR
from answers.ways import DraftSource, PlannedModel, Way
from pipeline.site.pages import answer_files
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped

PATH = "assets/fits.json"
FORMAT, VERSION = "draftmap-fits", 1
DEFAULT_QUANTISATION, DEFAULT_CONTEXT, DEFAULT_MEMORY, DEFAULT_RAM = "Q4_K_M", 8192, 12, 32
DEFAULT_MODEL = "qwen3-14b"
QUANTISATIONS = (*usual_weights.QUANTISATIONS, "MXFP4")
CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
KV_TYPES = ("f16", "q8_0", "q4_0")
NO_DRAFT = "none"
# The page's names of ways to draft, by the source of the draft.
WAYS: Mapping[DraftSource, str] = {"own-head": "head", "model": "model"}
SHOWN_MEMORIES = (4, 8, 12, 16, 24, 32, 48)
HEAD_DEPTH = 3


def fits(site: Site) -> Iterator[Page | Asset]:
    """Yield the page and its data file."""
    needs = site.cache.get_or_make("needs", lambda: orjson.dumps(document()))
    yield Asset(path=PATH, data=needs)
    yield render(
        "fits.md.jinja",
        path="will-it-fit.md",
        site=site,
        answers_folder=answer_files.FOLDER,
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
        errors=planner_errors(),
        speed_error=SPEED_ERROR,
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
        "models": tuple(needs(shape.name) for shape in shapes()),
    }


def needs(name: str) -> Mapping[str, object]:
    """A model's memory needs: weights by quantisation, cache by its type and context, and so on.

    For each draft, `mib` is the memory it adds, by cache type and context. By quantisation,
    `margin` is the memory to leave free or the possible error of these figures, whichever is
    larger, and `slack` is by how much the needs may be smaller or the free memory larger.
    """
    drafts = {NO_DRAFT: "none", **{key: way.name or way.method for key, way in _ways(name).items()}}
    alone = _by_setting(name, NO_DRAFT)
    return {
        "id": name,
        "label": model_label(name),
        "longest": _model(name).facts.context_tokens or placement.LONGEST_CONTEXT,
        "weights": [_whole(load(name, quantisation=each))["weights"] for each in QUANTISATIONS],
        "cache": [[each["cache"] for each in row] for row in alone],
        "compute": [[each["compute"] for each in row] for row in alone],
        "drafts": {
            draft: {"name": title, **_draft_needs(name, draft)} for draft, title in drafts.items()
        },
    }


def _draft_needs(name: str, draft: str) -> Mapping[str, object]:
    """The memory that a draft adds to the needs of the model alone, and the errors with it.

    It adds its buffers, and saved states to undo rejected tokens.
    """
    alone, with_draft = _by_setting(name, NO_DRAFT), _by_setting(name, draft)
    sizes = [_whole(load(name, quantisation=each, draft=draft)) for each in QUANTISATIONS]
    return {
        "mib": [
            [
                more["draft"] + more["cache"] - each["cache"]
                for each, more in zip(*rows, strict=True)
            ]
            for rows in zip(alone, with_draft, strict=True)
        ],
        "margin": [each["margin"] for each in sizes],
        "slack": [each["slack"] for each in sizes],
    }


@cache
def _by_setting(name: str, draft: str) -> list[list[Mapping[str, int]]]:
    return [
        [_whole(load(name, context=context, kv=kv, draft=draft)) for context in CONTEXTS]
        for kv in KV_TYPES
    ]


def _whole(case: placement.LoadPlan) -> Mapping[str, int]:
    """The memory for a whole model on a card, in whole MiB; `cache` includes recurrent states."""
    found = placement.placed_whole(case)
    (on_card,), total = found.devices, found.devices[0].total()
    draft = sum(mib for kind, mib in on_card.by_kind().items() if kind.startswith("draft_"))
    return {
        "weights": ceil(on_card.model),
        "cache": ceil(on_card.kv + on_card.recurrent),
        "compute": ceil(on_card.compute),
        "draft": ceil(draft),
        "margin": ceil(found.needs[0] - total),
        "slack": floor(total - found.least[0]),
    }


def load(
    name: str,
    *,
    quantisation: str = DEFAULT_QUANTISATION,
    context: int = DEFAULT_CONTEXT,
    kv: str = KV_TYPES[0],
    draft: str = NO_DRAFT,
    card_gib: float = DEFAULT_MEMORY,
) -> placement.LoadPlan:
    """A load plan for a model on one card, as in `plan`; the needs do not depend on its size."""
    card = described_computer(MachineWords(vram=card_gib, ram=DEFAULT_RAM))
    target = _model(f"{name}:{quantisation}").facts
    alone = card.load(target, Setting(context=context, kv_k=kv, kv_v=kv))
    return alone if draft == NO_DRAFT else _ways(name)[draft].load(alone, HEAD_DEPTH)


@cache
def _ways(name: str) -> Mapping[str, Way]:
    """The ways to draft for a model that need memory, by the page's name: those of `plan`."""
    ways = catalog.ways_of(_model(name), ())
    return {WAYS[way.source]: way for way in reversed(ways) if way.source in WAYS}


def _model(name: str) -> PlannedModel:
    found = catalog.model_meant(read_model(name))
    if found is None:
        raise LookupError(name)  # every shape in the table can be planned
    return found


def families() -> Mapping[str, tuple[tuple[str, str], ...]]:
    labelled = [(shape.name, model_label(shape.name)) for shape in shapes()]
    return grouped(
        labelled,
        lambda each: (
            each[1] if catalog.family_of(each[0]) == each[0] else each[1].rpartition(" ")[0]
        ),
    )


def lines() -> tuple[tuple[str, str, tuple[tuple[int, int, placement.Extent], ...]], ...]:
    """The page's table: for each model and card size, layers on the card, all layers, and `Extent`.

    For a mixture with experts in main memory, the first number is negative: minus the number of
    layers whose experts are there.
    """
    found = []
    for shape in shapes():
        row = []
        for gib in SHOWN_MEMORIES:
            case = load(shape.name, card_gib=gib)
            best = placement.fit(case)
            layers = -best.placement.cpu_experts or best.placement.layers
            row.append((layers, case.target.placed_layers, best.extent))
        found.append((shape.name, model_label(shape.name), tuple(row)))
    return tuple(found)
