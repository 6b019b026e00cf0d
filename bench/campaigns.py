"""Measure the coverage of a campaign's intervals under every disturbance, with known truth.

`python -m bench.campaigns` simulates campaigns with a baseline and other arms. In its scenarios,
prompts and tasks differ, methods seldom draft, machines drift, have two speeds or stall, and arms
time out. Each scenario has one row with these shares: intervals that contain the truth (over all
tasks, for the whole request, and for one task); single tasks with a false sign; campaigns with a
false gain over all tasks; intervals that contain the wall-clock ratio. The row ends with the
half-width. In the columns `before`, the estimator of `bench.previous` is applied to the same trials
and judged by its own truth. One of sixty scenarios may miss a promise by chance, so a scenario that
misses a promise is repeated with ten times as many campaigns. The exit code is 1 if it misses
again. With `--output`, the figures are also written as JSON, for the page Proofs.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from bench.disturbances import (
    DISTURBED,
    FAILING,
    SCENARIOS,
    STRATA,
    TOKENS,
    Scenario,
    Times,
    measured,
    request_times,
    rounds_of,
    smooth,
)
from bench.previous import geometric
from estimates.intervals import CONFIDENCE
from estimates.model import Estimate, Interval
from estimates.pairing import pair
from estimates.ratios import scopes
from estimates.requests import Readings
from estimates.summary import estimate
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary import FIXED_TASKS, HELPS_ABOVE, HURTS_BELOW
from tests.samples import sample

CAMPAIGNS, AGAIN, SEED = 1000, 10, 20261121
COMMAND = "python -m bench.campaigns"
# Four prompts that differ by 30 % give 3.1 % false signs; a 95 % interval may err in 5 %.
COVERED, FALSE_SIGNS, FALSE_SIGNS_SELDOM = 0.93, 0.035, 0.02
# Two medians of a thousand widths may differ this much by chance.
WIDER = 1.03
# Single tasks keep the promise with at least this many prompts.
MANY_PROMPTS = 8


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A scenario's row: shares of campaigns or tasks, and median half-widths over all tasks."""

    campaigns: int
    covered_before: float
    covered: float
    request: float
    one_task: float
    false_signs: float
    false_helps: float
    contains_wall: float
    wide_before: float
    wide: float


