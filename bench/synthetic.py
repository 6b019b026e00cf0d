"""Write a large synthetic collection in the real format, with known truth.

`python -m bench.synthetic --rigs 100 --seed 1 --output build/synthetic` writes a results
folder to build a site from (`python -m pipeline build --results build/synthetic`), and beside it
`truth.json` with what every figure would be without noise. Synthetic data are for tests only: the
command refuses to write into the results of the repository, and every file says what it is.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.synthetic_campaign import arms_of, submission_of
from bench.synthetic_rigs import STEP_BUILD, visits
from bench.synthetic_truth import (
    all_prompts,
    position_acceptance,
    prompt_ids,
    true_decomposition,
)
from estimates.identity import canonical_name
from schemas.vocabulary import FIXED_TASKS
from tests.samples import sample_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bench.synthetic_rigs import Visit
    from schemas.submission import Submission


COMMAND = "python -m bench.synthetic"
RESULTS = Path(__file__).resolve().parents[1] / "results"
DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What one submission would say about one arm on one task ('all' too) without any noise."""

    file: str
    rig: str
    device: str
    backend: str
    build_number: int
    target: str
    quantisation: str
    arm: str
    method: str
    depth: int
    draft: str | None
    task: str
    tokens_per_round: float
    round_cost: float
    speedup: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a corpus and say what it holds."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--rigs", type=int, default=100, help="machine x backend x engine build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="a folder of its own")
    chosen = parser.parse_args(arguments)
    refusal = _refusal(chosen.rigs, chosen.output)
    if refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    written = write_corpus(chosen.output, rigs=chosen.rigs, seed=chosen.seed)
    sys.stdout.write(f"{len(written)} synthetic submissions in {chosen.output}\n")
    return 0


def synthetic_corpus(rigs: int, seed: int) -> Iterator[Submission]:
    """The submissions from `rigs` rigs. The same arguments give the same submissions."""
    return map(submission_of, visits(rigs, seed))


def write_corpus(folder: Path, *, rigs: int, seed: int) -> tuple[Path, ...]:
    """A results folder with the truth beside it; returns the paths of the submissions."""
    community = folder / "community"
    shutil.rmtree(community, ignore_errors=True)
    community.mkdir(parents=True)
    shutil.copytree(RESULTS / "published", folder / "published", dirs_exist_ok=True)
    truths: list[Truth] = []
    paths: list[Path] = []
    visited = tuple(visits(rigs, seed))
    for visit in visited:
        data, name = _file(submission_of(visit))
        paths.append(community / name)
        paths[-1].write_bytes(data)
        truths.extend(_truths(visit, name))
    _write_known(folder / "lifecycle", {visit.contributor for visit in visited} - {None})
    (folder / "truth.json").write_text(_json(seed, visited, truths), "utf-8")
    return tuple(paths)


def _write_known(folder: Path, contributors: Iterable[str | None]) -> None:
    """Entries as maintainers write them, so that cells can be confirmed."""
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


def _file(submission: Submission) -> tuple[bytes, str]:
    data = sample_bytes(submission)
    return data, canonical_name(submission, data)


def _truths(visit: Visit, name: str) -> Iterator[Truth]:
    for arm in arms_of(visit):
        if arm.reason:
            continue
        for task in ("all", *FIXED_TASKS):
            prompts = tuple((t, prompt) for t, prompt in all_prompts() if task in ("all", t))
            tokens, cost = true_decomposition(visit.rig.costs, visit.target, arm.drafter, prompts)
            yield Truth(
                file=name,
                rig=visit.rig.key,
                device=visit.rig.device_name,
                backend=visit.rig.backend,
                build_number=visit.rig.build_number,
                target=visit.target.name,
                quantisation=visit.target.quantisation,
                arm=arm.id,
                method=arm.drafter.kind,
                depth=arm.drafter.depth,
                draft=arm.drafter.draft.name if arm.drafter.draft else None,
                task=task,
                tokens_per_round=round(tokens, DECIMALS),
                round_cost=round(cost, DECIMALS),
                speedup=round(tokens / cost, DECIMALS),
            )


def _json(seed: int, visited: Sequence[Visit], truths: Sequence[Truth]) -> str:
    document = {
        "about": "SYNTHETIC: what a made-up corpus would say without noise; never a measurement.",
        "command": COMMAND,
        "seed": seed,
        "prompts_per_task": len(prompt_ids("code")),
        "rigs": [_rig(visit) for visit in {visit.rig.key: visit for visit in visited}.values()],
        "pairs": _pairs(visited),
        "estimates": [_row(truth) for truth in truths],
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def _rig(visit: Visit) -> dict[str, object]:
    rig = visit.rig
    return {
        "rig": rig.key,
        "device": rig.device_name,
        "backend": rig.backend,
        "build_number": rig.build_number,
        "bytes_per_ms": round(rig.costs.bytes_per_ms, DECIMALS),
        "overhead_ms": rig.costs.overhead_ms,
        "slope": round(rig.costs.slope, DECIMALS),
        "step_at_build": STEP_BUILD if rig.step else None,
        "slope_after_step": rig.step,
    }


def _pairs(visited: Sequence[Visit]) -> list[dict[str, object]]:
    """Per-position acceptance of every pair on every task, before prompts differ."""
    seen = {
        (visit.target.name, arm.drafter.kind, arm.drafter.depth, _draft_name(arm.drafter.draft)): (
            arm.drafter,
            visit.target,
        )
        for visit in visited
        for arm in arms_of(visit)
        if not arm.reason
    }
    return [
        {
            "target": target,
            "method": method,
            "depth": depth,
            "draft": draft,
            "task": task,
            "position_acceptance": [
                round(chance, DECIMALS) for chance in position_acceptance(drafter, model, task)
            ],
        }
        for (target, method, depth, draft), (drafter, model) in seen.items()
        for task in FIXED_TASKS
    ]


def _draft_name(draft: object) -> str | None:
    return getattr(draft, "name", None)


def _row(truth: Truth) -> dict[str, object]:
    return {name: getattr(truth, name) for name in Truth.__slots__}


if __name__ == "__main__":
    raise SystemExit(main())
