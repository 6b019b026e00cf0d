"""Choose the depth to show for a model with a method, and convert figures at other depths to it."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from schemas.vocabulary import HELPS_ABOVE

# A usual depth must have at least this share of the people who tried the most tried depth.
ENOUGH = 0.2
DIGITS = 6
COLUMNS = pa.schema(
    {
        "target": pa.string(),
        "method": pa.string(),
        "depth": pa.int64(),
        "usual_depth": pa.int64(),
        "factor": pa.float64(),
    }
)


class Tried(NamedTuple):
    """One figure; `unit` is everything else that it depends on: the person, device and task."""

    target: str
    method: str
    depth: int
    person: str
    unit: str
    speedup: float


def depth_factors(figures: Iterable[Tried]) -> pa.Table:
    """A table of the usual depth per model and method, with factors from other depths to it.

    `factor` is the speedup at the usual depth over the speedup at `depth`, estimated from the
    figures of everybody who tried several depths. It is unknown if no chain of comparisons connects
    the two depths.
    """
    groups: defaultdict[tuple[str, str], list[Tried]] = defaultdict(list)
    for each in figures:
        groups[each.target, each.method].append(each)
    return pa.Table.from_pylist(
        [
            {"target": target, "method": method, **row}
            for (target, method), tried in sorted(groups.items())
            for row in _factors(tried)
        ],
        COLUMNS,
    )


def _depth_effects(tried: Sequence[Tried]) -> Mapping[int, float]:
    """The log gain of each comparable depth, up to a constant that all depths share."""
    tried = _compared(tried)
    depths = sorted({figure.depth for figure in tried})
    units = sorted({figure.unit for figure in tried})
    design = np.zeros((len(tried), len(units) + len(depths)))
    for row, figure in enumerate(tried):
        design[row, units.index(figure.unit)] = 1
        design[row, len(units) + depths.index(figure.depth)] = 1
    logs = np.log([figure.speedup for figure in tried])
    # The effects are known up to a constant; lstsq returns the solution with the smallest norm.
    effects = np.linalg.lstsq(design, logs, rcond=None)[0][len(units) :]
    return dict(zip(depths, effects.tolist(), strict=True))


def _factors(tried: Sequence[Tried]) -> Iterator[Mapping[str, object]]:
    effects = _depth_effects(tried)
    usual = _usual(tried, effects)
    for depth in sorted({each.depth for each in tried}):
        # The result is rounded, because the last digits of a least-squares solution depend on the
        # machine.
        known = depth in effects
        factor = round(math.exp(effects[usual] - effects[depth]), DIGITS) if known else None
        yield {"depth": depth, "usual_depth": usual, "factor": factor}


def _usual(tried: Sequence[Tried], effects: Mapping[int, float]) -> int:
    """The depth with the largest gain, once differences between units are removed.

    Among depths with nearly the same gain, the depth that most people tried is chosen. The maximum
    over single figures would favour lucky ones; this choice uses all figures.
    """
    people = {depth: _people(tried, depth) for depth in effects}
    enough = [depth for depth in effects if people[depth] >= ENOUGH * max(people.values())]
    least = max(effects[depth] for depth in enough) - math.log(HELPS_ABOVE)
    good = [depth for depth in enough if effects[depth] >= least]
    return max(good, key=lambda depth: (people[depth], -depth))


def _compared(tried: Sequence[Tried]) -> list[Tried]:
    """The figures at depths that can be compared with the most tried depth.

    Two depths can be compared if a unit tried both, or if a chain of such units links them.
    """
    joined = {max(sorted({each.depth for each in tried}), key=lambda depth: _people(tried, depth))}
    while True:
        units = {each.unit for each in tried if each.depth in joined}
        more = {each.depth for each in tried if each.unit in units}
        if more == joined:
            return [each for each in tried if each.depth in joined]
        joined = more


def _people(tried: Sequence[Tried], depth: int) -> int:
    return len({each.person for each in tried if each.depth == depth})
