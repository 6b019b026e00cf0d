"""Concurrent requests are measured together and recorded separately."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaign.model import ArmPlan, Campaign
from harness.runners.base import Failure, TrialRequest
from harness.runners.http.session import run_concurrently
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from tests.harness.campaigns import BASELINE, DRAFT, campaign, run
from tests.harness.fake_runner import FakeRig
from tests.processes import PATIENCE_S

QUIET = FakeRig(noise=0.0, step_ms=20.0, extra_width_ms=2.0)


def concurrent(level: int, *, prompts: int = 4) -> Campaign:
    """A baseline with several requests in flight, over some prompts, in one block."""
    arm = replace(BASELINE, concurrency=level)
    plain = campaign(arms=(arm,), prompts=prompts, blocks=1, max_output_tokens=11)
    return replace(plain, interleaved="block")


def test_a_pass_says_when_each_of_its_requests_began(tmp_path: Path) -> None:
    submission = run(concurrent(2), tmp_path / "work.jsonl", rig=QUIET)

    # Ten steps of 20 + 2 ms for two streams, and 50 ms for the prompt: 270 ms for each.
    assert [trial.started_ms for trial in submission.trials] == [0.0, 0.0, 270.0, 270.0]
    assert [trial.decode_ms for trial in submission.trials] == [220.0] * 4
    assert submission.arms[0].concurrency == 2
    assert findings(canonical_bytes(encode(submission))) == ()


def test_one_request_at_a_time_says_nothing_of_when_it_began(tmp_path: Path) -> None:
    submission = run(concurrent(1), tmp_path / "work.jsonl", rig=QUIET)

    assert {trial.started_ms for trial in submission.trials} == {None}
    assert submission.arms[0].concurrency is None


def test_a_killed_pass_continues_with_the_missing_prompts(tmp_path: Path) -> None:
    plan = concurrent(2, prompts=6)
    rig = replace(QUIET, slowdown=_interrupting(at=3))
    half = run(plan, tmp_path / "work.jsonl", rig=rig)

    whole = run(plan, tmp_path / "work.jsonl", rig=QUIET, resume=True)

    assert half.design.ended == "interrupted"
    assert len(half.trials) == 3
    assert len(whole.trials) == 6
    assert len({trial.prompt for trial in whole.trials}) == 6


def test_each_arm_is_compared_with_the_baseline_of_its_concurrency(tmp_path: Path) -> None:
    arms = (BASELINE, DRAFT, _crowded("baseline-c3"), _crowded("draft-model-n4-c3"))
    plan = campaign(arms=arms, prompts=3, blocks=1, max_output_tokens=11)
    submission = run(replace(plan, interleaved="block"), tmp_path / "work.jsonl", rig=QUIET)

    decode_ms = {arm.id: 0.0 for arm in submission.arms}
    for trial in submission.trials:
        decode_ms[trial.arm] += trial.decode_ms or 0.0
    assert decode_ms["baseline-c3"] == pytest.approx(3 * 10 * 24.0)
    assert decode_ms["draft-model-n4-c3"] > decode_ms["draft-model-n4"]


def test_no_more_requests_are_in_flight_than_were_asked_for() -> None:
    lock, three, running, most = threading.Lock(), threading.Event(), [0], [0]

    def answer(_request: TrialRequest) -> Failure:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == 3:
                three.set()
        three.wait(PATIENCE_S)
        time.sleep(0.01)
        with lock:
            running[0] -= 1
        return Failure(reason="other", detail="not asked")

    requests = [TrialRequest(arm="a", prompt=f"p{i}", max_output_tokens=1) for i in range(7)]
    done = list(run_concurrently(requests, 3, answer))

    assert most == [3]
    assert {each.request for each in done} == set(requests)
    assert sorted(each.started_ms for each in done)[3] >= 10


def _crowded(name: str) -> ArmPlan:
    plain = BASELINE if name.startswith("baseline") else DRAFT
    baseline = None if plain.baseline is None else "baseline-c3"
    return replace(plain, id=name, baseline=baseline, concurrency=3)


def _interrupting(*, at: int) -> Callable[[int], float]:
    def slowdown(order: int) -> float:
        if order == at:
            raise KeyboardInterrupt
        return 1.0

    return slowdown
