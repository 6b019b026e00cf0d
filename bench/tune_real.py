"""Check a tune on the real engine, with an oracle whose true acceptance is known.

`python -m bench.tune_real FOLDER` runs `harness tune` on the embedded model with the oracle,
once for each acceptance. The truth is decomposed: sweeps over all depths give what a round costs
by drafted length, the acceptance gives the tokens. Each certified speedup is measured once more on
the same prompts. What is done stands in the folder, so that the command continues where it ended;
`--steps` ends it early. Times are from the steady clock of each trial, so a busy machine is no harm
beyond noise.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.tune_rigs import Rig, answers, log_times
from estimates.pairing import clock, excess, is_timed, ms_per_token
from estimates.summary import summarize
from estimates.tuning import CERTIFICATE_BLOCKS
from harness.campaign.build import LEAST_BLOCKS
from schemas.contract import read
from schemas.submission import Submission
from schemas.vocabulary import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.tune_rigs import Array

TARGET, DEEPEST, NEAR = "smollm2-135m:f16", 8, 0.02
ACCEPTANCES = (0.9, 0.7, 0.5, 0.8, 0.95, 0.6, 0.85, 0.4, 0.75, 0.65)
HOPELESS = (0.02, 0.05)
TUNES, HOPELESS_TUNES, SWEEPS = 20, 10, 2
BUDGET_MIN, TOKENS = 2.5, 32
TRUTH_ACCEPTANCE, TRUTH_PROMPTS = 0.7, 4000


class Bench:
    """The steps in a folder: sweeps, tunes, repetitions."""

    def __init__(
        self, folder: Path, *, target: str, budget_min: float, tokens: int, sweeps: int
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.tokens, self.sweeps = folder, tokens, sweeps
        self._budget_min = budget_min
        self._common = ("--target", target, "--max-tokens", str(tokens), "--threads", "1")

    def steps(self) -> Iterator[tuple[str, ...]]:
        """The commands that are still to be run, without their output."""
        for number in range(self.sweeps):
            yield from self._unless(f"sweep-{number}", self._sweep())
            first, last = (each * TUNES // self.sweeps for each in (number, number + 1))
            for tune in range(first, last):
                yield from self._unless(f"tune-{tune}", self._tune(acceptance(tune), tune))
            for tune in range(first, last):
                again = self._again(tune)
                yield from self._unless(f"again-{tune}", again) if again else ()
        for tune in range(TUNES, TUNES + HOPELESS_TUNES):
            yield from self._unless(f"tune-{tune}", self._tune(acceptance(tune), tune))

    def run(self, words: Sequence[str], name: str) -> None:
        """Run one step. Raises `SystemExit` where it fails."""
        result = self.folder / f"{name}.json"
        command = [sys.executable, "-m", "harness", *words, "--output", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr[-2000:]}")
        (self.folder / f"{name}.out").write_text(done.stdout, "utf-8")
        sys.stderr.write(f"{name} is done\n")

    def _unless(self, name: str, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if not (self.folder / f"{name}.out").exists():
            (self.folder / f"{name}.json").unlink(missing_ok=True)
            yield name, *words

    def _sweep(self) -> tuple[str, ...]:
        arms = [
            word
            for depth in range(1, DEEPEST + 1)
            for word in ("--method", f"oracle:n_max={depth},acceptance={TRUTH_ACCEPTANCE}")
        ]
        return ("run", *self._common, *arms, "--prompts", "1", "--blocks", "3")

    def _tune(self, wanted: float, seed: int) -> tuple[str, ...]:
        words = ("--method", f"oracle:acceptance={wanted}", "--deepest", str(DEEPEST))
        budget = ("--budget", str(self._budget_min), "--seed", str(seed), "--json")
        return ("tune", *self._common, *words, *budget)

    def _again(self, tune: int) -> tuple[str, ...] | None:
        found = self.found(tune)
        if found is None or not found["pick"] or not found["pick"]["depth"]:
            return None
        prompts = ",".join(prompt.id for prompt in self.submission(f"tune-{tune}").suite.prompts)
        arm = f"oracle:n_max={found['pick']['depth']},acceptance={acceptance(tune)}"
        words = ("--method", arm, "--prompts", prompts, "--blocks", str(CERTIFICATE_BLOCKS))
        return ("run", *self._common, *words, "--seed", str(tune))

    def found(self, tune: int) -> dict[str, Any] | None:
        """What a tune printed, if it was run."""
        file = self.folder / f"tune-{tune}.out"
        return json.loads(file.read_text("utf-8")) if file.exists() else None

    def submission(self, name: str) -> Submission:
        """A result. Raises `TypeError` for an invalid one."""
        found = read((self.folder / f"{name}.json").read_bytes())
        if not isinstance(found, Submission):
            message = f"{name}: {found}"
            raise TypeError(message)
        return found

    def again(self, tune: int) -> float | None:
        """The speedup of a second campaign, equal weight per task that it has."""
        if not (self.folder / f"again-{tune}.out").exists():
            return None
        found = summarize(self.submission(f"again-{tune}")).estimates
        tasks = [each.speedup for each in found if each.task is not None and each.speedup]
        return float(np.exp(np.mean(np.log(tasks)))) if tasks else None


def acceptance(tune: int) -> float:
    """What a tune's oracle is set to."""
    listed = ACCEPTANCES if tune < TUNES else HOPELESS
    return listed[tune % len(listed)]


