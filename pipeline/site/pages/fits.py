"""The page *Will it fit?*, and the file that it plans with.

The file holds what `answers` knows about each model: the weights and the cache of every
layer, compute buffers, constants. `plan.js` adds these up for a visitor's memory as
`answers/memory.py` does; a test compares the two. What else the same memory could buy is
planned here, for the usual setting and sizes of memory.
"""

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter

import duckdb
import orjson

from answers import alternatives, catalog, memory, placement, shapes, speed
from answers.catalog import family_of
from answers.choices import Placements, PlannedModel, option, without_speculation
from answers.commands import method_of, speculation_by
from answers.kin import Rig
from answers.listed import model_label
from answers.model import KIND_LABELS, MIB, Layer, Memory, ModelFacts, Setting
from answers.model_names import model_key
from answers.predict import setup_of
from answers.rounds import DraftSource
from estimates.engine_commands import drafting
from pipeline.site.pages import answer_files, learned
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.template_environment import render, vocabulary_file
from pipeline.site.rows import grouped
from schemas.codec import Json

PATH = "assets/plan.json"
FORMAT, VERSION = "draftmap-plan", 1
DEFAULT_QUANTISATION, DEFAULT_CONTEXT, DEFAULT_MEMORY, DEFAULT_RAM = "Q4_K_M", 8192, 12, 32
DEFAULT_MODEL = "qwen3-14b"
QUANTISATIONS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "MXFP4", "IQ4_XS", "Q3_K_M", "Q2_K")
CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
KV_TYPES = ("f16", "q8_0", "q4_0")
MEMORIES = (4, 6, 8, 12, 16, 24, 32, 48, 80)
SHOWN_MEMORIES = (4, 8, 12, 16, 24, 32, 48)
MAIN_MEMORIES = (8, 16, 32, 64, 96, 128, 192, 256)
HEAD_DEPTH = 3
# A draft has the target's vocabulary, so it is of its family, and much smaller.
MUCH_SMALLER = 6
NO_CHANGE = 0.01
GIB = 1024.0
DIGITS = 4
ONE_BYTE = shapes.Quantisation(name="one byte", body=8, embedding=8, output=8)


