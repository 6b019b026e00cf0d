"""Check real result files: recomputed estimates, wall-clock ratios, and flags.

`python -m bench.real` reads the repository's results, an imported sample, and any
FILE given. For each file it prints the number of estimates, their largest relative difference from
`bench.recompute` (which follows only the Methodology page), the number of published intervals that
contain the wall-clock ratio, and the flags. The exit code is 1 if an estimate is missing or differs
by more than a billionth, or if fewer than 95 % of the intervals contain the wall-clock ratio.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import recompute
from estimates.model import Estimate, Flag
from estimates.summary import summarize
from schemas import contract
from schemas.codec import canonical_bytes, encode
from schemas.submission import Submission
from tests.harness.imports.samples import GREEDY, logs, run

COMMUNITY = Path(__file__).parents[1] / "results" / "community"
EXACT, PROMISE = 1e-9, 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFile:
    """The product's estimates for one file, compared with the estimates of `bench.recompute`.

    `known` is the number of estimates with a speedup, `differs` the largest relative difference.
    `missing` is the number of figures that only one of the two has. `timed` is the number of
    intervals with a wall-clock ratio, `contained` the number of intervals that contain this ratio.
    """

    known: int
    missing: int
    differs: float
    timed: int
    contained: int
    flags: tuple[Flag, ...]


def compare(data: bytes) -> ComparedFile:
    """Compare our estimates with figures recomputed by the rules of the page *Methodology*.

    Raises `ValueError` for an invalid file.
    """
    found = contract.read(data, file="file")
    if not isinstance(found, Submission):
        raise ValueError(found[0].line())  # noqa: TRY004 - about the file, not about a type
    summary = summarize(found)
    ours = {(each.arm, each.task): each for each in summary.estimates if each.speedup is not None}
    pages = {(each.arm, each.task): each for each in recompute.figures(json.loads(data))}
    pairs = [pair for key in ours.keys() & pages.keys() for pair in _figures(ours[key], pages[key])]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    timed = [each for each in ours.values() if each.interval and each.wall_speedup]
    return ComparedFile(
        known=len(ours),
        missing=len(ours.keys() ^ pages.keys()) + sum((a is None) != (b is None) for a, b in pairs),
        differs=max((abs(a / b - 1) for a, b in both), default=0.0),
        timed=len(timed),
        contained=sum(_contains(each) for each in timed),
        flags=summary.flags,
    )


def _figures(
    ours: Estimate, page: recompute.RecomputedFigure
) -> Iterator[tuple[float | None, float | None]]:
    yield ours.speedup, page.speedup
    yield ours.wall_speedup, page.wall
    yield (ours.interval.low if ours.interval else None), page.low
    yield (ours.interval.high if ours.interval else None), page.high
    yield ours.baseline_tps, page.baseline_tps
    yield ours.tps, page.tps
    yield ours.tokens_per_round, page.tokens_per_round
    yield ours.whole_request, page.whole
    whole = ours.whole_request_interval
    yield (whole.low if whole else None), page.whole_low
    yield (whole.high if whole else None), page.whole_high
    yield ours.stated_request, page.stated
    yield (ours.pays_from.tokens if ours.pays_from else None), page.pays_from


def _contains(estimate: Estimate) -> bool:
    interval, wall = estimate.interval, estimate.wall_speedup
    return bool(interval and wall and interval.low <= wall <= interval.high)


def files(more: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each stored result, of an imported sample and of each file given."""
    for path in sorted(COMMUNITY.glob("*.json")):
        yield path.name, path.read_bytes()
    yield "import of logs", canonical_bytes(encode(run(logs(), GREEDY).submission))
    for path in more:
        yield path.name, path.read_bytes()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per file, its flags below it, and the totals."""
    parser = argparse.ArgumentParser(prog="python -m bench.real", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="more result files")
    found = [(name, compare(data)) for name, data in files(parser.parse_args(arguments).files)]
    for name, each in found:
        sys.stdout.write(
            f"{name[:70]:70}{each.known:4} estimates, {each.missing} missing, differ by at most "
            f"{each.differs:.0e}; wall clock in {each.contained} of {each.timed} intervals\n"
        )
        counted = Counter((flag.severity, flag.name) for flag in each.flags)
        sys.stdout.writelines(
            f"    {severity} {flag} x {n}\n" for (severity, flag), n in counted.items()
        )
    everything = [each for _, each in found]
    known, timed = sum(each.known for each in everything), sum(each.timed for each in everything)
    contained, missing = (
        sum(getattr(each, name) for each in everything) for name in ("contained", "missing")
    )
    differs = max(each.differs for each in everything)
    sys.stdout.write(
        f"\n{len(found)} files: {known} estimates, {missing} missing, differ by at most "
        f"{differs:.0e}; wall clock in {contained} of {timed} intervals\n"
    )
    return 0 if missing == 0 and differs <= EXACT and contained >= PROMISE * timed else 1


if __name__ == "__main__":
    raise SystemExit(main())