def costs(sweeps: Sequence[Submission]) -> tuple[Array, Array]:
    """R by drafted length with its standard error: least squares over all trials of sweeps."""
    rows = []
    for sweep in sweeps:
        timed = tuple(trial for trial in sweep.trials if is_timed(trial))
        by, ms = clock(timed), {}
        for arm in sweep.arms:
            factor = excess(timed, arm.id)
            for trial in (each for each in timed if each.arm == arm.id):
                ms[arm.id, trial.prompt, trial.block] = ms_per_token(trial, by, factor)
        for trial in timed:
            plain = ms.get(("baseline", trial.prompt, trial.block))
            own = ms[trial.arm, trial.prompt, trial.block]
            if trial.arm != "baseline" and plain and own and trial.drafted_histogram:
                counts = np.zeros(DEEPEST + 1)
                counts[: len(trial.drafted_histogram)] = trial.drafted_histogram
                rows.append(counts / (own / plain * ((trial.output_tokens or 1) - 1)))
    counted = np.array(rows)
    ones = np.ones(len(counted))
    found: Array = np.linalg.lstsq(counted, ones, rcond=None)[0].astype(np.float64)
    spread = float(np.var(ones - counted @ found, ddof=DEEPEST + 1))
    errors: Array = np.sqrt(spread * np.diag(np.linalg.inv(counted.T @ counted)))
    return found, errors


def truth(known: Array, wanted: float, tokens: int) -> Array:
    """The speedup at depth 0, 1, … with this acceptance, over very many answers."""
    rig = Rig(
        costs=known,
        chances=np.array([wanted]),
        fall=1.0,
        noise=0.0,
        drift=0.0,
        deepest=DEEPEST,
        tokens=tokens,
    )
    found = answers(rig, [0] * TRUTH_PROMPTS, np.random.default_rng(1))
    speedups: Array = np.exp(-log_times(rig, found).mean(axis=1))
    return speedups


def report(bench: Bench) -> Iterator[str]:
    """The table: the truth of each tune, its pick, what that loses, its certificate, its trials."""
    known, errors = costs([bench.submission(f"sweep-{n}") for n in range(bench.sweeps)])
    listed = zip(known[1:], errors[1:], strict=True)
    yield "R by drafted length: " + ", ".join(f"{r:.3f} ± {1.96 * e:.3f}" for r, e in listed)
    yield "| acceptance | best depth | its speedup | pick | loss | certified | again | trials |"
    yield "|---" + 7 * "|---:" + "|"
    near, off, repeated, shares = [], [], [], []
    for tune in range(TUNES + HOPELESS_TUNES):
        found = bench.found(tune)
        if found is None:
            continue
        speedups = truth(known, acceptance(tune), bench.tokens)
        pick = (found["pick"] or {}).get("depth") or 0
        loss, again = 1 - speedups[pick] / speedups.max(), bench.again(tune)
        prompts = found["prompts"].get("race", 0) + found["prompts"].get("certificate", 0)
        shares.append(found["trials"] / ((DEEPEST + 1) * prompts * LEAST_BLOCKS))
        near.append(loss <= NEAR)
        if speedups.argmax() == 0:
            off.append(pick == 0)
        given = found["speedup"]
        if again is not None and given:
            repeated.append(given["low"] <= again <= given["high"])
        given = given or {"estimate": None, "low": None, "high": None}
        shown = say.speedup(given["estimate"], given["low"], given["high"])
        yield (
            f"| {acceptance(tune)} | {speedups.argmax() or 'off'} | {speedups.max():.3f} | "
            f"{pick or 'off'} | {loss:.1%} | {shown} | "
            f"{say.times(again)} | {shares[-1]:.0%} |"
        )
    yield f"within 2 % of the best: {sum(near)} of {len(near)}"
    yield f"off where nothing helps: {sum(off)} of {len(off)}"
    yield f"certified speedups found again: {sum(repeated)} of {len(repeated)}"
    yield f"trials of a sweep: {np.mean(shares):.0%}, at most {max(shares):.0%}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, and print the table once both sweeps are there."""
    parser = argparse.ArgumentParser(prog="python -m bench.tune_real", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the steps are kept")
    parser.add_argument("--target", default=TARGET, help="a faster model needs a smaller budget")
    parser.add_argument("--budget", type=float, default=BUDGET_MIN, help="minutes for a tune")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="the length of an answer")
    parser.add_argument("--sweeps", type=int, default=SWEEPS, help="more of them know R better")
    parser.add_argument("--steps", type=int, default=1000, help="run no more than so many")
    chosen = parser.parse_args(arguments)
    bench = Bench(
        chosen.folder,
        target=chosen.target,
        budget_min=chosen.budget,
        tokens=chosen.tokens,
        sweeps=chosen.sweeps,
    )
    for _ in range(chosen.steps):
        step = next(bench.steps(), None)
        if step is None:
            break
        bench.run(step[1:], step[0])
    if all((bench.folder / f"sweep-{number}.out").exists() for number in range(bench.sweeps)):
        sys.stdout.write("".join(f"{line}\n" for line in report(bench)))


if __name__ == "__main__":
    main()
