"""A campaign is refused before it starts if its result would be too large to record."""

import json
from pathlib import Path

import pytest

from harness.campaign.builder import trial_bytes
from schemas.codec import canonical_bytes, encode
from tests.first_results import FIRST
from tests.harness.campaign.test_campaign import campaign
from tests.harness.campaigns import run
from tests.harness.fake_runner import FakeRig


@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem[-8:])
def test_the_estimate_holds_for_every_file_that_was_measured(path: Path) -> None:
    document = json.loads(path.read_bytes())
    depths = {arm["id"]: arm["method"].get("n_max", 0) for arm in document["arms"]}
    tokens = document["settings"]["max_output_tokens"]

    estimated = sum(
        trial_bytes(trial["arm"], depths[trial["arm"]], trial["prompt"], tokens)
        for trial in document["trials"]
    )
    real = len(json.dumps(document["trials"], separators=(",", ":")))

    assert real < estimated
    # A server reports less per trial than the in-process engine, so its file is smaller.
    if document["engine"]["runner"] == "llama-cpp-python":
        assert estimated < 1.3 * real


@pytest.mark.parametrize(
    ("noise", "kib"),
    [
        pytest.param(0.01, 200, id="no repeats"),
        pytest.param(2.0, 300, id="every prompt", marks=pytest.mark.nightly),
    ],
)
def test_a_default_file_of_three_arms_stays_small(tmp_path: Path, noise: float, kib: int) -> None:
    submission = run(campaign(), tmp_path / "run.jsonl", rig=FakeRig(noise=noise))

    prompts = len(submission.suite.prompts)
    assert len(submission.trials) == 3 * prompts * (2 if noise < 1 else 3)
    assert len(canonical_bytes(encode(submission))) <= kib * 1024
