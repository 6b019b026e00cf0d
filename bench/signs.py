"""False filled signs of cells: builds that differ, known contributors whom unknown ones outvote.

`python -m bench.signs` makes cells of results whose truths are known, with the tables of the
pipeline, and prints how often each shows a sign and how often a filled one.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tests.pipeline.tables import campaign, database, entry, one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.pipeline.tables import Example

REPETITIONS, SEED = 200, 20261121
BETWEEN, OWN = 0.06, 0.03  # standard deviation between contributors, half-width of a file
APART = math.log(1.24)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line per kind of cell."""
    parser = argparse.ArgumentParser(prog="python -m bench.signs", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    chosen = parser.parse_args(arguments)
    sys.stdout.write(f"{'':44}{'sign':>10}{'filled':>10}{'by build':>10}\n")
    for name, cell in CELLS.items():
        rng = np.random.default_rng(SEED)
        shown = Counter(mark for _ in range(chosen.repetitions) for mark in _shown(cell(rng)))
        shares = (shown[each] / chosen.repetitions for each in ("sign", "filled", "by build"))
        sys.stdout.write(f"{name:44}" + "".join(f"{each:>10.1%}" for each in shares) + "\n")
        sys.stdout.flush()


def _shown(files: Sequence[Example]) -> Iterator[str]:
    unknown = {str(each.submission.contributor) for each in files} - {"ada", "bob"}
    (mark,) = one(database(*files, new=unknown), "select mark from cell")
    if mark == "differs-by-build":
        yield "by build"
    if mark.removesuffix("-confirmed") in ("helps", "hurts"):
        yield "sign"
    if mark.endswith("-confirmed"):
        yield "filled"


def _two_builds(rng: np.random.Generator) -> list[Example]:
    """Two persons; one build gains as much as the other loses."""
    return [
        _under("b1", _file(rng, "ada", APART / 2)),
        _under("b2", _file(rng, "bob", -APART / 2)),
    ]


def _same_builds(rng: np.random.Generator) -> list[Example]:
    """The same two builds; neither makes a difference."""
    return [_under("b1", _file(rng, "ada", 0.0)), _under("b2", _file(rng, "bob", 0.0))]


def _outvoted(rng: np.random.Generator) -> list[Example]:
    """Two known contributors who find next to nothing, and six unknown ones who find 1.32."""
    honest = [("ada", math.log(1.04)), ("bob", math.log(1.02))]
    claims = [(f"new{number}", math.log(1.32)) for number in range(6)]
    return [_file(rng, name, truth, BETWEEN / 6) for name, truth in (*honest, *claims)]


def _agreeing(rng: np.random.Generator) -> list[Example]:
    """Two known contributors of a gain of 1.4, which is to be confirmed."""
    return [_file(rng, name, math.log(1.4)) for name in ("ada", "bob")]


def _file(
    rng: np.random.Generator, contributor: str, truth: float, between: float = BETWEEN
) -> Example:
    speedup = math.exp(truth + between * rng.normal() + OWN / 2 * rng.normal())
    within = (speedup * math.exp(-OWN), speedup * math.exp(OWN))
    return campaign(speedup, within=within, contributor=contributor)


def _under(version: str, made: Example) -> Example:
    engine = replace(made.submission.engine, version=version)
    return entry(replace(made.submission, engine=engine), made.summary)


CELLS: Mapping[str, Callable[[np.random.Generator], list[Example]]] = {
    "two builds 24 % apart around 1, two persons": _two_builds,
    "two builds alike at 1, two persons": _same_builds,
    "two known at 1.04 and 1.02, six at 1.32": _outvoted,
    "two known at 1.4": _agreeing,
}


if __name__ == "__main__":
    main()
