"""Cases with fake servers for the contract of runners."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.runners import CONNECT
from harness.runners.options import ConnectionOptions
from tests.harness.openai.fake_server import serving
from tests.harness.runners.contract_cases import SERVED, Cases, RunnerCase, kill_those_since
from tests.processes import PATIENCE_S, children

FAKE_SERVER = "tests.harness.openai.fake_server"


@contextmanager
def on_addresses(_weights: Path) -> Iterator[RunnerCase]:
    """Two loopback stand-ins that run already."""
    with serving(round_ms=2) as base, serving(round_ms=2, depth=3) as other:
        options = ConnectionOptions(base_url=base.url, spec_base_urls=(other.url,))

        def break_it() -> None:
            base.shutdown()
            base.server_close()

        runner = CONNECT["openai"](options).open
        yield RunnerCase(runner=runner, plan=SERVED, break_it=break_it)


@contextmanager
def by_commands(_weights: Path) -> Iterator[RunnerCase]:
    """Loopback stand-ins that commands start, a fresh one for each arm and block."""
    command = f"{sys.executable} -m {FAKE_SERVER} --port {{port}}"
    options = ConnectionOptions(
        server_command=command,
        spec_server_commands=(f"{command} --depth 3",),
        answer_limit_s=PATIENCE_S,
    )
    before = children()
    runner = CONNECT["openai"](options).open
    yield RunnerCase(runner=runner, plan=SERVED, break_it=lambda: kill_those_since(before))


CASES: Cases = {"openai at addresses": on_addresses, "openai by commands": by_commands}
