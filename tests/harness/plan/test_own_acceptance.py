"""A plan takes the asker's acceptance as a number, from logs, or from a result."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.imports.asked_log import read
from tests.first_results import FIRST

CARD = ("--gpu", "RTX 5090", "--ram", "64")
ASKED = ("qwen3.8-27b", "mtp", *CARD)
PASTED = Path("tests/data/pasted")
pytestmark = pytest.mark.usefixtures("cache_dir")


def plan(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["plan", *words, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(*words: str) -> str:
    done = CliRunner().invoke(app, ["plan", *ASKED, *words])
    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_share_and_the_tokens_of_its_rounds_give_the_same_plan() -> None:
    share = plan(*ASKED, "--depth", "3", "--acceptance", "60%")
    tokens = plan(*ASKED, "--depth", "3", "--tokens-per-round", "2.8")

    assert share["speedup"] == tokens["speedup"]
    assert share["speedup"]["basis"] == "acceptance"
    assert share["decides"]["is_own"]
    assert share["decides"]["expected"] == pytest.approx(0.6, abs=0.001)
    assert share["decides"]["gains"]["0.6"] == pytest.approx(
        share["speedup"]["estimate"], abs=0.001
    )


def test_more_accepted_drafts_gain_more() -> None:
    gains = [
        plan(*ASKED, "--acceptance", share)["speedup"]["estimate"]
        for share in ("0.3", "0.6", "0.9")
    ]

    assert gains == sorted(gains)
    assert gains[0] < gains[-1]


def test_a_log_gives_the_acceptance_and_its_depth() -> None:
    found = plan(*ASKED, "--log", str(PASTED / "spec_3060_on.txt"))

    # 5 drafted tokens a round, of which 0.72 are accepted.
    assert found["decides"]["depth"] == 5
    assert found["decides"]["expected"] == pytest.approx(0.716, abs=0.01)


def test_a_second_log_gives_the_plain_speed() -> None:
    logs = [
        word for each in ("m1pro_on.log", "m1pro_off.log") for word in ("--log", str(PASTED / each))
    ]
    found = plan("qwen3.6-35b-a3b:Q4_K_M", "none", "--gpu", "M1 Pro", "--ram", "32", *logs)

    assert found["plain_tps"]["estimate"] == pytest.approx(25.8, abs=0.1)
    assert found["plain_tps"]["basis"] == "here"


def test_a_result_gives_the_acceptance_of_its_best_arm() -> None:
    result = next(path for path in FIRST if "4070-ti--qwen3-8-27b" in path.name)

    found = plan(*ASKED, "--log", str(result))

    assert found["speedup"]["basis"] == "acceptance"


@pytest.mark.parametrize(
    ("name", "share", "tokens", "depth"),
    [
        ("mtp_bench_results.json", 0.802, 2.59, 2),
        ("vllm_dp_engines.log", 0.641, 2.92, 3),
        ("tabby_on.txt", 0.581, 2.48, 3),
        ("sglang_eagle3.log", 0.497, 1.99, None),
    ],
)
def test_logs_of_engines_state_their_counts(
    name: str, share: float, tokens: float, depth: int | None
) -> None:
    run, plain_tps = read([PASTED / name])

    assert (run.share, run.tokens) == pytest.approx((share, tokens), abs=0.01)
    assert (run.depth, plain_tps) == (depth, None)


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    off = str(PASTED / "m1pro_off.log")
    empty = tmp_path / "empty.log"
    empty.write_text("nothing\n", "utf-8")

    assert "none states accepted drafts" in refused("--log", off)
    assert "several state" in refused(
        "--log", str(PASTED / "m1pro_on.log"), "--log", str(PASTED / "tabby_on.txt")
    )
    assert "no line with counts" in refused("--log", str(empty))
    assert "give one of" in refused("--acceptance", "0.5", "--tokens-per-round", "2")
    assert "--acceptance" in refused("--acceptance", "62")
