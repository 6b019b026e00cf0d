"""Check the advisor on collections of another generator than the one it was developed with.

`python -m bench.advisor` fits it to what contributors of `advisor_world` measured. Others,
whom the corpus does not hold, are then predicted as visitors are. Printed by the number of
contributors: how often intervals held as stated (left out, in folds), for new contributors and for
unseen quantisations; and the median error as stated and found. Exit code 1 if a promise is missed.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from bench.advisor_world import AdvisorWorld, Observation
from pipeline.data.aggregate import make, prepare, view_queries
from pipeline.site.advice import Knowledge, KnownModel, key
from pipeline.site.pages.knowledge import knowledge
from tests.pipeline.predictions import AdviceQuery, answer

PROMISE, UNSEEN_PROMISE, FACTOR = 0.93, 0.90, 1.3
CONTRIBUTORS, WORLDS, FRESH = (12, 40, 110), 4, 40
LEAST_JUDGED = 40


def fitted(observations: Sequence[Observation]) -> duckdb.DuckDBPyConnection:
    """The advisor's tables over these observations."""
    unique = {each["observation"]: each for each in observations}
    connection = duckdb.connect()
    prepare(connection)
    table = pa.Table.from_pylist(list(unique.values()))
    connection.from_arrow(table).create("advice_observation")
    connection.execute(
        "create table setup as select '0' as submission, date '2026-11-22' as measured_from,"
        " '' as target_label, '' as quantisation, '' as device_label, '' as backend;"
        "create table cell as select cell, avg(speedup) as speedup, null::double as interval_low,"
        " null::double as interval_high, null::double as stated_request"
        " from advice_observation group by cell;"
        "create table verification_curve as select '' as device, '' as backend, '' as target,"
        " '' as quantisation, 1 as width, 1.0::double as step_ratio limit 0"
    )
    for name, query in view_queries().items():
        if name.startswith("advice_") and name != "advice_observation":
            make(connection, name, query)
    return connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """How far off one was, as a logarithm; the half-width of its interval, if it has one."""

    error: float
    half: float | None


def predictions(known: Knowledge, observations: Sequence[Observation]) -> Iterator[Prediction]:
    """What the advisor says of each observation, where it says something."""
    models = {model.id: model for model in known.models}
    choices = {key(each.method, each.depth, each.draft): each for each in known.choices}
    for each in observations:
        model = models.get(f"{each['target']}|{each['quantisation_slug']}") or _unmeasured(each)
        question = AdviceQuery(
            backend=each["backend"], size=each["size_order"], task=each["task"],
            device=each["device"], memory=each["vram_gib"], model=model,
        )  # fmt: skip
        how = each["method"], each["depth"]
        choice = choices.get(key(*how, each["draft_slug"])) or choices.get(key(*how))
        found = answer(known, question, choice) if choice else None
        if found is not None:
            yield Prediction(
                error=abs(math.log(found.speedup / each["speedup"])),
                half=None if found.low is None else math.log(found.speedup / found.low),
            )


def _unmeasured(each: Observation) -> KnownModel:
    """A model, or a quantisation of it, that the corpus does not hold: its size is known."""
    return KnownModel(
        id="", target=each["target"], quantisation=each["quantisation_slug"], label="",
        size=each["size_order"], step_bytes=each["step_bytes"],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdvisorRow:
    """One corpus: what the page states, and what new contributors find."""

    held_stated: float
    held_fresh: float
    held_unseen: float
    error_stated: float
    error_fresh: float
    half_width: float
    answered: float


def judge(contributors: int, seed: int) -> AdvisorRow:
    """One world: fit to so many contributors, then ask for others."""
    world = AdvisorWorld(seed)
    known = knowledge(fitted(world.observations("c", contributors, unseen=False)))
    stated = known.errors[""]
    asked = world.observations("new", FRESH, unseen=False)
    fresh = list(predictions(known, asked))
    unseen = list(predictions(known, world.observations("odd", FRESH, unseen=True)))
    return AdvisorRow(
        held_stated=stated.held or math.nan,
        held_fresh=_share(fresh),
        held_unseen=_share(unseen),
        error_stated=stated.median_error,
        error_fresh=math.expm1(float(np.median([each.error for each in fresh]))),
        half_width=math.expm1(float(np.median([each.half for each in fresh if each.half]))),
        answered=len(fresh) / len(asked),
    )


def _share(found: Sequence[Prediction]) -> float:
    return float(np.mean([each.error <= each.half for each in found if each.half is not None]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per corpus and size, then what was promised and not found."""
    parser = argparse.ArgumentParser(prog="python -m bench.advisor", description=__doc__)
    parser.add_argument("--contributors", type=int, nargs="*", default=CONTRIBUTORS)
    parser.add_argument("--worlds", type=int, default=WORLDS, help="for each number")
    chosen = parser.parse_args(arguments)
    heads = ("held, stated", "new people", "unseen quant.", "error, stated", "found")
    heads += ("half-width", "answered")
    sys.stdout.write(f"{'contributors':14}" + "".join(f"{head:>15}" for head in heads) + "\n")
    missed = False
    for contributors in chosen.contributors:
        rows = [judge(contributors, seed) for seed in range(chosen.worlds)]
        for at, row in enumerate(rows):
            sys.stdout.write(_line(f"{contributors}, world {at}", row))
        mean = AdvisorRow(
            *(float(np.mean([getattr(r, name) for r in rows])) for name in AdvisorRow.__slots__)
        )
        sys.stdout.write(_line(f"{contributors}, mean", mean))
        sys.stdout.flush()
        missed |= contributors >= LEAST_JUDGED and not _keeps(mean)
    return 1 if missed else 0


def _line(name: str, row: AdvisorRow) -> str:
    return (
        f"{name:14}"
        + "".join(f"{getattr(row, each):>15.3f}" for each in AdvisorRow.__slots__)
        + "\n"
    )


def _keeps(row: AdvisorRow) -> bool:
    held = min(row.held_stated, row.held_fresh) >= PROMISE and row.held_unseen >= UNSEEN_PROMISE
    return held and 1 / FACTOR <= row.error_fresh / row.error_stated <= FACTOR


if __name__ == "__main__":
    raise SystemExit(main())
