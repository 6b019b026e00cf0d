"""A run without an answer prints the next command, ready to paste."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from estimates.flags import in_order
from estimates.model import Flag, Summary
from harness import PROGRAM
from harness.campaign.method_parser import as_text, parse
from harness.campaign.options import Options
from harness.report.expected_time import ExpectedTime
from harness.report.use import LocalFiles
from harness.run import next_step
from harness.run.chosen_engine import ChosenEngine
from harness.run.engine_run import MeasuredEngine
from harness.run.request import RunRequest
from harness.runners.options import ConnectionOptions
from schemas.submission import Submission
from tests.harness.ggufs import write_gguf
from tests.harness.report.test_report import NOTHING, estimate, three_arms

_MEASURED, _ = three_arms()
# Half of 120 trials in ten minutes.
TRIALS = (_MEASURED.trials * 60)[:60]
MEASURED = replace(
    _MEASURED,
    trials=TRIALS,
    measured_from="2026-11-25T10:00:00Z",
    measured_until="2026-11-25T10:10:00Z",
    design=replace(_MEASURED.design, planned_trials=120, budget_s=600.0, blocks=3),
)
UNKNOWN = {**NOTHING, "verdict": "too-few-prompts"}


@pytest.fixture(autouse=True)
def given(monkeypatch: pytest.MonkeyPatch, fake_engine: None) -> None:  # noqa: ARG001 - in place
    command = "x run --quick --target a.gguf -o r.json --output=r.json"
    monkeypatch.setattr(sys, "argv", [*command.split(), "--notes", "it's"])


def request(tmp_path: Path, *, quick: bool = False) -> RunRequest:
    target = str(write_gguf(tmp_path / "a.gguf"))
    engine = ChosenEngine(runner="llama-cpp-python", connection=ConnectionOptions())
    return RunRequest(options=Options(target=target, quick=quick), engines=(engine,))


def measured(submission: Submission, **figures: object) -> MeasuredEngine:
    found = estimate("draft-model-n4", None, **figures)
    summary = Summary(estimates=(found,), prompts=(), flags=())
    return MeasuredEngine(
        submission=submission, summary=summary, path=Path("r"), local_files=LocalFiles()
    )


def ended(how: str) -> Submission:
    return replace(MEASURED, design=replace(MEASURED.design, ended=how))


def test_an_option_that_is_given_again_replaces_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "tune", "--budget", "4", "-o", "out", "--deepest=4"])

    assert next_step.resume_command("--resume", "--budget", "8") == (
        f"{PROGRAM} tune -o out --deepest=4 --resume --budget 8"
    )


def test_an_interrupted_run_can_be_continued(tmp_path: Path) -> None:
    said = next_step.after(request(tmp_path), measured(ended("interrupted")))

    assert said == (
        f"Next, about 10 min: {PROGRAM} run --quick --target a.gguf -o r.json --output=r.json "
        "--notes 'it'\"'\"'s' --resume"
    )


def test_a_spent_budget_is_raised_by_the_remaining_time(tmp_path: Path) -> None:
    said = next_step.after(request(tmp_path), measured(ended("budget-spent")))

    assert said is not None
    assert said.startswith("Next, about 10 min: ")
    assert said.endswith(" --resume --budget 20")


@pytest.mark.usefixtures("cache_dir")
def test_a_first_look_that_says_too_little_is_followed_by_the_whole_run(tmp_path: Path) -> None:
    said = next_step.after(request(tmp_path, quick=True), measured(ended("completed"), **UNKNOWN))

    # 12 prompts, 32 tokens and a block become 32 prompts, 96 tokens and two blocks: 16 x 10 min.
    assert said == (f"Next, about 2 h 40 min: {PROGRAM} run --target a.gguf --notes 'it'\"'\"'s'")


def test_a_whole_run_that_says_too_little_gets_twice_the_blocks(tmp_path: Path) -> None:
    said = next_step.after(request(tmp_path), measured(ended("completed"), **UNKNOWN))

    assert said is not None
    assert said.startswith("Next, about 20 min: ")
    assert said.endswith(" --blocks 6")
    assert "r.json" not in said  # an existing result is not written over


@pytest.mark.parametrize(
    ("doubt", "again"), [("busy-machine", True), ("gpu-use-not-shown", False), ("diverged", False)]
)
def test_a_run_is_repeated_only_if_its_doubt_may_pass(
    tmp_path: Path, doubt: str, *, again: bool
) -> None:
    doubted = measured(ended("completed"), **{**UNKNOWN, "verdict": "uncertain", "doubt": doubt})

    assert (next_step.after(request(tmp_path), doubted) is not None) == again


def test_a_flag_that_will_return_comes_before_one_that_may_pass() -> None:
    flags = [
        Flag(name=name, severity="serious", message="", remedy="")
        for name in ("busy-machine", "gpu-use-not-shown")
    ]

    assert [flag.name for flag in in_order(flags)] == ["gpu-use-not-shown", "busy-machine"]


@pytest.mark.parametrize(("seconds", "offered"), [(599.0, False), (601.0, True)])
@pytest.mark.usefixtures("cache_dir")
def test_a_long_run_with_the_defaults_comes_with_a_first_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, *, offered: bool
) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "run", "--target", "a.gguf", "--dry-run"])
    expected = ExpectedTime(seconds=seconds, least_seconds=seconds, first_seconds=seconds)

    found = next_step.first_look(request(tmp_path), expected)

    assert (found is not None) == offered
    if found is not None:
        assert found.startswith("A first look takes about ")
        assert found.endswith(f": {PROGRAM} run --target a.gguf --quick")
    assert next_step.first_look(request(tmp_path, quick=True), expected) is None


def test_an_answer_needs_no_next_step(tmp_path: Path) -> None:
    assert next_step.after(request(tmp_path), measured(ended("completed"))) is None


@pytest.mark.parametrize(
    "text",
    [
        "draft-model:n_max=3,p_min=0.5",
        "prompt-lookup:n_max=8,ngram_min=2,ngram_max=4",
        "ngram-mod+draft-model:n_max=5",
    ],
)
def test_a_method_is_written_as_it_is_asked_for(text: str) -> None:
    assert as_text(parse(text)) == text