HEADS = (
    "campaigns",
    "before",
    "all tasks",
    "request",
    "one task",
    "false signs",
    "false helps",
    "has wall",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, then the promises that were missed."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="campaigns per scenario")
    parser.add_argument(
        "--scenario", action="append", choices=SCENARIOS, help="scenario to run; can be repeated"
    )
    parser.add_argument("--date", help="date to record in the JSON")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    heads = (*HEADS, "width before", "now")
    sys.stdout.write(f"{'':42}" + "".join(f"{head:>13}" for head in heads) + "\n")
    missed, rows = [], {}
    for name in chosen.scenario or SCENARIOS:
        row = simulate(SCENARIOS[name], chosen.campaigns)
        if [*broken(name, row)]:
            row = simulate(SCENARIOS[name], AGAIN * chosen.campaigns)
        rows[name] = row
        cells = "".join(f"{getattr(row, each):>13.5g}" for each in CampaignRow.__slots__)
        sys.stdout.write(f"{name:42}{cells}\n")
        sys.stdout.flush()
        missed += [f"{name}: {each}" for each in broken(name, row)]
    sys.stdout.writelines(f"missed: {each}\n" for each in missed)
    if chosen.output:
        chosen.output.write_text(_json(rows, chosen.campaigns, chosen.date), "utf-8")
    return 1 if missed else 0


def broken(name: str, row: CampaignRow) -> Iterator[str]:
    """Yield the promised bounds on coverage, false claims and width that a row misses."""
    scenario = SCENARIOS[name]
    if row.false_helps > FALSE_SIGNS_SELDOM:
        yield "false gains over all tasks"
    if name in FAILING:
        return
    if row.covered < COVERED or row.request < COVERED:
        yield "coverage"
    smooth_spread = scenario.gains is smooth and scenario.per_task >= MANY_PROMPTS
    if smooth_spread and row.one_task < COVERED:
        yield "coverage of single tasks"
    often = scenario.method == "draft-model"
    if row.false_signs > (FALSE_SIGNS if often else FALSE_SIGNS_SELDOM):
        yield "false signs"
    if row.contains_wall < CONFIDENCE:
        yield "wall clock"
    if row.covered_before >= COVERED and row.wide > WIDER * row.wide_before:
        yield "wider than before"


def simulate(scenario: Scenario, campaigns: int) -> CampaignRow:
    """Simulate a scenario's campaigns; judge the current estimator and that of `bench.previous`."""
    rng = np.random.default_rng(SEED)
    base = bare(scenario)
    found = [_judged(base, scenario, measured(rng, scenario)) for _ in range(campaigns)]
    return CampaignRow(
        campaigns,
        _mean(each.before for each in found),
        _mean(each.covered for each in found),
        _mean(each.request for each in found),
        _mean(flag for each in found for flag in each.tasks),
        _mean(flag for each in found for flag in each.signs),
        _mean(each.helps for each in found),
        _mean(flag for each in found for flag in each.walls),
        _wide(each.wide_before for each in found),
        _wide(each.wide for each in found),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignJudgement:
    """Whether the intervals for a campaign's first arm contain the truth; `None` if one is missing.

    `walls`: whether they contain the wall-clock ratio. `signs` and `helps` are true for false
    claims. `wide` and `wide_before` are half-widths.
    """

    before: bool | None
    covered: bool | None
    request: bool | None
    tasks: list[bool | None]
    signs: list[bool | None]
    helps: bool
    walls: list[bool | None]
    wide_before: float | None
    wide: float | None


def _judged(base: Submission, scenario: Scenario, times: Times) -> CampaignJudgement:
    submission = replace(base, trials=tuple(trials_of(base, scenario, times)))
    arm = submission.arms[1]
    # A file without the fixed tasks is imported and is therefore judged over its own tasks.
    everything = [
        each
        for each in scopes(submission, arm, pair(submission, arm))
        if len(each.groups) == 1 or each.task is None
    ]
    request = cache(Readings(submission).request)
    found = [estimate(scope, request, lambda _: None) for scope in everything]
    _, old = geometric(everything[-1])
    plain, own = request_times(scenario, times.truths)
    truth = -math.log(np.exp(-times.truths).mean())
    overall, tasks = found[-1], list(zip(found, times.truths, strict=False))[: scenario.tasks]
    return CampaignJudgement(
        before=_holds(old, float(times.geometric.mean())),
        covered=_holds(overall.interval, truth),
        request=_holds(overall.whole_request_interval, math.log(plain / own)),
        tasks=[_holds(each.interval, truth) for each, truth in tasks],
        signs=[_is_false(each, truth) for each, truth in tasks],
        helps=overall.verdict == "helps" and _is_false(overall, truth),
        walls=[_holds(each.interval, math.log(each.wall_speedup or 1)) for each in found],
        wide_before=None if old is None else old.log_half_width,
        wide=None if overall.interval is None else overall.interval.log_half_width,
    )


def _holds(interval: Interval | None, truth: float) -> bool | None:
    # A bound that was widened to a ratio differs from that ratio by a rounding error.
    tiny = 1e-12
    if interval is None:
        return None
    return math.log(interval.low) - tiny <= truth <= math.log(interval.high) + tiny


def _is_false(found: Estimate, truth: float) -> bool:
    """Check whether an estimate shows a gain or loss that its true ratio does not have."""
    if found.doubt is not None:
        return False
    gains = found.verdict in {"helps", "slower-in-all"} and math.exp(truth) <= HELPS_ABOVE + 1e-9
    return gains or (found.verdict == "hurts" and math.exp(truth) >= HURTS_BELOW)


def bare(scenario: Scenario) -> Submission:
    """A submission with the scenario's arms and prompts, from a quiet machine, without trials."""
    tasks = FIXED_TASKS[: scenario.tasks]
    made = sample(tasks=tasks, prompts_per_task=scenario.per_task, blocks=1)
    draft = "tiny-q8-0" if scenario.method == "draft-model" else None
    method = Method(type=scenario.method, draft=draft, n_max=4)
    speculating = (
        Arm(id=name, role="speculation", method=method, baseline="baseline")
        for name in scenario.names[1:]
    )
    by_task = sorted(made.suite.prompts, key=lambda each: tasks.index(each.task))
    return replace(
        made,
        tier="measured" if len(tasks) == len(FIXED_TASKS) else "imported",
        arms=(Arm(id="baseline", role="baseline", method=NO_SPECULATION), *speculating),
        trials=(),
        settings=replace(made.settings, max_output_tokens=TOKENS),
        suite=replace(made.suite, prompts=tuple(by_task)),
        design=replace(made.design, blocks=scenario.blocks, interleaved="prompt"),
    )


def trials_of(base: Submission, scenario: Scenario, times: Times) -> Iterator[Trial]:
    for (block, prompt, at), decode_ms in np.ndenumerate(times.decode):
        place = {
            "arm": base.arms[at].id,
            "prompt": base.suite.prompts[prompt].id,
            "block": block,
            "order": int(times.order[block, prompt, at]),
        }
        if at and times.fails[prompt]:
            spent_ms = times.limit_ms if scenario.limit else None
            yield Trial(**place, outcome="failed", reason="timed-out", wall_ms=spent_ms)
            continue
        drafts = bool(at and times.drafts[prompt])
        read = times.draft_reading[block, prompt, at] if at else 0.0
        yield Trial(
            **place,
            outcome="ok",
            output_tokens=TOKENS,
            decode_ms=float(decode_ms),
            prompt_ms=float(times.reading[block, prompt, at]),
            draft_prompt_ms=float(read) if at and scenario.method == "draft-model" else None,
            **(_counted(drafts, times.steady[block, prompt, at]) if scenario.counted else {}),
        )


def _counted(drafts: bool, steady_ms: float) -> dict[str, object]:  # noqa: FBT001 - one of two
    """A trial's counters as an engine reports them, and its median round time."""
    rounds = rounds_of(int(drafts))
    return {
        "rounds": rounds,
        "drafted_histogram": (0, 0, 0, 0, rounds) if drafts else (rounds,),
        "round_ms_median": (float(steady_ms) / rounds,),
    }


def _mean(flags: Iterable[bool | None]) -> float:
    """The share of flags that are true, among the known flags."""
    found = [flag for flag in flags if flag is not None]
    return float(np.mean(found)) if found else math.nan


def _wide(logs: Iterable[float | None]) -> float:
    found = [each for each in logs if each is not None]
    return math.expm1(float(np.median(found))) if found else math.nan


def _json(rows: dict[str, CampaignRow], campaigns: int, date: str | None) -> str:
    groups = {"disturbed": DISTURBED, "strata": STRATA, "failing": FAILING}
    listed = {
        group: [_figures(name, rows[name]) for name in names if name in rows]
        for group, names in groups.items()
    }
    about = {"command": COMMAND, "date": date, "campaigns_per_scenario": campaigns}
    return json.dumps({**about, **listed}, indent=2) + "\n"


def _figures(name: str, row: CampaignRow) -> dict[str, object]:
    known = {key: round(each, 4) for key, each in asdict(row).items() if not math.isnan(each)}
    return {"scenario": name, **known}


if __name__ == "__main__":
    raise SystemExit(main())
