"""Does a campaign last about as long as is announced before it?"""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from harness.campaign.duration import (
    Rates,
    arithmetic_rate,
    expected,
    memory_bandwidth,
    others,
)
from harness.campaign.methods import parse
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.test_campaign import campaign

COMMUNITY = Path(__file__).parents[2] / "results" / "community"

# A gigabyte in F16 without a known number of parameters is taken for half a milliard of them:
# 1e9 operations a token, at 100 GFLOPS 0.01 / 0.68 s for a token of a prompt; read at 10 GB/s, a
# step takes 0.1 s. One more token in a step takes 0.01 / 0.22 s.
RATES = Rates(bytes_per_s=10e9, flops_per_s=100e9)
STEP_S, PROMPT_S, WIDER_S = 0.1, 0.01 / 0.68, 0.01 / 0.22
# Four drafted tokens, a step of five, and 1 + .6 + .36 + .216 + .1296 tokens a round.
DRAFT_S = (4 * STEP_S + STEP_S + 4 * WIDER_S) / 2.3056
LOOKUP_S = 1.15 * STEP_S


def _quick() -> tuple[Campaign, list[float]]:
    built = campaign(Options(quick=True))
    assert [arm.id for arm in built.arms] == ["baseline", "prompt-lookup-n8", "draft-model-n4"]
    return built, [len(prompt.text) / 3.6 + 20 for prompt in built.suite.prompts]


def test_the_expected_duration_adds_loading_prompts_probes_and_answers() -> None:
    built, prompts = _quick()

    estimate = expected(built, RATES)

    answers = 24 * 23 * (STEP_S + LOOKUP_S + DRAFT_S)
    read = 2 * sum(prompts) * PROMPT_S  # once by the target, once by the draft
    warm_up = 24 * (STEP_S + LOOKUP_S + DRAFT_S) + prompts[0] * (3 + 1) * PROMPT_S
    turn = 2 * (9 * STEP_S + 36 * WIDER_S)  # two steps of each width from 1 to 9
    probes = min(21 * turn, max(12, 5 * turn)) + 24 * STEP_S + prompts[0] * PROMPT_S
    assert estimate is not None
    assert estimate.seconds == pytest.approx(answers + read + warm_up + probes + 2 + 5)
    assert "100.0 ms for a plain token, at 10.0 GB/s and 100 GFLOPS" in estimate.basis


def test_where_each_arm_has_a_server_it_starts_and_reads_the_prompts_in_every_block() -> None:
    built, prompts = _quick()

    estimate = expected(replace(built, interleaved="block"), RATES)

    answers = 24 * 23 * (STEP_S + LOOKUP_S + DRAFT_S)
    read = sum(prompts) * (3 + 1) * PROMPT_S  # by the target of each arm, and by the draft
    warm_up = 24 * (STEP_S + LOOKUP_S + DRAFT_S) + prompts[0] * (3 + 1) * PROMPT_S
    assert estimate is not None
    assert estimate.seconds == pytest.approx(answers + read + 2 * warm_up + 3 * 2 + 2 + 5)


def test_the_quiet_quick_run_takes_about_as_long_as_was_said() -> None:
    # SmolLM2-135M in F16 with the draft in Q4_1 on one core that copies 16.6 GB/s and does 110
    # GFLOPS took 178 s; "about 85 s" was said. Beside a load of 6.8 on two cores it took 612 s.
    built, _ = _quick()
    target = replace(
        built.target.model, quantisation="F16", file_bytes=270_885_952, parameters=134_515_008
    )
    draft = replace(target, id=built.drafts[0].model.id, quantisation="Q4_1", file_bytes=98_362_432)
    known = replace(
        built,
        target=replace(built.target, model=target),
        drafts=(replace(built.drafts[0], model=draft),),
    )

    quiet = expected(known, Rates(bytes_per_s=16.6e9, flops_per_s=110e9))
    busy = expected(known, Rates(bytes_per_s=16.6e9, flops_per_s=110e9, shared=3.9))

    assert quiet is not None
    assert busy is not None
    assert 178 / 1.5 < quiet.seconds < 178 * 1.5
    assert 612 / 1.5 < busy.seconds < 612 * 1.5
    assert "3.9 times as long next to other programs" in busy.basis


def test_programs_that_have_ended_count_half_unless_all_processors_are_taken() -> None:
    assert others(4.0, 0.5, processors=2) == 2.25
    assert others(6.0, 1.0, processors=2) == 6.0  # six want what two processors have
    assert others(0.2, -0.01, processors=8) == 0.1  # clocks that disagree by a tick


def test_a_comparison_of_servers_takes_about_as_long_as_is_said() -> None:
    # SmolLM2-135M in Q4_1 on one core of a Xeon that copies 6.3 GB/s and does 97 GFLOPS: one prompt
    # of each task, 64 tokens, four blocks. Three servers took 1,348 s with next to nothing beside.
    ngram = (parse("ngram-simple"),)
    built = campaign(Options(methods=ngram, prompts=("1",), max_tokens=64, blocks=4))
    size = {"file_bytes": 98_362_432, "parameters": 134_515_008}
    model = replace(built.target.model, quantisation="Q4_1", **size)
    known = replace(built, target=replace(built.target, model=model), interleaved="block")

    estimate = expected(known, Rates(bytes_per_s=6.3e9, flops_per_s=97e9))

    assert estimate is not None
    assert 1348 / 1.5 < estimate.times(3).seconds < 1348 * 1.5


def test_the_arithmetic_rate_is_what_the_clock_says() -> None:
    readings = iter([0.0, 0.5, *(float(number) for number in range(1, 7999))])

    # The best of 0.5 s and 3,999 of 1 s for two operations on each of 64 x 64 x 64 products.
    assert arithmetic_rate(lambda: next(readings)) == 2 * 64**3 / 0.5


def test_bandwidth_is_what_the_clock_says() -> None:
    readings = iter([0.0, 0.5, 1.0, 1.25, 2.0, 4.0, *range(5, 15)])

    # The best of 0.5, 0.25, 2 and five times 1 s for copying 64 MiB, read and written.
    assert memory_bandwidth(lambda: next(readings)) == 2 * 64 * 1024 * 1024 / 0.25


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(COMMUNITY.glob("*.json"))
        if b'"profile":"default"' in path.read_bytes()
    ],
    ids=lambda path: path.stem,
)
def test_the_default_campaigns_of_the_repository_took_about_as_long(path: Path) -> None:
    # One core of an EPYC that copies 16.6 GB/s and does 110 GFLOPS; three blocks were precise
    # enough each time.
    took = read(path.read_bytes())
    assert isinstance(took, Submission)
    began, ended = map(datetime.fromisoformat, (took.measured_from, took.measured_until))
    built = campaign()
    known = replace(
        built,
        target=replace(built.target, model=took.target),
        drafts=(
            replace(built.drafts[0], model=replace(took.drafts[0], id=built.drafts[0].model.id)),
        ),
    )

    estimate = expected(known, Rates(bytes_per_s=16.6e9, flops_per_s=110e9))

    assert estimate is not None
    seconds = (ended - began).total_seconds()
    assert seconds / 1.5 < estimate.least_seconds < seconds * 1.5