def fits(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The page, its file, and what the planner learns from the results."""
    rates = learned.learned_rates(connection)
    errors = learned.errors_of(rates, learned.memory_used(connection))
    own_errors = tuple(learned.own_errors(errors))
    planner = orjson.loads(site.cache.get_or_make("planner", lambda: orjson.dumps(document())))
    data = {**planner, "own_error": "; ".join(own_errors)}
    yield Asset(path=PATH, data=orjson.dumps(data))
    yield Asset(path=learned.PATH, data=learned.learned_file(connection, rates, errors))
    yield render(
        "fits.md.jinja",
        path="will-it-fit.md",
        site=site,
        answers_folder=answer_files.FOLDER,
        plan_path=PATH,
        families=families(),
        quantisations=QUANTISATIONS,
        contexts=CONTEXTS,
        kv_types=KV_TYPES,
        main_memories=MAIN_MEMORIES,
        defaults=(
            DEFAULT_QUANTISATION,
            DEFAULT_CONTEXT,
            DEFAULT_MEMORY,
            DEFAULT_MODEL,
            DEFAULT_RAM,
        ),
        memories=SHOWN_MEMORIES,
        lines=orjson.loads(site.cache.get_or_make("fits", lambda: orjson.dumps(lines()))),
        own_errors=own_errors,
        learned_path=learned.PATH,
        vocabulary=vocabulary_file().path,
    )


@cache
def document() -> Mapping[str, object]:
    """What `plan.js` computes with. It depends on no result, so a process makes it once."""
    words: dict[str, int] = {}
    others = {
        shape.name: [_others(shape, gib, words) for gib in MEMORIES] for shape in shapes.shapes()
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": rules(),
        "kinds": KIND_LABELS,
        "quantisations": {
            name: (bits.body, bits.embedding, bits.output)
            for name in QUANTISATIONS
            if (bits := shapes.quantisation_of(name))
        },
        "usual": {
            "quantisation": DEFAULT_QUANTISATION,
            "context": DEFAULT_CONTEXT,
            "ram": DEFAULT_RAM,
        },
        "models": tuple(map(model, shapes.shapes())),
        "memories": MEMORIES,
        "words": tuple(words),
        "alternatives": others,
    }


def rules() -> Mapping[str, object]:
    """The constants of the planner's arithmetic, and the words of its command."""
    return {
        "margin": placement.DEFAULT_MARGIN_MIB,
        "runtime": memory.RUNTIME_MIB,
        "weights_error": shapes.WEIGHTS_ERROR,
        "taken_share": placement.TAKEN_SHARE,
        "taken": placement.TAKEN_MIB,
        "system": placement.SYSTEM_MIB,
        "shared_share": placement.SHARED_SHARE,
        "step": placement.CONTEXT_STEP,
        "ubatch": Setting().ubatch,
        "kv": {name: memory.KV_TYPE_BYTES[name] for name in KV_TYPES},
        "copies": HEAD_DEPTH,
        "efficiency": (speed.EFFICIENCY_LOW, speed.EFFICIENCY, speed.EFFICIENCY_HIGH),
        "host_efficiency": speed.HOST_EFFICIENCY,
        "layer_ms": speed.MS_PER_LAYER,
        "choice_ms": speed.MS_PER_CHOICE,
        "crossing_ms": speed.MS_PER_CROSSING,
        "bandwidth": speed.ASSUMED_GB_PER_S,
        "host_bandwidth": speed.ASSUMED_HOST_GB_PER_S,
        "head": _drafting("own-head"),
        "draft": _drafting("model"),
    }


def _drafting(source: DraftSource) -> str:
    """llama-server's words for the usual method of a way."""
    return shlex.join(drafting(method_of(speculation_by(source, HEAD_DEPTH))) or ())


def model(shape: shapes.ShapeRow) -> Mapping[str, object]:
    """One model: its layers by kind, and its buffers that do not depend on the context."""
    facts = shapes.facts_of(shape, ONE_BYTE, with_head=shape.head_layers > 0)
    kinds = {_kind(layer): None for layer in facts.all_layers}
    numbers = {kind: number for number, kind in enumerate(kinds)}
    setting = Setting(context=0)
    same = [other for other in shapes.shapes() if family_of(other.name) == family_of(shape.name)]
    least = min(same, key=attrgetter("parameters"))
    return {
        "id": shape.name,
        "label": model_label(shape.name),
        "parameters": shape.parameters,
        "tied": facts.tied,
        "longest": shape.context_tokens or placement.LONGEST_CONTEXT,
        "matrix": round(shape.vocabulary * shape.embedding / MIB, DIGITS),
        "row": facts.embedding * setting.ubatch * 4 / MIB,
        "logits": memory.output_mib(facts, setting),
        "reserved": memory.logits_mib(facts, setting),
        "compute": memory.device_compute_mib(facts, setting),
        "head_compute": memory.device_compute_mib(facts, setting, prediction=True),
        "kinds": tuple(kinds),
        "layers": tuple(numbers[_kind(layer)] for layer in facts.all_layers),
        "head": len(facts.draft_layers),
        "used": facts.experts_used / facts.experts if facts.mixture else None,
        "draft": least.name if least.parameters * MUCH_SMALLER <= shape.parameters else None,
    }


def families() -> Mapping[str, tuple[tuple[str, str], ...]]:
    labelled = [(shape.name, model_label(shape.name)) for shape in shapes.shapes()]
    return grouped(
        labelled,
        lambda each: each[1] if family_of(each[0]) == each[0] else each[1].rpartition(" ")[0],
    )


def lines() -> tuple[tuple[str, str, tuple[tuple[int, int, placement.Extent], ...]], ...]:
    """The table: for each model and memory the layers on the card, of how many, how much fits."""
    found = []
    for shape in shapes.shapes():
        facts = _facts(shape, DEFAULT_QUANTISATION)
        row = []
        for gib in SHOWN_MEMORIES:
            best = placement.fit(case_of(facts, gib))
            experts = best.placement.cpu_experts
            layers = best.placement.layers if not (facts.mixture and experts) else -experts
            row.append((layers, facts.placed_layers, best.extent))
        found.append((shape.name, model_label(shape.name), tuple(row)))
    return tuple(found)


def case_of(facts: ModelFacts, gib: float) -> placement.LoadPlan:
    """A model alone on a card of this size, with the usual context."""
    return placement.LoadPlan(
        target=facts,
        setting=Setting(context=DEFAULT_CONTEXT),
        devices=(Memory(name="card", free_mib=placement.free_of(gib * GIB)),),
        host=Memory(name="host", free_mib=DEFAULT_RAM * GIB - placement.SYSTEM_MIB),
    )


def _others(shape: shapes.ShapeRow, gib: float, words: dict[str, int]) -> list[Json]:
    """What else a memory could hold, as times the plain speed, fastest first."""
    facts = _facts(shape, DEFAULT_QUANTISATION)
    machine = speed.MachineSpeed(device_gb_per_s=None, host_gb_per_s=None)
    case = case_of(facts, gib)
    source = PlannedModel(
        facts=facts, path=None, server_name=f"{shape.name}-{DEFAULT_QUANTISATION}.gguf"
    )
    placed = Placements(case)
    alone = without_speculation(case, source, machine, placed.alone)
    rig = Rig(card=f"{gib:g} gb card")
    setup = setup_of(rig, machine, case, placed.alone, model_key(shape.name), None)
    ways = [
        option(way, alone, setup, placed.of(way))
        for way in catalog.ways_of(shape.name, source, (), lambda _: None)
    ]
    others = alternatives.list_alternatives(alone, alone, setup, ways=ways, longer=False)
    base = alone.tps
    listed: list[Json] = []
    for plan in others:
        ratios = [plan.tps.estimate / base.estimate]
        if not plan.fits or (plan.speculation is None and abs(ratios[0] - 1) < NO_CHANGE):
            continue
        if plan.speculation is not None:
            ratios += [plan.tps.low / base.low, plan.tps.high / base.high]
        listed.append([words.setdefault(plan.changes, len(words)), *(round(x, 2) for x in ratios)])
    return listed


def _facts(shape: shapes.ShapeRow, quantisation: str) -> ModelFacts:
    return shapes.facts_of(
        shape, shapes.quantisation_of(quantisation), with_head=shape.head_layers > 0
    )


def _kind(layer: Layer) -> tuple[float, ...]:
    weights, experts = layer.weight_bytes / MIB, layer.expert_bytes / MIB
    width, window, state = layer.k_width + layer.v_width, layer.window or 0, layer.state_bytes / MIB
    return round(weights, DIGITS), round(experts, DIGITS), width, window, round(state, DIGITS)
