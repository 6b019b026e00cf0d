"""Write the page *What moves it*: charts, reference models on all devices, and where it loses."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import duckdb
from markupsafe import Markup

from answers.kinds import TEXT, drafting_class
from answers.names import read_model
from answers.sized_shapes import shape_named
from pipeline.site.charts import draw
from pipeline.site.pages import strips
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import environment, render
from pipeline.site.rows import Row, grouped, read
from pipeline.site.tally import CLEAR_SHARE, tally
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
        machines=reference_devices(rows),
        models=tuple(REFERENCE_MODELS.values()),
        finding=tally(strips.figures(of_the_first), "device") if of_the_first else "",
        sources=read(connection, "sources"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDevice:
    """A device with its figure for each reference model; `None` for a model without a figure."""

    device: str
    label: str
    figures: tuple[strips.Strip | None, ...]


def reference_devices(rows: Iterable[Row]) -> Sequence[ReferenceDevice]:
    """The devices with figures for reference models: those with most figures first."""
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
    return [
        ReferenceDevice(
            device=own[0].device,
            label=own[0].device_label,
            figures=tuple(
                map({row.target: strips.strip(row) for row in own}.get, REFERENCE_MODELS)
            ),
        )
        for own in ordered
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A trait that a pair may have, and why it can cause a loss."""

    name: str
    why: str
    has: Callable[[Row], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitLosses:
    """The numbers of pairs with and without a trait, and how many of each are slower."""

    trait: Trait
    pairs: int
    slower: int
    other_pairs: int
    other_slower: int

    @property
    def share(self) -> float:
        return self.slower / self.pairs

    @property
    def other_share(self) -> float:
        return self.other_slower / self.other_pairs


def is_slower(row: Row) -> bool:
    """Whether a pair's speedup is below the range around 1 that counts as no difference."""
    return bool(row.speedup <= 1 - CLEAR_SHARE)


def _mixture(row: Row) -> bool:
    shape = shape_named(read_model(row.target_label).slug)
    return shape is not None and shape.experts > 0


TRAITS: Sequence[Trait] = (
    Trait(
        name="Drafts from the text only (n-grams, suffix)",
        why="a round that finds nothing to propose is a plain step with extra work",
        has=lambda row: drafting_class(row.method) == TEXT,
    ),
    Trait(
        name="A second model drafts for a mixture of experts",
        why="a step over several tokens reads more experts than a step over one token",
        has=lambda row: drafting_class(row.method) == "model" and _mixture(row),
    ),
    Trait(
        name="A second model drafts for a dense model",
        why="every drafted token costs a step of the draft model, even if it is rejected",
        has=lambda row: drafting_class(row.method) == "model" and not _mixture(row),
    ),
    Trait(
        name="A block or feature head (DFlash, DSpark, EAGLE-3) drafts for a mixture",
        why="its deep drafts make the step wide, and a wide step reads many experts",
        has=lambda row: (
            drafting_class(row.method) in ("dflash", "dspark", "eagle3") and _mixture(row)
        ),
    ),
    Trait(
        name="Apple M1 or M2",
        why="on these chips, a step over two tokens takes a quarter longer than over one token",
        has=lambda row: row.device_label.startswith(("Apple M1", "Apple M2")),
    ),
    Trait(
        name="The target has fewer than 5B parameters",
        why="the target's step is short, so drafting and kernel starts take a larger share",
        has=lambda row: bool(row.parameters and row.parameters < SMALL_PARAMETERS),
    ),
    Trait(
        name=f"A depth of {DEEP} or more",
        why="late positions are seldom accepted, but the step costs time for every position",
        has=lambda row: bool(row.depths and min(row.depths) >= DEEP),
    ),
    Trait(
        name="Part of the model is in main memory, or the figures are doubtful",
        why="the slow part sets the time of a step, and a draft takes memory from the layers",
        has=attrgetter("lesser"),
    ),
)


def comparisons(rows: Iterable[Row]) -> Sequence[TraitLosses]:
    """The traits that go with a larger share of slower pairs, the largest difference first."""
    listed = tuple(rows)
    found = [each for each in _compared(listed) if each.share > each.other_share]
    return sorted(found, key=lambda each: each.other_share - each.share)


def _compared(rows: Sequence[Row]) -> Iterator[TraitLosses]:
    for each in TRAITS:
        own = [row for row in rows if each.has(row)]
        others = [row for row in rows if not each.has(row)]
        if min(len(own), len(others)) >= FEWEST_PAIRS:
            yield TraitLosses(
                trait=each,
                pairs=len(own),
                slower=sum(map(is_slower, own)),
                other_pairs=len(others),
                other_slower=sum(map(is_slower, others)),
            )
