"""Write the page *Will it fit?*: how much of each model fits on a card, by its memory."""

from collections.abc import Iterator

import orjson

from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from planner import catalog, placement
from planner.listed import model_label
from planner.machines import MachineWords, described_computer
from planner.model import Setting
from planner.names import read_model
from planner.planner_errors import planner_errors
from planner.shapes import shapes
from planner.speed import SPEED_ERROR

DEFAULT_QUANTISATION, DEFAULT_CONTEXT, DEFAULT_RAM = "Q4_K_M", 8192, 32
SHOWN_MEMORIES = (4, 8, 12, 16, 24, 32, 48)


def fits(site: Site) -> Page:
    return render(
        "fits.md.jinja",
        path="will-it-fit.md",
        site=site,
        defaults=(DEFAULT_QUANTISATION, DEFAULT_CONTEXT, DEFAULT_RAM),
        memories=SHOWN_MEMORIES,
        lines=orjson.loads(site.cache.get_or_make("fits", lambda: orjson.dumps([*lines()]))),
        errors=planner_errors(),
        speed_error=SPEED_ERROR,
    )


def lines() -> Iterator[tuple[str, str, tuple[tuple[int, int, placement.Extent], ...]]]:
    """Yield each model's name, label and, for each card size, what of it fits.

    That is the layers on the card, all layers, and `Extent`. For a mixture with experts in main
    memory, the first number is negative: minus the number of layers whose experts are there.
    """
    for shape in shapes():
        row = []
        for gib in SHOWN_MEMORIES:
            case = load(shape.name, gib)
            best = placement.fit(case)
            layers = -best.placement.cpu_experts or best.placement.layers
            row.append((layers, case.target.placed_layers, best.extent))
        yield shape.name, model_label(shape.name), tuple(row)


def load(name: str, card_gib: float) -> placement.LoadPlan:
    """A load plan for a model on one card, as in `plan`."""
    card = described_computer(MachineWords(vram=card_gib, ram=DEFAULT_RAM))
    target = catalog.model_meant(read_model(f"{name}:{DEFAULT_QUANTISATION}"))
    if target is None:
        raise LookupError(name)  # every shape in the table can be planned
    return card.load(target.facts, Setting(context=DEFAULT_CONTEXT))
