"""The synthetic collection is valid, reproducible, varied and true to its parameters."""

import math
from itertools import islice
from pathlib import Path

import pytest

from bench.synthetic import RESULTS, main, write_corpus
from bench.synthetic_campaign import arms_of, submission_of
from bench.synthetic_rigs import visits
from bench.synthetic_truth import all_prompts, true_decomposition
from estimates.summary import summarize
from pipeline.collection.discover import discover
from pipeline.collection.validation import checked, combined

RIGS, SEED = 11, 3


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    write_corpus(folder, rigs=RIGS, seed=SEED)
    return folder


def test_every_synthetic_file_passes_the_gate(written: Path) -> None:
    verdict = combined((each, checked(each)) for each in discover(written))

    assert verdict.findings == []
    assert len({each.submission.engine.backend for each in verdict.submissions}) >= 5
    assert len(verdict.published) == len(list((RESULTS / "published").glob("*.json")))


def test_estimates_equal_the_truth_up_to_noise() -> None:
    compared = 0
    for visit in islice(visits(RIGS, SEED), 5):
        drafters = {arm.id: arm.drafter for arm in arms_of(visit)}
        for estimate in summarize(submission_of(visit)).estimates:
            if estimate.speedup is None or estimate.failed_trials:
                continue
            prompts = [each for each in all_prompts() if estimate.task in (None, each[0])]
            tokens, cost = true_decomposition(
                visit.rig.costs, visit.target, drafters[estimate.arm], prompts
            )
            compared += 1

            assert estimate.tokens_per_round == pytest.approx(tokens, rel=1e-4)
            assert math.log(estimate.speedup * cost / tokens) == pytest.approx(0, abs=0.05)

    assert compared > 100


def test_nothing_synthetic_is_written_among_the_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["--rigs", "1", "--output", str(RESULTS / "community")])

    assert code == 2
    assert "holds measured results" in capsys.readouterr().err
