"""A campaign ends with a valid file despite failures and interruptions."""

from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from estimates.summary import summarize
from harness.campaign.arms import arms as all_arms
from harness.cli import app
from harness.errors import HarnessError, MachineError
from harness.report.events import Event, TrialEnded, TrialsPlanned
from harness.runners import CONNECT
from harness.runners.base import Adapter, Failure, Generation, TrialRequest
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign, run
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.harness.ggufs import write_gguf


def test_the_contract_accepts_files_written_by_the_harness(tmp_path: Path) -> None:
    submission = run(campaign(prompts=3, blocks=2), tmp_path / "run.jsonl")

    assert findings(canonical_bytes(encode(submission))) == ()
    assert len(submission.trials) == 3 * 3 * 2
    assert submission.design.ended == "completed"
    assert submission.probes is not None
    assert [snapshot.moment for snapshot in submission.environment or ()] == [
        "before",
        "during",
        "after",
    ]


def test_an_arm_that_cannot_be_prepared_stays_in_the_file_with_its_reason(tmp_path: Path) -> None:
    rig = FakeRig(failing_arms={"draft-model-n4": "vocabulary-mismatch"})

    submission = run(campaign(), tmp_path / "run.jsonl", rig=rig)

    arm = next(arm for arm in submission.arms if arm.id == "draft-model-n4")
    assert (arm.outcome, arm.reason) == ("failed", "vocabulary-mismatch")
    assert {trial.arm for trial in submission.trials} == {"baseline", "prompt-lookup-n8"}
    assert findings(canonical_bytes(encode(submission))) == ()


def test_a_baseline_that_cannot_run_ends_the_campaign_with_a_clear_line(tmp_path: Path) -> None:
    rig = FakeRig(failing_arms={"baseline": "out-of-memory"})

    with pytest.raises(MachineError, match=r"the baseline cannot run: the fake rig is set to fail"):
        run(campaign(), tmp_path / "run.jsonl", rig=rig)


def test_a_failed_trial_is_recorded_and_the_campaign_continues(tmp_path: Path) -> None:
    rig = FakeRig(failing_trials={4: "crashed"})

    submission = run(campaign(), tmp_path / "run.jsonl", rig=rig)

    outcomes = [(trial.outcome, trial.reason) for trial in submission.trials]
    assert outcomes.count(("failed", "crashed")) == 1
    assert outcomes.count(("ok", None)) == 11
    assert findings(canonical_bytes(encode(submission))) == ()


def test_an_arm_that_fails_three_times_in_a_row_is_abandoned(tmp_path: Path) -> None:
    plan = campaign(prompts=6, blocks=1)
    order: list[str] = []
    run(plan, tmp_path / "first.jsonl", observe=lambda event: order.extend(_arm_of(event)))
    positions = [number for number, arm in enumerate(order) if arm == "draft-model-n4"]

    rig = FakeRig(failing_trials=dict.fromkeys(positions, "timed-out"))
    submission = run(plan, tmp_path / "second.jsonl", rig=rig)

    failed = [trial for trial in submission.trials if trial.outcome == "failed"]
    assert len(failed) >= 3
    assert {trial.arm for trial in failed[:3]} == {"draft-model-n4"}
    assert len([t for t in submission.trials if t.arm == "draft-model-n4"]) < 6


@pytest.mark.parametrize(
    ("prompts", "acceptance", "doubt"),
    [(12, 0.9, "failures"), (12, 0.35, "failures"), (32, 0.9, "failures"), (32, 0.35, None)],
)
def test_slow_prompts_that_time_out_make_a_bound_that_shows_no_gain_or_no_verdict_at_all(
    tmp_path: Path, prompts: int, acceptance: float, doubt: str | None
) -> None:
    plan = campaign(arms=(BASELINE, DRAFT), prompts=prompts)
    # A step takes 20 ms, a round of four tokens 36: with nothing accepted 11 of them take 396 ms,
    # while the baseline writes in 220. Two prompts are so: 17 % of twelve, 6 % of thirty-two.
    rig = FakeRig(
        default_acceptance=acceptance,
        acceptance={"code-2": 0.0, "code-9": 0.0},
        answer_limit_s=0.42,
    )

    submission = run(plan, tmp_path / "run.jsonl", rig=rig)
    resumed = run(plan, tmp_path / "run.jsonl", rig=rig, resume=True)

    failed = [trial for trial in submission.trials if trial.outcome == "failed"]
    assert {(t.arm, t.reason, t.wall_ms) for t in failed} == {(DRAFT.id, "timed-out", 420.0)}
    assert {trial.prompt for trial in failed} == {"code-2", "code-9"}
    assert findings(canonical_bytes(encode(submission))) == ()
    assert resumed.trials == submission.trials
    found = next(each for each in summarize(submission).estimates if each.task == "code")
    assert (found.prompts, found.at_most, found.doubt) == (prompts, True, doubt)
    assert (found.verdict == "uncertain") is (doubt is not None)


