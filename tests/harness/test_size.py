"""Is a campaign that cannot be recorded refused before an hour of measuring, and no other?"""

import json
from pathlib import Path

import pytest

from harness.campaign.file_size import trial_bytes
from harness.campaign.options import Options
from tests.harness.test_campaign import campaign

COMMUNITY = Path(__file__).parents[2] / "results" / "community"


@pytest.mark.parametrize("path", sorted(COMMUNITY.glob("*.json")), ids=lambda path: path.stem[-8:])
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
    # A server tells less of a trial than the engine in this program, so its file has room left.
    if document["engine"]["runner"] == "llama-cpp-python":
        assert estimated < 1.3 * real


def test_controls_beside_the_default_campaign_keep_its_six_blocks() -> None:
    assert campaign(Options(control=True)).blocks == 6
