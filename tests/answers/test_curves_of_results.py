"""The planner's statements on measured curves and published yields agree with `results/`."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median

from answers.engine_commands import source_of
from answers.rounds import CURVE_ARMS, TRANSFER_ERROR, usual_tokens
from estimates.decomposition import predicted_speedup
from estimates.pairing import pair
from schemas.contract import read
from schemas.submission import Submission
from tests.first_results import FIRST


def distances() -> Iterator[float]:
    """Differences between each arm's speedup and the one from its curve and counted rounds."""
    for path in FIRST:
        found = read(path.read_bytes())
        assert isinstance(found, Submission)
        for arm in found.arms if found.probes and found.probes.verification else ():
            logs = [
                math.log(prompt.speedup / predicted)
                for prompt in (pair(found, arm) if arm.method.type != "none" else ())
                if prompt.trials
                and (predicted := predicted_speedup(arm.method, prompt.trials, found.probes))
            ]
            if logs:
                yield abs(sum(logs) / len(logs))


def test_curves_with_counted_yields_are_as_near_to_measured_speedups_as_the_planner_says() -> None:
    found = list(distances())
    within = sum(distance <= TRANSFER_ERROR for distance in found)

    assert len(found) >= CURVE_ARMS[1]
    assert within / len(found) >= 0.85
    if len(found) == CURVE_ARMS[1]:
        assert within == CURVE_ARMS[0]


def yields() -> dict[str, list[tuple[int, float]]]:
    """Published depths and tokens per round of models and heads, by person and source."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for path in sorted(Path("results/published").glob("*.json")):
        document = json.loads(path.read_bytes())
        source = document["source"]
        for row in document["rows"]:
            depth, figures = row.get("n_max"), {x["quantity"]: x["value"] for x in row["figures"]}
            shares = (figures.get(key) for key in ("acceptance_rate", "pooled_acceptance_rate"))
            share, tokens = next(filter(None, shares), None), figures.get("tokens_per_round")
            if tokens is None and share is not None and not row.get("p_min"):
                tokens = 1 + (depth or 0) * share
            drafts = row.get("method", "none") not in ("none", "other")
            if tokens and depth and depth <= 16 and drafts and source_of(row["method"]) != "text":
                person = row.get("person") or source.get("author") or source["id"]
                found[f"{person} {source_of(row['method'])}"].append((depth, tokens))
    return found


def test_nine_in_ten_people_published_yields_within_the_range_that_a_curve_is_used_with() -> None:
    people = yields()
    shares = [
        fmean(
            usual.low <= tokens <= usual.high
            for depth, tokens in rows
            for usual in [usual_tokens(depth)]
        )
        for rows in people.values()
    ]

    assert len(people) >= 58
    assert 0.85 < fmean(shares) < 0.95


def test_the_usual_yield_is_the_median_of_the_people() -> None:
    ratios = [
        median(tokens / usual_tokens(depth).estimate for depth, tokens in rows)
        for rows in yields().values()
    ]

    assert 0.95 < median(ratios) < 1.05
