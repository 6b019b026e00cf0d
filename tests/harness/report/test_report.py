"""The terminal report says what the summary says, at 80 columns and without colour."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from estimates.model import (
    Control,
    Estimate,
    ExactnessCounts,
    Flag,
    Interval,
    Repeatability,
    Summary,
)
from estimates.summary import summarize
from harness.report import details, words
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Snapshot, Submission
from tests.samples import sample

GOLDEN = Path(__file__).parent / "golden" / "report.txt"


def estimate(arm: str, task: str | None, **fields: object) -> Estimate:
    known = {
        "verdict": "helps",
        "prompts": 8,
        "trials": 6,
        "failed_trials": 0,
        "speedup": 1.5,
        "interval": Interval(low=1.25, high=1.8),
        "baseline_tps": 20.0,
        "tps": 30.0,
        "tokens_per_round": 2.7,
        "round_cost": 1.8,
        "acceptance_rate": 0.425,
        "fire_rate": 1.0,
        "exactness": ExactnessCounts(identical=2, diverged_near_tie=1, diverged=0, not_compared=0),
    }
    return Estimate(arm=arm, baseline="baseline", task=task, **{**known, **fields})  # type: ignore[arg-type]


def control(
    arm: str,
    kind: Literal["baseline-again", "empty-draft"],
    ratio: float,
    interval: Interval | None = None,
) -> Control:
    return Control(arm=arm, kind=kind, prompts=12, ratio=ratio, interval=interval)


def report_of(submission: Submission, summary: Summary, width: int = 80) -> str:
    return "".join(f"{line.plain}\n" for line in details.lines(submission, summary, width))


FAILED_ARM = Arm(
    id="draft-model-n9",
    role="speculation",
    method=Method(type="draft-model", draft="tiny-q8-0", n_max=9),
    baseline="baseline",
    outcome="failed",
    reason="out-of-memory",
)
HURTS = {
    "verdict": "hurts",
    "speedup": 0.6,
    "interval": Interval(low=0.5, high=0.72),
    "tps": 12.0,
    "tokens_per_round": 1.08,
    "exactness": ExactnessCounts(identical=21, diverged_near_tie=2, diverged=1, not_compared=0),
}
NOTHING = {
    "verdict": "failed",
    "speedup": None,
    "interval": None,
    "baseline_tps": None,
    "tps": None,
    "tokens_per_round": None,
    "round_cost": None,
    "acceptance_rate": None,
    "exactness": None,
}
SAME = ExactnessCounts(identical=11, diverged_near_tie=0, diverged=1, not_compared=0)
SUMMARY = Summary(
    estimates=(
        estimate("prompt-lookup-n4", "code"),
        estimate("prompt-lookup-n4", "summarization", verdict="no-clear-difference"),
        estimate("prompt-lookup-n4", None),
        *(estimate("baseline-2", task, exactness=SAME) for task in ("code", "json")),
        estimate("draft-model-n4", "code", **HURTS),
        estimate("draft-model-n4", None, **HURTS),
        estimate("draft-model-n9", "code", **NOTHING),
        estimate("draft-model-n9", None, **NOTHING),
    ),
    prompts=(),
    flags=(
        Flag(
            name="block-spread",
            severity="caution",
            message="blocks differ by 14%",
            remedy="Close other programs and run more blocks with --blocks 6.",
            arm="draft-model-n4",
        ),
    ),
    repeatability=(
        Repeatability(
            arm="prompt-lookup-n4",
            blocks=4,
            half_width=0.0214,
        ),
        Repeatability(arm="draft-model-n4", blocks=2),
    ),
    controls=(
        control("baseline-2", "baseline-again", 0.996, Interval(low=0.981, high=1.011)),
        control("empty-draft", "empty-draft", 0.98, Interval(low=0.97, high=0.99)),
    ),
)


def three_arms() -> tuple[Submission, Summary]:
    submission = sample(prompts_per_task=3, blocks=4)
    design = replace(submission.design, blocks=6, ended="precise-enough")
    instruments = (
        Arm(id="baseline-2", role="control", method=NO_SPECULATION, baseline="baseline"),
        Arm(
            id="empty-draft", role="control", method=Method(type="empty-draft"), baseline="baseline"
        ),
    )
    arms = (*submission.arms, FAILED_ARM, *instruments)
    return replace(submission, arms=arms, design=design), SUMMARY


def test_the_report_looks_as_it_did() -> None:
    text = report_of(*three_arms())

    assert text == GOLDEN.read_text(encoding="utf-8")


# The sample's blocks agree within 0.4 %: noise of 1 % over 24 prompts.
@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ({"blocks": 4}, "after all 4 blocks, as planned"),
        (
            {"blocks": 6, "ended": "precise-enough"},
            "after 4 of at most 6 blocks: precise enough, ±0.3 %",
        ),
        (
            {"blocks": 6, "budget_s": 600.0, "ended": "budget-spent"},
            "after 4 of 6 blocks: the time limit of 10 min was reached, ±0.3 %",
        ),
        (
            {"blocks": 6, "ended": "interrupted"},
            "interrupted in block 4 of 6; --resume continues",
        ),
    ],
)
def test_the_header_says_why_the_campaign_ended(design: dict[str, object], expected: str) -> None:
    submission = sample(prompts_per_task=3, blocks=4)
    ended = replace(submission.design, **design)  # type: ignore[arg-type]

    assert details.ended(replace(submission, design=ended)) == expected


@pytest.mark.parametrize(
    ("before", "steady", "expected"),
    [
        ({}, None, ""),
        (
            {"load_15min": 0.24},
            True,
            "rested (load 0.2 in 15 minutes), steady when the trials began",
        ),
        (
            {"load_15min": 6.0, "on_battery": False, "cpu_speed_limit": 0.8},
            None,
            (
                "busy before the run (load 6.0 in 15 minutes), on mains power, may not have "
                "settled, CPU limited to 80 % by heat"
            ),
        ),
    ],
)
def test_the_header_says_whether_the_machine_had_been_idle(
    before: dict[str, Any], steady: Literal[True] | None, expected: str
) -> None:
    shots = (Snapshot(moment="before", **before), Snapshot(moment="warm", steady=steady))

    assert details.began(replace(sample(), environment=shots)) == expected


def test_a_control_says_whether_its_interval_contains_one() -> None:
    def said(each: Control) -> str:
        summary = Summary(estimates=(), prompts=(), flags=(), controls=(each,))
        return next(details.controls(summary))

    good = control("a", "baseline-again", 1.0, Interval(low=0.99, high=1.01))
    bad = control("a", "baseline-again", 1.03, Interval(low=1.01, high=1.05))
    slow = control("e", "empty-draft", 0.8, Interval(low=0.79, high=0.81))

    assert (
        said(good)
        == "a 1.000 [0.99, 1.01]: the baseline measured again; the range contains 1, as it must"
    )
    assert (
        said(bad) == "a 1.030 [1.01, 1.05]: the baseline measured again; the range MUST CONTAIN 1"
    )
    # One step at 0.8 of the speed takes 1 / 0.8 = 1.25 of the time.
    assert said(slow) == (
        "e 0.800 [0.79, 0.81]: without drafts, a step of the loop takes as long as 1.25 plain steps"
    )


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        # The arm that loses has the shorter words.
        (80, {"request got/needs same"}),
        (66, {"request", "request got/needs"}),
        (56, {"", "request"}),
    ],
)
def test_a_narrow_terminal_gets_fewer_columns_and_whole_figures(
    width: int, columns: set[str]
) -> None:
    lines = report_of(*three_arms(), width).splitlines()

    headings = [" ".join(line.split()) for line in lines if line.startswith("task ")]
    known = "task verdict tokens/s speedup [95%]"
    assert {each.removeprefix(known).strip() for each in headings} == columns
    assert not [line for line in lines if "\N{HORIZONTAL ELLIPSIS}" in line]


def test_a_baseline_alone_has_no_table_and_no_legend_of_it() -> None:
    submission, summary = three_arms()

    said = report_of(replace(submission, arms=submission.arms[:1]), replace(summary, estimates=()))

    assert "got/needs" not in said


def test_two_blocks_are_too_few_to_say_how_repeatable_they_are() -> None:
    submission = sample(prompts_per_task=3, blocks=2)

    text = report_of(submission, summarize(submission))

    assert "Repeatability needs at least 3 full blocks." in text
    assert "Repeatable within" not in text


def test_an_unknown_figure_is_a_dash_and_not_a_zero() -> None:
    bare = Estimate(
        arm="a",
        baseline="b",
        task=None,
        verdict="too-few-prompts",
        prompts=0,
        trials=0,
        failed_trials=0,
    )

    said = [words.speedup(None, None), words.rounds(bare), words.acceptance(bare)]
    assert said == ["\N{EN DASH}", "\N{EN DASH}/\N{EN DASH}", ""]
    assert words.exactness(None) == "\N{EN DASH}"


def test_diverged_outputs_are_counted_separately() -> None:
    counts = ExactnessCounts(identical=20, diverged_near_tie=3, diverged=1, not_compared=4)
    uncompared = ExactnessCounts(identical=0, diverged_near_tie=0, diverged=0, not_compared=4)

    assert words.exactness(counts) == "20~3!1"
    assert words.exactness(uncompared) == "\N{EN DASH}"


def test_durations_and_sizes_in_words() -> None:
    assert [words.seconds(s) for s in (0.2, 45.4, 200, 7500)] == [
        "1 s",
        "45 s",
        "3 min",
        "2 h 5 min",
    ]
    assert [words.parameters(n) for n in (134_515_008, 7_000_000_000)] == ["135 M", "7.0 B"]


def test_a_single_block_is_the_only_one() -> None:
    assert details.ended(sample(prompts_per_task=1, blocks=1)) == "after the only block, as planned"
