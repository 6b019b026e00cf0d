"""How sure must the interval over blocks be, if its width decides when a campaign ends?

An idealised campaign: blocks are independent and normal. It looks at its interval after each block
from the third on and ends once it is narrow enough, at the latest after the sixth. For each level
of Student's t the worst coverage over all precisions is what counts. `python -m bench.length`
prints it; with `--output` the figures are also written as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy

from harness.campaign.build import LEAST_BLOCKS, MOST_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


COMMAND = "python -m bench.length"
CAMPAIGNS = 200_000
LEVELS = (0.95, 0.96, 0.97, 0.975)
# Half-widths that are narrow enough, in standard deviations of a block.
PRECISIONS = tuple(float(each) for each in np.linspace(0.2, 6.0, 30))
SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The precision at which a level covers worst: there, so many blocks are run on average."""

    level: float
    coverage: float
    precision: float
    blocks: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write the figures where that is asked for."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS)
    parser.add_argument("--output", type=Path, help="where to write the figures as JSON")
    chosen = parser.parse_args(arguments)
    rows = worst(chosen.campaigns)
    sys.stdout.write(table([asdict(row) for row in rows]))
    if chosen.output:
        document = {
            "command": COMMAND,
            "campaigns": chosen.campaigns,
            "least_blocks": LEAST_BLOCKS,
            "most_blocks": MOST_BLOCKS,
            "rows": [asdict(row) for row in rows],
        }
        chosen.output.write_text(json.dumps(document, indent=2) + "\n", "utf-8")


def worst(campaigns: int) -> list[Row]:
    """One row per level. The same number of campaigns gives the same figures."""
    blocks = np.random.default_rng(SEED).standard_normal((campaigns, MOST_BLOCKS))
    looks = tuple(_looks(blocks))
    rows = (_row(looks, level, precision) for level in LEVELS for precision in PRECISIONS)
    by_level: dict[float, list[Row]] = {}
    for row in rows:
        by_level.setdefault(row.level, []).append(row)
    return [min(group, key=lambda row: row.coverage) for group in by_level.values()]


def table(rows: Sequence[dict[str, float]]) -> str:
    """The table of the design note."""
    lines = ["| level of t | covers the truth, at worst | blocks run there |", "|---:|---:|---:|"]
    lines += [
        f"| {row['level'] * 100:.1f} % | {row['coverage'] * 100:.1f} % | {row['blocks']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Look:
    blocks: int
    mean: NDArray[np.float64]
    error: NDArray[np.float64]


def _looks(blocks: NDArray[np.float64]) -> Iterator[_Look]:
    """Mean and standard error of every campaign after each block at which it may end."""
    for count in range(LEAST_BLOCKS, MOST_BLOCKS + 1):
        seen = blocks[:, :count]
        yield _Look(count, seen.mean(axis=1), seen.std(axis=1, ddof=1) / np.sqrt(count))


def _row(looks: Sequence[_Look], level: float, precision: float) -> Row:
    campaigns = len(looks[0].mean)
    running = np.ones(campaigns, dtype=bool)
    covered, run = 0, 0
    for look in looks:
        half_width = scipy.stats.t.ppf((1 + level) / 2, look.blocks - 1) * look.error
        last = look.blocks == MOST_BLOCKS
        ends = running & (last | (half_width <= precision))
        covered += int(np.count_nonzero(ends & (np.abs(look.mean) <= half_width)))
        run += look.blocks * int(np.count_nonzero(ends))
        running &= ~ends
    return Row(
        level=level,
        coverage=round(covered / campaigns, 5),
        precision=round(precision, 3),
        blocks=round(run / campaigns, 3),
    )


if __name__ == "__main__":
    main()
