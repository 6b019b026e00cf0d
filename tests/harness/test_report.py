"""Does the terminal report say what the summary says, at 80 columns and without colour?"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from estimates.model import Estimate, ExactnessCounts, Flag, Interval, Summary
from harness.report import words
from harness.report.terminal import show
from schemas.submission import Arm, DraftModel, Submission
from tests.samples import sample

GOLDEN = Path(__file__).parent / "golden" / "report.txt"


def estimate(arm: str, task: str | None, **fields: object) -> Estimate:
    known = {
        "verdict": "helps",
        "prompts": 3,
        "trials": 6,
        "failed_trials": 0,
        "speedup": 1.5,
        "interval": Interval(low=1.25, high=1.8),
        "tokens_per_round": 2.7,
        "round_cost": 1.8,
        "acceptance_rate": 0.425,
        "sequence_acceptance": 0.1,
        "fire_rate": 1.0,
        "exactness": ExactnessCounts(identical=2, diverged_near_tie=1, diverged=0, not_compared=0),
    }
    return Estimate(arm=arm, baseline="baseline", task=task, **{**known, **fields})  # type: ignore[arg-type]


def report_of(submission: Submission, summary: Summary) -> str:
    out = io.StringIO()
    show(submission, summary, Console(file=out, width=80, no_color=True, highlight=False))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def three_arms() -> tuple[Submission, Summary]:
    submission = sample(prompts_per_task=3)
    failed = Arm(
        id="draft-model-n9",
        role="speculation",
        method=DraftModel(draft="tiny-q8-0", n_max=9),
        baseline="baseline",
        outcome="failed",
        reason="out-of-memory",
    )
    hurts = {
        "verdict": "hurts",
        "speedup": 0.6,
        "interval": Interval(low=0.5, high=0.72),
        "tokens_per_round": 1.1,
        "exactness": ExactnessCounts(identical=21, diverged_near_tie=2, diverged=1, not_compared=0),
    }
    nothing = {
        "verdict": "failed",
        "speedup": None,
        "interval": None,
        "tokens_per_round": None,
        "round_cost": None,
        "acceptance_rate": None,
        "sequence_acceptance": None,
        "exactness": None,
    }
    summary = Summary(
        estimates=(
            estimate("prompt-lookup-n4", "code"),
            estimate("prompt-lookup-n4", "summarization", verdict="no-clear-difference"),
            estimate("prompt-lookup-n4", None),
            estimate("draft-model-n4", "code", **hurts),
            estimate("draft-model-n4", None, **hurts),
            estimate("draft-model-n9", "code", **nothing),
            estimate("draft-model-n9", None, **nothing),
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
    )
    return replace(submission, arms=(*submission.arms, failed)), summary


def test_the_report_looks_as_it_did() -> None:
    text = report_of(*three_arms())

    assert text == GOLDEN.read_text(encoding="utf-8")


def test_every_line_fits_into_eighty_columns() -> None:
    text = report_of(*three_arms())

    assert max(len(line) for line in text.splitlines()) <= 80


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

    said = [words.speedup(bare), words.rounds(bare), words.acceptance(bare)]
    assert said == ["\N{EN DASH}", "\N{EN DASH}/\N{EN DASH}", "\N{EN DASH}/\N{EN DASH}"]
    assert words.exactness(None) == "\N{EN DASH}"


def test_outputs_that_parted_are_counted_apart() -> None:
    counts = ExactnessCounts(identical=20, diverged_near_tie=3, diverged=1, not_compared=4)
    uncompared = ExactnessCounts(identical=0, diverged_near_tie=0, diverged=0, not_compared=4)

    assert words.exactness(counts) == "20~3!1"
    assert words.exactness(uncompared) == "\N{EN DASH}"


def test_energy_is_said_where_it_was_measured_and_only_there() -> None:
    measured = estimate("a", None, energy_per_token_j=0.41234, energy_ratio=0.852)
    submission = sample(prompts_per_task=1)
    counted = replace(submission, settings=replace(submission.settings, energy_method="rapl"))
    summary = Summary(estimates=(replace(measured, arm="draft-model-n4"),), prompts=(), flags=())

    assert words.energy(measured, "nvml") == (
        "energy: 0.412 J per token on the GPU, 0.85 times the baseline's"
    )
    assert words.energy(estimate("a", None), "nvml") is None
    assert "energy: 0.412 J per token on the processor" in report_of(counted, summary)
    assert "energy" not in report_of(submission, summary)


def test_durations_and_sizes_in_words() -> None:
    assert [words.seconds(s) for s in (0.2, 45.4, 200, 7500)] == [
        "1 s",
        "45 s",
        "3 min",
        "2 h 5 min",
    ]
    assert [words.parameters(n) for n in (134_515_008, 7_000_000_000)] == ["135 M", "7.0 B"]
