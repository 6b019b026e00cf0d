"""Write a large synthetic collection in the real format.

`python -m bench.synthetic --rigs 100 --seed 1 --output build/synthetic` writes a results folder to
build a site from (`python -m pipeline build --results build/synthetic`). Synthetic data are for
tests only: the command refuses to write into the results of the repository, and every file is
marked as synthetic.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from bench.synthetic_campaign import submission_of
from bench.synthetic_rigs import visits
from estimates.identity import canonical_name
from tests.samples import sample_bytes

COMMAND = "python -m bench.synthetic"
RESULTS = Path(__file__).resolve().parents[1] / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a synthetic corpus and print its size."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "--rigs",
        type=int,
        default=100,
        help="number of combinations of machine, backend and engine build",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="an empty folder")
    chosen = parser.parse_args(arguments)
    refusal = _refusal(chosen.rigs, chosen.output)
    if refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    written = write_corpus(chosen.output, rigs=chosen.rigs, seed=chosen.seed)
    sys.stdout.write(f"{len(written)} synthetic submissions in {chosen.output}\n")
    return 0


def write_corpus(
    folder: Path, *, rigs: int, seed: int, most: int | None = None
) -> tuple[Path, ...]:
    """Write a results folder and return the paths; equal arguments give equal files."""
    community = folder / "community"
    shutil.rmtree(community, ignore_errors=True)
    community.mkdir(parents=True)
    shutil.copytree(RESULTS / "published", folder / "published", dirs_exist_ok=True)
    paths: list[Path] = []
    visited = tuple(islice(visits(rigs, seed), most))
    for visit in visited:
        submission = submission_of(visit)
        data = sample_bytes(submission)
        paths.append(community / canonical_name(submission, data))
        paths[-1].write_bytes(data)
    _write_known(folder / "lifecycle", {visit.contributor for visit in visited} - {None})
    return tuple(paths)


def _write_known(folder: Path, contributors: Iterable[str | None]) -> None:
    """Write entries for known contributors, so that cells can be confirmed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    entry = {
        "format": "draftmap-lifecycle",
        "version": 1,
        "status": "known",
        "date": "2026-11-21",
        "reason": "SYNTHETIC: nobody",
    }
    for name in contributors:
        path = folder / f"contributor--{str(name).lower()}.json"
        path.write_text(json.dumps(entry), encoding="utf-8")


def _refusal(rigs: int, output: Path) -> str | None:
    if rigs < 1:
        return f"--rigs is {rigs}; give 1 or more"
    if output.resolve().is_relative_to(RESULTS):
        return (
            f"{output} holds measured results; give --output another folder, e.g. build/synthetic"
        )
    return None


if __name__ == "__main__":
    raise SystemExit(main())
