"""The death of an engine becomes a value; the child processes here are real."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from harness.campaign.model import Campaign
from harness.errors import BadInputError, MachineError
from harness.runners.base import (
    Failure,
    Generation,
    PreparedArm,
    Session,
    StepTimes,
    TrialRequest,
)
from harness.runners.isolated import IsolatedSession
from tests.harness.campaigns import campaign
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.processes import all_end

pytestmark = pytest.mark.long
REQUEST = TrialRequest(arm="baseline", prompt="code-1", max_output_tokens=8)


class FragileSession(FakeSession):
    """Dies of a signal on `code-1`, hangs on `code-2`."""

    def generate(self, request: TrialRequest) -> Generation | Failure:
        if request.prompt == "code-1":
            os.kill(os.getpid(), signal.SIGSEGV)
        if request.prompt == "code-2":
            os.write(1, b"asked\n")
            time.sleep(600)
        return super().generate(request)


class SteplessSession(FakeSession):
    """Dies when a step is to be timed."""

    def step_times(self, widths: Sequence[int]) -> StepTimes:
        os.kill(os.getpid(), signal.SIGKILL)
        return super().step_times(widths)


def stepless_runner(plan: Campaign) -> Session:
    return SteplessSession(FakeRig(), plan)


class InterruptedSession(FakeSession):
    """Receives Ctrl-C while it answers."""

    def generate(self, request: TrialRequest) -> Generation | Failure:
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(600)  # what the parent does meanwhile must not need an answer
        return super().generate(request)


def interrupted_runner(plan: Campaign) -> Session:
    return InterruptedSession(FakeRig(), plan)


def fragile_runner(plan: Campaign) -> Session:
    return FragileSession(FakeRig(), plan)


def refusing_runner(_plan: Campaign) -> Session:
    raise BadInputError("the model is not a model")


def dying_runner(_plan: Campaign) -> Session:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_answers_pass_through_a_child_process_unchanged() -> None:
    here = FakeSession(FakeRig(), campaign())
    here.prepare("baseline")
    expected = here.generate(REQUEST)

    session = IsolatedSession(partial(FakeSession, FakeRig()), campaign())
    prepared = session.prepare("baseline")
    answer = session.generate(REQUEST)
    session.close()

    assert isinstance(prepared, PreparedArm)
    assert answer == expected


def test_a_crash_is_a_failed_trial_and_the_next_one_runs() -> None:
    session = IsolatedSession(fragile_runner, campaign(prompts=3))

    crash = session.generate(REQUEST)
    after = session.generate(TrialRequest(arm="baseline", prompt="code-3", max_output_tokens=8))
    session.close()

    assert isinstance(crash, Failure)
    assert crash.reason == "crashed"
    assert "SIGSEGV" in crash.detail
    assert isinstance(after, Generation)


def test_silence_is_a_failed_trial_with_the_reason_timed_out() -> None:
    session = IsolatedSession(fragile_runner, campaign(prompts=3), answer_limit_s=0.5)
    session.prepare("baseline")

    silence = session.generate(TrialRequest(arm="baseline", prompt="code-2", max_output_tokens=8))
    session.close()

    assert silence == Failure(reason="timed-out", detail="no answer within 0.5 s", waited_ms=500.0)


def test_an_error_of_the_child_is_raised_here() -> None:
    with pytest.raises(BadInputError, match="the model is not a model"):
        IsolatedSession(refusing_runner, campaign())


def test_a_child_that_dies_while_loading_is_one_clear_line() -> None:
    with pytest.raises(MachineError, match="usually because memory ran out"):
        IsolatedSession(dying_runner, campaign())


HANG = """
from harness.runners.isolated import IsolatedSession
from harness.runners.base import TrialRequest
from tests.harness.campaigns import campaign
from tests.harness.runners.test_isolated import fragile_runner

if __name__ == "__main__":
    session = IsolatedSession(fragile_runner, campaign(prompts=2))
    session.prepare("baseline")
    print(session._process.pid, flush=True)
    session.generate(TrialRequest(arm="baseline", prompt="code-2", max_output_tokens=8))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_the_child_of_a_killed_parent_ends_at_once_in_the_middle_of_a_generation(
    tmp_path: Path,
) -> None:
    script = tmp_path / "hang.py"
    script.write_text(HANG)
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == "asked\n"
        parent.kill()

    assert all_end([child])


def test_ctrl_c_during_a_generation_ends_the_child_at_once_and_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    session = IsolatedSession(interrupted_runner, campaign())
    session.prepare("baseline")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    with pytest.raises(KeyboardInterrupt):
        session.generate(REQUEST)
    signal.signal(signal.SIGINT, before)
    began = time.monotonic()
    session.close()

    assert time.monotonic() - began < 5  # the child is not asked to free anything first
    assert capfd.readouterr().err == ""


def test_an_engine_that_dies_of_a_timed_step_is_one_line() -> None:
    session = IsolatedSession(stepless_runner, campaign())

    with pytest.raises(MachineError, match="was killed"):
        session.step_times((1, 2))
    session.close()
