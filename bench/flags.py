"""Measure how often the flags for cheats fire: on honest files, and each on its own cheat.

`python -m bench.flags` makes honest files on synthetic rigs: large and small targets, servers and
the in-process engine, every disturbance of `bench.disturbances`, clocks of 10 and 15.6 ms. It adds
the files of `bench.campaigns` and `bench.simulation`. It also adds trios of people whose machines
diverge at near-ties and who must not be flagged as unlike each other. Cheats are applied to honest
files from the rigs, except one cheat that fabricates files. Each share of flagged files is printed
with the upper (for a cheat: lower) end of its Clopper-Pearson interval of 95 %. The exit code is 1
if a flag fires on more than 1 % of honest files, or on less than 90 % of the files with its cheat.
One cheat divides the arms' times by 1.2, which is within the usual difference between honest
machines, so its share is printed without a limit.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import scipy

from bench import campaigns
from bench.designs import interleaved
from bench.disturbances import DISTURBED, SCENARIOS, measured
from bench.population import population
from bench.rigs import SCENARIOS as TROUBLES
from bench.synthetic_campaign import submission_of
from bench.synthetic_rigs import Visit, models, visits
from estimates.summary import summarize
from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus
from schemas.submission import Arm, Gpu, Placement, Snapshot, Submission, Trial
from tests.sample_trials import in_order, slowed
from tests.samples import sample

Cheat = Callable[[Submission, random.Random], Submission]

COMMAND = "python -m bench.flags"
HONEST, CHEATS, MOST, LEAST = 600, 100, 0.01, 0.9
TICKS_MS = (None, None, None, 10.0, 15.625)
COUNTED = {"round_ms_median": None, "accepted_histogram": None, "drafted_histogram": None}
RTX_4090 = Gpu(name="NVIDIA GeForce RTX 4090", vendor="nvidia", vram_mib=24564)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagRow:
    """The share of files on which a flag fires; `bound` is the worse end of the interval."""

    files: str
    flag: str
    made: int
    fired: int
    share: float
    bound: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and write it with `--output`."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--honest", type=int, default=HONEST, help="honest files of each kind")
    parser.add_argument("--cheats", type=int, default=CHEATS, help="files for each way of cheating")
    parser.add_argument("--date", help="date to record in the JSON")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    rows = [row for name in HONEST_WORLDS for row in honest(name, chosen.honest)]
    rows.append(_row(PEERS, "unlike-peers", [unlike(seed) for seed in range(chosen.honest)]))
    rows += [cheated(name, chosen.cheats) for name in KINDS]
    for row in rows:
        shown = f"{row.fired:>6} of {row.made:>5}{row.share:>8.1%}{row.bound:>8.1%}"
        sys.stdout.write(f"{row.files:46}{row.flag:20}{shown}\n")
    if chosen.output:
        about = {"command": COMMAND, "date": chosen.date}
        listed = [asdict(row) for row in rows]
        chosen.output.write_text(json.dumps(about | {"rows": listed}, indent=1) + "\n", "utf-8")
    promised = [row for row in rows if row.files != UNPROMISED]
    kept = (r.share >= LEAST if r.files in KINDS else r.share <= MOST for r in promised)
    return 0 if all(kept) else 1


def honest(world: str, count: int) -> list[FlagRow]:
    """Count, for each flag, the honest files of one kind on which the flag fires."""
    found = [fired(HONEST_WORLDS[world](seed)) for seed in range(count)]
    return [_row(world, flag, [flag in names for names in found]) for flag in FLAGS]


def cheated(cheat: str, count: int) -> FlagRow:
    """Count the files with this cheat on which the cheat's flag fires; other flags are ignored."""
    flag, change = KINDS[cheat]
    found: list[bool] = []
    seed = count  # these are not the first honest files
    while len(found) < count:
        seed += 1
        if change is not labelled or visit(seed).rig.gpu is None:
            changed = change(on_rig(seed), random.Random(seed))  # noqa: S311 - a simulation
            found.append(flag in fired(changed))
    return _row(cheat, flag, found)


def fired(submission: Submission) -> frozenset[str]:
    """The names of a file's flags."""
    return frozenset(flag.name for flag in summarize(submission).flags)


def unlike(seed: int) -> bool:
    """Check whether a build flags one of three honest people as unlike the rest."""
    rng = random.Random(seed)  # noqa: S311 - a simulation
    count, share = rng.choice((1, 2, 3, 6)), rng.uniform(0, 0.5)
    people = [
        parted(sample(seed=at, contributor=name, prompts_per_task=count), rng, share=share)
        for at, name in enumerate(("ada", "bob", "cyd"))
    ]
    return any(x.name == "unlike-peers" for own in flags_within(Corpus.of(people)) for x in own)