def test_ctrl_c_ends_with_a_file_of_the_trials_so_far(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.order == 4:
            raise KeyboardInterrupt

    submission = run(campaign(), tmp_path / "run.jsonl", observe=interrupt)

    assert submission.design.ended == "interrupted"
    assert len(submission.trials) == 5
    assert findings(canonical_bytes(encode(submission))) == ()


def test_nothing_is_written_before_the_first_trial_ended(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, TrialsPlanned):
            raise KeyboardInterrupt

    with pytest.raises(HarnessError, match="no answer was finished before the run ended"):
        run(campaign(), tmp_path / "run.jsonl", observe=interrupt)


@pytest.mark.parametrize("after", [0, 3, 7, 10])
def test_a_killed_run_can_be_continued(tmp_path: Path, after: int) -> None:
    class KilledError(BaseException):
        pass

    def kill(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.order == after:
            raise KilledError

    work_file = tmp_path / "run.jsonl"
    with pytest.raises(KilledError):
        run(campaign(), work_file, observe=kill)
    seen: list[Event] = []

    submission = run(campaign(), work_file, resume=True, observe=seen.append)

    assert seen[0] == TrialsPlanned(total=12, done=after + 1, prompts=2)
    keys = [(trial.arm, trial.prompt, trial.block) for trial in submission.trials]
    assert len(keys) == len(set(keys)) == 12
    assert submission.design.resumed == 1
    assert findings(canonical_bytes(encode(submission))) == ()


def test_a_run_that_is_interrupted_again_and_again_still_fits_the_format(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, TrialEnded):
            raise KeyboardInterrupt

    plan = campaign(prompts=11, blocks=2)
    parts = [
        run(plan, tmp_path / "run.jsonl", resume=part > 0, observe=interrupt) for part in range(66)
    ]

    # Each part warms up three arms and looks at the machine: 198 warm-ups and at least 66 looks.
    last = parts[-1]
    assert len(last.trials) == 66
    assert len(last.warmups or ()) == len(last.environment or ()) == 64
    assert (last.environment or ())[0] == (parts[0].environment or ())[0]
    assert findings(canonical_bytes(encode(last))) == ()


def _arm_of(event: Event) -> list[str]:
    return [event.trial.arm] if isinstance(event, TrialEnded) else []


@pytest.mark.parametrize(
    ("rig", "files", "said"),
    [
        # The arm cannot be prepared, so nothing is measured for it, and there is no result.
        (
            FakeRig(failing_arms={"prompt-lookup-n8": "crashed"}),
            0,
            "Error: nothing to compare: prompt-lookup-n8: the fake rig is set to fail",
        ),
        # The arm fails during measurement: failures are a result too.
        (
            FakeRig(failing_trials=dict.fromkeys(range(20), "crashed")),
            1,
            "Error: nothing to compare: prompt-lookup-n8 (crashed)",
        ),
    ],
)
def test_a_campaign_in_which_every_drafting_arm_failed_does_not_end_with_0(
    rig: FakeRig,
    files: int,
    said: str,
    tmp_path: Path,
    cache_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cache_dir.is_dir()
    broken = Adapter(open=partial(FailingSession, rig))
    monkeypatch.setitem(CONNECT, "llama-cpp-python", lambda _: broken)
    target = write_gguf(tmp_path / "target.gguf")
    (tmp_path / "results").mkdir()
    words = ("--tasks", "code", "--prompts", "1", "--max-tokens", "4", "--blocks", "1")

    done = CliRunner().invoke(
        app,
        [
            *("run", "--runner", "llama-cpp-python", "--target", str(target)),
            *("-o", str(tmp_path / "results"), *words),
        ],
    )

    assert done.exit_code == 3
    assert said in done.stderr.splitlines()[-1]
    assert len([*(tmp_path / "results").iterdir()]) == files


class FailingSession(FakeSession):
    """Only trials that draft fail."""

    def generate(self, request: TrialRequest) -> Generation | Failure:
        answer = super().generate(request)
        plain = request.arm.startswith("baseline")
        return self._generation(self._arms[request.arm], request.prompt, 4) if plain else answer


def test_arms_needed_only_by_an_arm_that_cannot_run_are_not_measured(tmp_path: Path) -> None:
    arms = all_arms((LOOKUP.method,), (), concurrency=(1, 2))
    rig = FakeRig(failing_arms={"prompt-lookup-n8-c2": "out-of-memory"})

    found = run(campaign(arms=arms), tmp_path / "run.jsonl", rig=rig)

    assert {trial.arm for trial in found.trials} == {"baseline", "prompt-lookup-n8"}


def test_a_baseline_without_an_arm_to_compare_is_not_measured_to_the_end(tmp_path: Path) -> None:
    # Three failures in a row end the only arm that drafts: eight prompts, two blocks.
    rig = FakeRig(failing_trials=dict.fromkeys(range(99), "crashed"))
    plan = campaign(arms=(BASELINE, LOOKUP), prompts=8)

    found = run(plan, tmp_path / "run.jsonl", runner=partial(FailingSession, rig))

    assert sum(trial.arm == "prompt-lookup-n8" for trial in found.trials) == 3
    assert sum(trial.arm == "baseline" for trial in found.trials) <= 4
