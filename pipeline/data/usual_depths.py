"""The depth at which a model is shown with a method, chosen once over all devices."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from schemas.vocabulary import HELPS_ABOVE

# A depth must have been tried by this share of as many people as the most tried one.
ENOUGH = 0.2
COLUMNS = pa.schema({"target": pa.string(), "method": pa.string(), "usual_depth": pa.int64()})


class Tried(NamedTuple):
    """One figure: `unit` is what else makes figures differ, a person on a device on a task."""

    target: str
    method: str
    depth: int
    person: str
    unit: str
    speedup: float


def default_depths(figures: Iterable[Tried]) -> pa.Table:
    """The best depth of each model with each method."""
    groups: defaultdict[tuple[str, str], list[Tried]] = defaultdict(list)
    for each in figures:
        groups[each.target, each.method].append(each)
    rows = [
        {"target": target, "method": method, "usual_depth": default_depth(tried)}
        for (target, method), tried in sorted(groups.items())
    ]
    return pa.Table.from_pylist(rows, COLUMNS)


def default_depth(tried: Sequence[Tried]) -> int:
    """The depth that gains most, after removing what each unit gains at any depth.

    Among depths whose gains differ by less than anyone would notice, the one that most people
    tried. A row's own maximum would favour lucky figures; this choice uses the figures of all rows.
    """
    tried = _compared(tried)
    depths = sorted({figure.depth for figure in tried})
    units = sorted({figure.unit for figure in tried})
    people = [_people(tried, depth) for depth in depths]
    design = np.zeros((len(tried), len(units) + len(depths)))
    for row, figure in enumerate(tried):
        design[row, units.index(figure.unit)] = 1
        design[row, len(units) + depths.index(figure.depth)] = 1
    logs = np.log([figure.speedup for figure in tried])
    # The effects are known up to a constant, of which lstsq takes the smallest.
    effects = np.linalg.lstsq(design, logs, rcond=None)[0][len(units) :]
    enough = [place for place, count in enumerate(people) if count >= ENOUGH * max(people)]
    least = max(effects[enough]) - np.log(HELPS_ABOVE)
    good = [place for place in enough if effects[place] >= least]
    return depths[max(good, key=lambda place: (people[place], -place))]


def _compared(tried: Sequence[Tried]) -> list[Tried]:
    """The figures at depths that chains of comparisons within a unit join to the most tried one."""
    joined = {max(sorted({each.depth for each in tried}), key=lambda depth: _people(tried, depth))}
    while True:
        units = {each.unit for each in tried if each.depth in joined}
        more = {each.depth for each in tried if each.unit in units}
        if more == joined:
            return [each for each in tried if each.depth in joined]
        joined = more


def _people(tried: Sequence[Tried], depth: int) -> int:
    return len({each.person for each in tried if each.depth == depth})
