"""Do quick runs beside a busy program contain the quiet figure, and last as long as announced?

`python -m bench.busy` measures the default model as `run --quick --prompts 1` does, beside a
process that takes a core in bursts and whatever else the machine does. The quiet figure of a prompt
is the ratio of the fastest trials of either arm over all runs: each was alone at some time, and
greedy decoding makes the same text in every run. `--quiet 1` adds runs without the busy program.
Results that are there already are not measured again. The exit code is 1 if fewer than 95 of 100
intervals contain the quiet figure, or if a duration is off by more than a factor of 1.5.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from bench import bursts
from bench.aa import measured
from estimates.load import strain
from estimates.pairing import decode_ms_per_token, ms_per_token
from estimates.summary import summarize
from harness.campaign.duration import expected, this_machine
from harness.campaign.from_options import campaign_from
from harness.campaign.options import Options
from harness.run.result_file import write
from schemas import contract
from schemas.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from estimates.model import Estimate

KEPT = Path("build/bench/busy")
PROMISE, FACTOR = 0.95, 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A result, the duration said before it and the real one, in seconds; `None` where unknown."""

    name: str
    submission: Submission
    said_s: float | None
    lasted_s: float

    @property
    def held(self) -> bool:
        """Whether the announced duration was right to within the factor."""
        off = abs(math.log(self.lasted_s / self.said_s)) if self.said_s else 0.0
        return off <= math.log(FACTOR)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing and print a line per run and arm, then the shares."""
    parser = argparse.ArgumentParser(prog="python -m bench.busy", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="beside the busy program")
    parser.add_argument("--quiet", type=int, default=0, help="runs without it")
    parser.add_argument("--keep", type=Path, default=KEPT, help="where the result files stay")
    parser.add_argument("--print-only", action="store_true", help="measure nothing")
    chosen = parser.parse_args(arguments)
    chosen.keep.mkdir(parents=True, exist_ok=True)
    if not chosen.print_only:
        names = [f"quiet-{seed:02}" for seed in range(chosen.quiet)]
        for name in (*names, *(f"busy-{seed:02}" for seed in range(chosen.runs))):
            _measure(name, chosen.keep)
    runs = list(_runs(chosen.keep))
    rows = list(_rows(runs))
    held = [row["contains"] for row in rows]
    sys.stdout.writelines(f"{_line(row)}\n" for row in rows)
    late = [run.name for run in runs if not run.held]
    timed = [run for run in runs if run.said_s]
    sys.stdout.write(
        f"\n{sum(held)} of {len(held)} intervals contain the quiet figure; {len(timed) - len(late)}"
        f" of {len(timed)} durations within a factor of {FACTOR:g}\n"
    )
    return 0 if held and fmean(held) >= PROMISE and not late else 1


def _measure(name: str, kept: Path) -> None:
    """One quick run, unless its result is there; the announced duration stands beside it."""
    path = kept / f"{name}.json"
    if path.exists():
        return
    kind, seed = name.split("-")
    campaign = campaign_from(
        Options(quick=True, prompts=("1",), seed=int(seed)), say=lambda _: None
    )
    with bursts.running(int(seed)) if kind == "busy" else nullcontext():
        time.sleep(1)
        said = expected(campaign, this_machine(campaign.settings.threads))
        began = time.monotonic()
        submission = measured(campaign, path.with_suffix(".jsonl"))
        lasted_s = time.monotonic() - began
    times = {"said_s": said.seconds if said else None, "lasted_s": lasted_s}
    path.with_suffix(".times").write_text(json.dumps(times), "utf-8")
    write(submission, path)
    sys.stdout.write(f"{name}: {times}\n")
    sys.stdout.flush()


def _runs(kept: Path) -> Iterator[Run]:
    for path in sorted(kept.glob("*.json")):
        submission = contract.read(path.read_bytes())
        if not isinstance(submission, Submission):
            message = f"{path} is not valid; remove it"
            raise TypeError(message)
        beside = path.with_suffix(".times")
        times = json.loads(beside.read_text("utf-8")) if beside.exists() else {}
        began, ended = (
            datetime.fromisoformat(moment)
            for moment in (submission.measured_from, submission.measured_until)
        )
        yield Run(
            name=path.stem,
            submission=submission,
            said_s=times.get("said_s"),
            lasted_s=times.get("lasted_s") or (ended - began).total_seconds(),
        )


def _rows(runs: Sequence[Run]) -> Iterator[dict[str, object]]:
    fastest = _fastest(runs)
    for run in runs:
        for each in summarize(run.submission).estimates:
            if each.task is None and each.interval and each.speedup:
                quiet = _quiet(fastest, run.submission, each)
                yield {
                    "run": run,
                    "estimate": each,
                    "quiet": quiet,
                    "contains": each.interval.low <= quiet <= each.interval.high,
                }


def _fastest(runs: Sequence[Run]) -> dict[tuple[str, str], float]:
    """The least milliseconds per token of each arm on each prompt."""
    found: dict[tuple[str, str], float] = {}
    for run in runs:
        for trial in run.submission.trials:
            ms = ms_per_token(trial) or decode_ms_per_token(trial)
            if ms is not None:
                key = trial.arm, trial.prompt
                found[key] = min(ms, found.get(key, math.inf))
    return found


def _quiet(
    fastest: dict[tuple[str, str], float], submission: Submission, estimate: Estimate
) -> float:
    """The quiet speedup over the run's prompts: equal weight per task."""
    baseline = next(arm.baseline for arm in submission.arms if arm.id == estimate.arm)
    by_task: dict[str, list[float]] = {}
    for prompt in submission.suite.prompts:
        ratio = fastest[str(baseline), prompt.id] / fastest[estimate.arm, prompt.id]
        by_task.setdefault(prompt.task, []).append(math.log(ratio))
    return math.exp(fmean(fmean(logs) for logs in by_task.values()))


def _line(row: dict[str, object]) -> str:
    run, each = row["run"], row["estimate"]
    low, high = each.interval.low, each.interval.high
    return (
        f"{run.name:9}{each.arm:18}{each.speedup:6.3f} [{low:.3f}, {high:.3f}]  quiet "
        f"{row['quiet']:.3f}{'' if row['contains'] else ' MISSED'}  {each.verdict:20}"
        f"strain {strain(run.submission):5.2f}  said {run.said_s or 0:4.0f} s, "
        f"lasted {run.lasted_s:4.0f} s{'' if run.held else ' OFF'}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
