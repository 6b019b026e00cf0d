"""Write the page *What moves it*: charts, reference models on all devices, and where it loses."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import duckdb
from markupsafe import Markup

from pipeline.site.charts import draw
from pipeline.site.pages import strips
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import environment, render
from pipeline.site.rows import Row, grouped, read
from pipeline.site.tally import CLEAR_SHARE, tally
from planner.kinds import TEXT, drafting_class
from planner.names import read_model
from planner.sized_shapes import shape_named
from schemas.vocabulary import COMMON_DEVICES, REFERENCE_MODELS
from schemas.vocabulary.documents import document

FEWEST = 3  # the number of figures that a chart needs
FEWEST_PAIRS = 5  # the minimum of pairs on either side of a comparison
SMALL_PARAMETERS = 5e9
DEEP = 8


def moves(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page: charts in `moves.toml` with enough figures, and commands to measure the rest."""
    url = site.link_from("what-moves-it/")
    sections = [
        {
            **section,
            "id": name,
            "words": Markup(environment().from_string(section["words"]).render(url=url)),  # noqa: S704 - our own prose
            "figure": draw(connection, section["chart"], site.cache),
        }
        for name, section in document("moves", "pipeline.site").items()
    ]
    pairs = strips.rows_by_method(connection)
    rows = strips.main_rows(connection)
    of_the_first = [row for row in rows if row.target == next(iter(REFERENCE_MODELS))]
    shown = [section for section in sections if len(section["figure"].table.rows) >= FEWEST]
    return render(
        "what-moves-it.md.jinja",
        path="what-moves-it.md",
        site=site,
        figures=tuple(section["figure"] for section in shown),
        sections=shown,
        missing=[section for section in sections if section not in shown],
        losses=comparisons(pairs),
        pairs=len(pairs),
        slower=sum(map(is_slower, pairs)),
        machines=tuple(reference_devices(rows)),
        models=tuple(REFERENCE_MODELS.values()),
        finding=tally(strips.figures(of_the_first), "device") if of_the_first else "",
        sources=read(connection, "sources"),
    )


def reference_devices(
    rows: Iterable[Row],
) -> Iterator[tuple[Row, Sequence[strips.Strip | None]]]:
    """Yield a row of each device with its figure for each reference model, or `None`.

    Devices with most figures come first.
    """
    of_models = (row for row in rows if row.target in REFERENCE_MODELS)
    ordered = sorted(
        grouped(of_models, attrgetter("device")).values(),
        key=lambda own: (
            -len(own),
            own[0].device_label not in COMMON_DEVICES,
            -sum(row.people for row in own),
            own[0].device_label,
        ),
    )
    for own in ordered:
        yield own[0], [*map({row.target: strips.strip(row) for row in own}.get, REFERENCE_MODELS)]


class TraitLosses(NamedTuple):
    """The numbers of pairs with and without a trait, and how many of each are slower."""

    trait: str
    why: str
    pairs: int
    slower: int
    other_pairs: int
    other_slower: int

    @property
    def excess(self) -> float:
        """By how much the share of slower pairs is larger with the trait."""
        return self.slower / self.pairs - self.other_slower / self.other_pairs


def is_slower(row: Row) -> bool:
    """Whether a pair's speedup is below the range around 1 that counts as no difference."""
    return bool(row.speedup <= 1 - CLEAR_SHARE)


def _mixture(row: Row) -> bool:
    shape = shape_named(read_model(row.target_label).slug)
    return shape is not None and shape.experts > 0


# The traits that a pair may have: why each can cause a loss, and which pairs have it.
TRAITS: Mapping[str, tuple[str, Callable[[Row], bool]]] = {
    "Drafts from the text only (n-grams, suffix)": (
        "a round that finds nothing to propose is a plain step with extra work",
        lambda row: drafting_class(row.method) == TEXT,
    ),
    "A second model drafts for a mixture of experts": (
        "a step over several tokens reads more experts than a step over one token",
        lambda row: drafting_class(row.method) == "model" and _mixture(row),
    ),
    "A second model drafts for a dense model": (
        "every drafted token costs a step of the draft model, even if it is rejected",
        lambda row: drafting_class(row.method) == "model" and not _mixture(row),
    ),
    "A block or feature head (DFlash, DSpark, EAGLE-3) drafts for a mixture": (
        "its deep drafts make the step wide, and a wide step reads many experts",
        lambda row: drafting_class(row.method) in ("dflash", "dspark", "eagle3") and _mixture(row),
    ),
    "Apple M1 or M2": (
        "on these chips, a step over two tokens takes a quarter longer than over one token",
        lambda row: row.device_label.startswith(("Apple M1", "Apple M2")),
    ),
    "The target has fewer than 5B parameters": (
        "the target's step is short, so drafting and kernel starts take a larger share",
        lambda row: bool(row.parameters and row.parameters < SMALL_PARAMETERS),
    ),
    f"A depth of {DEEP} or more": (
        "late positions are seldom accepted, but the step costs time for every position",
        lambda row: bool(row.depths and min(row.depths) >= DEEP),
    ),
    "Part of the model is in main memory, or the figures are doubtful": (
        "the slow part sets the time of a step, and a draft takes memory from the layers",
        attrgetter("lesser"),
    ),
}


def comparisons(rows: Iterable[Row]) -> Sequence[TraitLosses]:
    """The traits that go with a larger share of slower pairs, the largest difference first."""
    listed = tuple(rows)
    found = []
    for trait, (why, has) in TRAITS.items():
        own = [is_slower(row) for row in listed if has(row)]
        others = [is_slower(row) for row in listed if not has(row)]
        if min(len(own), len(others)) >= FEWEST_PAIRS:
            found.append(TraitLosses(trait, why, len(own), sum(own), len(others), sum(others)))
    return sorted((each for each in found if each.excess > 0), key=lambda each: -each.excess)
