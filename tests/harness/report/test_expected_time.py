"""A campaign takes about the announced time."""

import math
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from harness.campaign.method_parser import parse
from harness.campaign.model import Campaign, Stopping
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.report import expected_time
from harness.report.expected_time import MachineRate, expected, this_machine
from harness.run import time_limit
from harness.run.time_limit import in_turns
from schemas.contract import read
from schemas.submission import Gpu, Submission
from tests.first_results import FIRST
from tests.harness.campaign.test_campaign import campaign
from tests.harness.campaigns import MACHINE

# A gigabyte in F16 without a known number of parameters is taken for half a milliard of them: read
# at 10 GB/s it takes 0.1 s, and one token of arithmetic 0.05 s.
RATE = MachineRate(bytes_per_s=10e9, threads=1)
STEP_S, COMPUTE_S = 0.15, 0.05
# Four drafted tokens, a step of five, and 1 + .6 + .36 + .216 + .1296 tokens a round.
DRAFT_S = (4 * STEP_S + STEP_S + 4 * COMPUTE_S) / 2.3056
TOKEN_S = STEP_S + STEP_S + DRAFT_S  # of the three arms: a lookup costs a plain step


def _quick() -> tuple[Campaign, float]:
    """A quick campaign, and the tokens of its prompts."""
    built = campaign(Options(quick=True, max_output_tokens=24))
    assert [arm.id for arm in built.arms] == ["baseline", "prompt-lookup-n8", "draft-model-n4"]
    return built, sum(len(prompt.text) / 3.6 + 20 for prompt in built.suite.prompts)


def test_the_expected_duration_adds_loads_warm_ups_prompts_and_answers() -> None:
    built, prompts = _quick()

    estimate = expected(built, RATE)

    # Three arms have the target, one of them the draft, too: four models of a second each.
    start = 24 * TOKEN_S + 4 * (1 + prompts * COMPUTE_S / 2)
    assert estimate is not None
    assert estimate.seconds == pytest.approx(24 * 23 * TOKEN_S + start + 5)


def test_a_server_per_arm_starts_again_in_every_block() -> None:
    built, prompts = _quick()

    once = expected(replace(built, interleaved="block"), RATE)
    thrice = expected(replace(built, interleaved="block", blocks=3), RATE)

    block = 24 * 23 * TOKEN_S + 24 * TOKEN_S + 4 * (1 + prompts * COMPUTE_S / 2)
    assert once is not None
    assert thrice is not None
    assert once.seconds == pytest.approx(block + 5)
    assert thrice.seconds == pytest.approx(3 * block + 5)


def test_repeating_every_prompt_adds_up_to_a_block_to_a_default_run() -> None:
    built = campaign()
    once = replace(built, blocks=1, stopping=Stopping())

    block, whole = expected(once, RATE), expected(built, RATE)

    # 64 answers of 95 tokens after the first.
    block_s = 64 * 95 * TOKEN_S
    assert block is not None
    assert whole is not None
    assert whole.least_seconds == pytest.approx(block.seconds + block_s)
    assert whole.seconds == pytest.approx(block.seconds + 2 * block_s)


def test_successive_campaigns_take_the_sum_and_unknown_sizes_have_no_estimate() -> None:
    built, _ = _quick()
    unknown = replace(
        built, target=replace(built.target, model=replace(built.target.model, file_bytes=None))
    )
    alone = expected(built, RATE)

    both = in_turns([built, built], None, RATE)

    assert alone is not None
    assert both is not None
    assert both.seconds == pytest.approx(2 * alone.seconds)
    assert in_turns([built, unknown], None, RATE) is None


def test_a_limit_shortens_the_estimate_and_is_refused_if_no_block_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built, _ = _quick()
    alone = expected(built, RATE)
    assert alone is not None
    block_s = alone.first_seconds
    monkeypatch.setattr(time_limit, "machine", lambda: MACHINE)

    cut = in_turns([built, built], 1.9 * block_s, RATE)
    with pytest.raises(BadInputError) as caught:
        # An estimate may be half as long again as what is measured.
        in_turns([built, built], 1.3 * block_s, RATE)

    assert cut is not None
    assert cut.seconds == pytest.approx(1.9 * block_s)
    assert "is too short: a block of all prompts takes about" in str(caught.value)
    assert f"give --budget {math.ceil(1.2 * 2 * block_s / 60)}, or fewer" in str(caught.value)
    # The speed of the card is not measured.
    card = replace(MACHINE, gpus=(Gpu(name="RTX 3090"),))
    monkeypatch.setattr(time_limit, "machine", lambda: card)
    assert in_turns([built, built], 1.3 * block_s, RATE) is not None


def test_a_comparison_of_servers_takes_about_the_announced_time() -> None:
    # SmolLM2-135M in Q4_1 on one core of a Xeon that copies 6.3 GB/s: one prompt of each task, 64
    # tokens, four blocks. Three servers took 1,348 s with next to no load.
    ngram = (parse("ngram-simple"),)
    built = campaign(Options(methods=ngram, prompts=("1",), max_output_tokens=64, blocks=4))
    size = {"file_bytes": 98_362_432, "parameters": 134_515_008}
    model = replace(built.target.model, quantisation="Q4_1", **size)
    known = replace(built, target=replace(built.target, model=model), interleaved="block")

    estimate = in_turns([known] * 3, None, MachineRate(bytes_per_s=6.3e9, threads=1))

    assert estimate is not None
    assert 1348 / 1.5 < estimate.seconds < 1348 * 1.5


def test_the_rate_of_a_machine_is_what_the_clock_says() -> None:
    readings = iter([0.0, 0.5, 1.0, 1.25, 2.0, 4.0, *range(5, 15)])

    # The best of 0.5, 0.25, 2 and five times 1 s for copying so much, read and written.
    found = this_machine(1, lambda: next(readings))

    assert found == MachineRate(bytes_per_s=2 * expected_time.COPIED_BYTES / 0.25, threads=1)


@pytest.mark.parametrize(
    "path",
    [path for path in FIRST if b'"profile":"default"' in path.read_bytes()],
    ids=lambda path: path.stem,
)
def test_the_default_campaigns_of_the_repository_took_about_as_long(path: Path) -> None:
    # One core of an EPYC that copies 16.6 GB/s; three blocks of the first version of the suite.
    took = read(path.read_bytes())
    assert isinstance(took, Submission)
    began, ended = map(datetime.fromisoformat, (took.measured_from, took.measured_until))
    built = campaign(Options(suite="core-1", blocks=3))
    known = replace(
        built,
        target=replace(built.target, model=took.target),
        drafts=(
            replace(built.drafts[0], model=replace(took.drafts[0], id=built.drafts[0].model.id)),
        ),
    )

    estimate = expected(known, MachineRate(bytes_per_s=16.6e9, threads=1))

    assert estimate is not None
    seconds = (ended - began).total_seconds()
    assert seconds / 1.5 < estimate.least_seconds < seconds * 1.5
