"""Do the tests' own helpers for processes do what they promise?"""

import signal
import sys

import pytest

from tests.processes import PATIENCE_S, eventually, start_interruptible

SLEEPER = "import sys, time; print('awake', file=sys.stderr, flush=True); time.sleep(600)"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_ctrl_c_ends_a_child_although_the_tests_were_started_with_it_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = start_interruptible((sys.executable, "-c", SLEEPER))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)

    with child:
        assert child.stderr is not None
        assert child.stderr.readline() == "awake\n"
        child.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in child.communicate(timeout=PATIENCE_S)[1]
    assert eventually(lambda: child.poll() is not None)