def parted(made: Submission, rng: random.Random, *, share: float) -> Submission:
    """Replace the answers to a share of the prompts, and change the round counts of these answers.

    Near-ties also change drafts: a tenth of the other answers take one round more or one fewer.
    """
    seed = rng.random()

    def changed(trial: Trial) -> Trial:
        own = random.Random(f"{seed} {trial.prompt}")  # noqa: S311 - a simulation
        is_other, by = own.random() < share, math.exp(own.gauss(0, 0.25))
        more = own.choice((-1, 1)) if own.random() < 0.1 else 0
        rounds = round((trial.rounds or 0) * by) if is_other else (trial.rounds or 0) + more
        text = f"{seed} {trial.prompt}" if is_other else trial.output_sha256
        counts = {"rounds": min(max(rounds, 10), 40)} if trial.drafted else {}
        return replace(trial, output_sha256=text, **counts)

    return replace(made, trials=tuple(map(changed, made.trials)))


def _row(files: str, flag: str, found: Sequence[bool]) -> FlagRow:
    interval = scipy.stats.binomtest(sum(found), len(found)).proportion_ci()
    share = sum(found) / len(found)
    bound = float(interval.low if files in KINDS else interval.high)
    return FlagRow(
        files=files, flag=flag, made=len(found), fired=sum(found), share=share, bound=bound
    )


@cache
def _rigs() -> tuple[Visit, ...]:
    return tuple({each.rig.key: each for each in visits(80, 33)}.values())


def visit(seed: int) -> Visit:
    """Draw a rig and a model that fits the rig; all fitting models are equally likely."""
    rng = random.Random(seed)  # noqa: S311 - a simulation
    found = rng.choice(_rigs())
    fitting = [each for each in models() if each.file_bytes < found.rig.room_bytes / 2]
    return replace(found, target=rng.choice(fitting), seed=rng.randrange(2**32))


