"""Run a session in a child process, so that a crash of the engine becomes a failure.

If a child dies, its trial fails with the reason `crashed` (`out-of-memory` after SIGKILL); if it
hangs, with `timed-out`. A new child runs the following trials. Arms are prepared again in the new
child when they are needed.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from operator import methodcaller
from typing import Any, TypeVar

from harness.campaign.model import Campaign
from harness.errors import HarnessError, MachineError
from harness.runners import base
from schemas.submission import Probes, Reason

T = TypeVar("T")

# Long enough to load 40 GB from a disk, or to answer at one token in five seconds. A shorter answer
# limit must not shorten the load limit. A longer answer limit implies a slow machine, so it extends
# both limits.
LOAD_LIMIT_S = 900.0
ANSWER_LIMIT_S = 900.0
_CLOSE_LIMIT_S = 10.0


class IsolatedSession:
    """A session that passes every call to a child process and survives the child's death."""

    def __init__(
        self, runner: base.Runner, campaign: Campaign, *, answer_limit_s: float = ANSWER_LIMIT_S
    ) -> None:
        """Start a child process and load the target there. Raises the child's errors."""
        self._runner = runner
        self._campaign = campaign
        self._answer_limit_s = answer_limit_s
        self._limit_s = max(LOAD_LIMIT_S, answer_limit_s)
        self._prepared: set[str] = set()
        self._computes = True
        try:
            self._start()
        except base.FailedError as error:
            raise MachineError(
                f"the engine failed while loading: {error}; try: python -m harness doctor"
            ) from error

    def report(self) -> base.EngineReport:
        report: base.EngineReport = self._ask(methodcaller("report"))
        return report

    def prepare(self, arm: str) -> base.PreparedArm | base.Failure:
        try:
            answer: base.PreparedArm | base.Failure = self._ask(methodcaller("prepare", arm))
        except base.FailedError as error:
            return self._replace_child(error.failure)
        if not isinstance(answer, base.Failure):
            self._prepared.add(arm)
        return answer

    def generate(self, request: base.TrialRequest) -> base.Generation | base.Failure:
        """Run one generation; after a crash, a new child is started."""
        if request.arm not in self._prepared:
            again = self.prepare(request.arm)
            if isinstance(again, base.Failure):
                return again
        call = methodcaller("generate", request)
        try:
            answer: base.Generation | base.Failure = self._ask(call, limit_s=self._answer_limit_s)
        except base.FailedError as error:
            return self._replace_child(error.failure.given_up_after(self._answer_limit_s))
        return answer

    def probe(self) -> Probes | None:
        """Measure the drafting costs; `None` if the child dies."""
        try:
            probes: Probes | None = self._ask(methodcaller("probe"))
        except base.FailedError as error:
            self._replace_child(error.failure)
            return None
        return probes

    def step_times(self, widths: Sequence[int]) -> base.StepTimes:
        """Time single steps of the target. Raises `MachineError` if the child dies."""
        try:
            times: base.StepTimes = self._ask(methodcaller("step_times", widths))
        except base.FailedError as error:
            self._replace_child(error.failure)
            raise MachineError(str(error)) from error
        return times

    def close(self) -> None:
        """Let the child free its memory, then end it.

        A child that is still computing, as after Ctrl-C, is killed instead of awaited.
        """
        if self._computes:
            self._process.kill()
        else:
            with suppress(base.FailedError):  # the child may be gone already
                self._ask(methodcaller("close"), limit_s=_CLOSE_LIMIT_S)
        self._end_child()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # engines do not survive a fork
        self._connection, theirs = context.Pipe()
        arguments = (theirs, self._runner, self._campaign)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        with _interrupts_held_back():
            self._process.start()
        theirs.close()
        self._receive(self._limit_s)

    def _ask(self, call: Callable[[Any], T], *, limit_s: float | None = None) -> T:
        """Have the child call a function with its session.

        Raises the function's errors, and `FailedError` if the child died or does not answer.
        """
        self._computes = True  # before the call is sent: Ctrl-C may arrive in between
        try:
            self._connection.send(call)
        except OSError:
            raise self._death() from None
        answer: T = self._receive(limit_s or self._limit_s)
        return answer

    def _receive(self, limit_s: float) -> Any:  # noqa: ANN401 - what the child sent
        try:
            if not self._connection.poll(limit_s):
                detail = f"no answer within {limit_s:g} s"
                raise base.FailedError(base.Failure(reason="timed-out", detail=detail))
            answer = self._connection.recv()
            self._computes = False
        except (EOFError, ConnectionResetError):
            raise self._death() from None
        if isinstance(answer, HarnessError):
            raise answer
        return answer

    def _death(self) -> base.FailedError:
        self._process.join(_CLOSE_LIMIT_S)
        code = self._process.exitcode
        reason: Reason = "crashed"
        how = f"ended (exit code {code})"
        if code is not None and code < 0:
            how = f"died ({signal.Signals(-code).name})"
            if -code == signal.SIGKILL:
                reason = "out-of-memory"
                how = "was killed (SIGKILL), usually because memory ran out"
        return base.FailedError(base.Failure(reason=reason, detail=f"the engine's process {how}"))

    def _replace_child(self, failure: base.Failure) -> base.Failure:
        self._process.kill()  # dead already, or hanging
        self._end_child()
        self._prepared.clear()
        self._start()
        return failure

    def _end_child(self) -> None:
        self._connection.close()
        self._process.join(_CLOSE_LIMIT_S if self._process.exitcode is None else 0)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Block Ctrl-C while a child starts; a blocked Ctrl-C is delivered to this process afterwards.

    A child inherits the blocked signals. If it did not, Ctrl-C would end the child with a traceback
    while it loads. Windows cannot block signals.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, runner: base.Runner, campaign: Campaign) -> None:
    """Run in the child: answer calls until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and closes the pipe
    if sys.platform != "win32":
        os.setsid()  # signals to the parent's group, such as `timeout`'s, do not reach this process
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    # The parent may close the pipe while the child computes, without waiting for the answer.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        _converse(connection, runner, campaign)


def _die_with_the_parent() -> None:
    """End this process immediately when the parent is gone, even in the middle of a step.

    A killed parent cannot clean up. Without this thread, the engine would go on running, keep its
    memory and disturb the resumed run. The watching thread sleeps until the parent is gone and uses
    no CPU time.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _converse(connection: Connection, runner: base.Runner, campaign: Campaign) -> None:
    try:
        session = runner(campaign)
    except HarnessError as error:
        connection.send(error)
        return
    connection.send(None)
    while True:
        call = connection.recv()
        try:
            answer = call(session)
        except HarnessError as error:
            answer = error
        connection.send(answer)
