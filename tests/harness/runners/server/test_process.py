"""What becomes of a server when nobody waits for it any more?"""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from harness.runners.http import process
from tests.processes import PATIENCE_S

SLEEP = "import time; time.sleep(600)  # a server that takes long to load"


def interrupted() -> None:
    raise KeyboardInterrupt


def test_a_server_that_is_interrupted_while_it_loads_is_ended() -> None:
    server = process.start(Path(sys.executable), ["-c", SLEEP], port=process.free_port())
    assert psutil.pid_exists(server.pid)

    with pytest.raises(KeyboardInterrupt):
        server.wait_until_ready(PATIENCE_S, ask=interrupted)

    assert not server.running()
    assert not psutil.pid_exists(server.pid)