def on_rig(seed: int) -> Submission:
    """An honest file from a disturbed synthetic rig, which may have a coarse clock."""
    rng, made = random.Random(seed), submission_of(visit(seed))  # noqa: S311 - a simulation
    scenario, tick_ms = rng.choice([*DISTURBED.values()]), rng.choice(TICKS_MS)
    one_block = rng.random() < 1 / 8
    trials = in_order(tuple(t for t in made.trials if not one_block or t.block == 0), seed)
    numbers = np.random.default_rng(seed)
    slower = np.exp(scenario.speed(numbers, len(trials)))
    slower *= np.exp(numbers.normal(scale=scenario.noise, size=len(trials)))
    stalls = scenario.stalls
    gone = COUNTED if tick_ms or rng.random() < 1 / 2 else {}
    done: list[Trial] = []
    for trial, factor in zip(trials, slower, strict=True):
        ms = (trial.decode_ms or 0.0) * float(factor)
        if rng.random() < stalls.trials:
            ms += stalls.ms * numbers.poisson(stalls.per_second * ms / 1000)
        if tick_ms:
            ms = max(1.0, ms // tick_ms + (rng.random() < ms / tick_ms % 1)) * tick_ms
        medians = tuple(each * float(factor) for each in trial.round_ms_median or ())
        times = {"draft_ms": None, "verify_ms": None, "wall_ms": None, "decode_ms": ms}
        if trial.outcome == "ok":
            trial = replace(trial, **times, **({"round_ms_median": medians} | gone))  # noqa: PLW2901 - the same trial, disturbed
        done.append(trial)
    on_card = Placement(target_gpu_layers_requested=-1) if made.machine.gpus else None
    arms = tuple(replace(arm, placement=on_card) for arm in made.arms)
    honest_file = replace(made, arms=arms, trials=tuple(done), environment=_readings(made, rng))
    return tied(honest_file, rng, share=rng.uniform(0, 0.2))


def _readings(made: Submission, rng: random.Random) -> tuple[Snapshot, ...]:
    """Snapshots, with a GPU clock for every NVIDIA card and for half of the other cards."""
    vendors = {gpu.vendor for gpu in made.machine.gpus}
    shown = "nvidia" in vendors or (bool(vendors) and rng.random() < 1 / 2)
    clocks = [rng.uniform(900, 2700) if shown else None for _ in range(3)]
    moments = ("before", "during", "after")
    return tuple(
        Snapshot(moment=moment, load_1min=1.0, gpu_clock_mhz=mhz)
        for moment, mhz in zip(moments, clocks, strict=True)
    )


def by_design(seed: int) -> Submission:
    """An honest file from a scenario of `bench.disturbances`; the seed selects the scenario."""
    scenario = [*SCENARIOS.values()][seed % len(SCENARIOS)]
    base = campaigns.bare(scenario)
    times = measured(np.random.default_rng(seed), scenario)
    return replace(base, trials=tuple(campaigns.trials_of(base, scenario, times)))


def by_harness(seed: int) -> Submission:
    """An honest file that the harness measures on a simulated machine."""
    known, trouble = population(), [*TROUBLES.values()][seed % len(TROUBLES)]
    return interleaved(known.rig, trouble, known.draw(random.Random(seed)), seed)  # noqa: S311 - a simulation


def scaled(
    made: Submission, _: random.Random, *, arms: float = 1.0, plain: float = 1.0
) -> Submission:
    """Multiply all times of the arms or of the baseline by a factor."""
    return slowed(made, lambda trial: plain if trial.arm == "baseline" else arms)


def cached(made: Submission, rng: random.Random) -> Submission:
    """Speed up the arms tenfold on a quarter of the prompts, as a cache of answers would."""
    prompts = [prompt.id for prompt in made.suite.prompts]
    known = set(rng.sample(prompts, len(prompts) // 4))
    return slowed(made, lambda t: 0.1 if t.arm != "baseline" and t.prompt in known else 1.0)


def tied(made: Submission, rng: random.Random, *, share: float = 1.0) -> Submission:
    """Let a share of an arm's prompts diverge from the baseline at a near-tie, in every block."""
    seed = rng.random()

    def changed(trial: Trial) -> Trial:
        own = random.Random(f"{seed} {trial.arm} {trial.prompt}")  # noqa: S311 - a simulation
        if trial.outcome == "failed" or trial.arm == "baseline" or own.random() >= share:
            return trial
        return replace(trial, first_divergence=own.randrange(1, 96), divergence_margin=0.01)

    return replace(made, trials=tuple(map(changed, made.trials)))


def labelled(made: Submission, _: random.Random) -> Submission:
    """Present the processor's times as a card's times."""
    engine = replace(made.engine, backend="cuda")
    return replace(made, machine=replace(made.machine, gpus=(RTX_4090,)), engine=engine)


def parroted(made: Submission, _: random.Random) -> Submission:
    """Give all prompts the same answer, as a fake model would."""
    said = tuple(replace(each, output_sha256="0" * 16) for each in made.trials)
    return replace(made, trials=said)


def made_up(_: Submission, rng: random.Random, *, gain: float) -> Submission:
    """Fabricate a sample file's trials from invented rates and acceptance, this gain, and noise."""
    example = sample(seed=rng.randrange(99))
    step_ms, acceptance = rng.uniform(10, 50), rng.uniform(0.5, 0.7)
    arms = tuple(arm for arm in example.arms if arm.method.type != "prompt-lookup")

    def trial(prompt: str, block: int, own: Arm) -> Trial:
        rounds = round(96 / (1 + 4 * rng.gauss(acceptance, 0.03)))
        drafted, taken = (0, 0) if own.role == "baseline" else (4 * rounds, 96 - rounds)
        ms = 96 * step_ms * rng.gauss(1, 0.02) / (1 if own.role == "baseline" else gain)
        return Trial(
            arm=own.id, prompt=prompt, block=block, order=0, outcome="ok", output_tokens=97,
            decode_ms=round(ms, 3), accepted=taken, drafted=drafted,
        )  # fmt: skip

    names = [prompt.id for prompt in example.suite.prompts]
    trials = tuple(trial(*place) for place in product(names, range(2), arms))
    return replace(example, arms=arms, trials=in_order(trials, 1), probes=None)


PEERS = "honest: three people with one pair"
UNPROMISED = "times of the arms / 1.2"
FLAGS = (
    *("cheap-rounds", "one-sided-failures", "near-ties"),
    *("gpu-use-not-shown", "zero-spread"),
    *("same-answers", "below-bandwidth"),
)
HONEST_WORLDS: Mapping[str, Callable[[int], Submission]] = {
    "honest: synthetic rigs": on_rig,
    "honest: scenarios of campaigns": by_design,
    "honest: simulated by the harness": by_harness,
}
ROUNDS = "cheap-rounds"
KINDS: Mapping[str, tuple[str, Cheat]] = {
    UNPROMISED: (ROUNDS, partial(scaled, arms=1 / 1.2)),
    "times of the arms / 1.6": (ROUNDS, partial(scaled, arms=1 / 1.6)),
    "times of the baseline x 1.4": (ROUNDS, partial(scaled, plain=1.4)),
    "a quarter of each answer cached": (ROUNDS, partial(scaled, arms=0.75)),
    "a quarter of the answers cached": (ROUNDS, cached),
    "made up: 3.0x": (ROUNDS, partial(made_up, gain=3.0)),
    "near-ties everywhere": ("near-ties", tied),
    "a processor's file as an RTX 4090's": ("gpu-use-not-shown", labelled),
    "one answer to all prompts": ("same-answers", parroted),
}


if __name__ == "__main__":
    raise SystemExit(main())
