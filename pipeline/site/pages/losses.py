"""Show where speculation loses: the share of slower pairs with and without a trait."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from answers.effects import TEXT, drafting_class
from answers.sized_shapes import shape_named
from pipeline.site.pages.strips import CLEAR_SHARE
from pipeline.site.rows import Row

FEWEST = 5  # the minimum of pairs on either side of a comparison
SMALL_PARAMETERS = 5e9
DEEP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A trait that a pair may have, and why it can cause a loss."""

    name: str
    why: str
    has: Callable[[Row], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
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
    shape = shape_named(row.target_label)
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


def comparisons(rows: Iterable[Row]) -> Sequence[Comparison]:
    """The traits that go with a larger share of slower pairs, the largest difference first."""
    listed = tuple(rows)
    found = [each for each in _compared(listed) if each.share > each.other_share]
    return sorted(found, key=lambda each: each.other_share - each.share)


def _compared(rows: Sequence[Row]) -> Iterator[Comparison]:
    for each in TRAITS:
        own = [row for row in rows if each.has(row)]
        others = [row for row in rows if not each.has(row)]
        if min(len(own), len(others)) >= FEWEST:
            yield Comparison(
                trait=each,
                pairs=len(own),
                slower=sum(map(is_slower, own)),
                other_pairs=len(others),
                other_slower=sum(map(is_slower, others)),
            )
