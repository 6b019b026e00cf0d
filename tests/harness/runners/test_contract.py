"""Every runner keeps the contract: the same checks on fake, in-process and served engines."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.campaign.model import Campaign
from harness.features import ENGINES
from harness.runners.base import ConcurrentSession, Session
from schemas.vocabulary import RUNNERS
from tests.harness.runners import contract, contract_cases

MARKS = {"llama-cpp-python": pytest.mark.engine, "llama-server": pytest.mark.engine}
# An engine that is an optional feature has its cases in its own test folder.
OTHERS = [
    import_module(f"tests.{module}.contract_cases")
    for module in ENGINES.values()
    if find_spec(f"tests.{module}") and find_spec(f"tests.{module}.contract_cases")
]
CASES = {name: case for found in (contract_cases, *OTHERS) for name, case in found.CASES.items()}
NAMES = [
    pytest.param(name, marks=MARKS.get(name, ()))
    for found in (contract_cases, *OTHERS)
    if getattr(found, "RUNS_HERE", True)
    for name in found.CASES
]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A session of a case, with every arm prepared."""

    session: Session
    plan: Campaign


@pytest.fixture(scope="module", params=NAMES)
def opened(request: pytest.FixtureRequest, nonsense: Path) -> Iterator[Opened]:
    """A session of each runner, with prepared and checked arms."""
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
