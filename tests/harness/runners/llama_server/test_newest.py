"""The runner works with a newer server: llama.cpp b11549 counts by position."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaign.model import ArmPlan
from harness.runners.base import Generation, PreparedArm, Session, Totals, TrialRequest
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.harness.runners.contract import check_generation
from tests.harness.runners.llama_server.test_real import ngram
from tests.nightly import few

pytestmark = pytest.mark.engine

ALPHABET = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
TEXT = f"Write the letters of the alphabet, then write them again: {ALPHABET}"
DRAFTED = (BASELINE, DRAFT)
FROM_TEXT = (BASELINE, ngram("ngram-simple"), ngram("ngram-mod"))
FORCED = ArmPlan(
    id="forced",
    role="control",
    method=Method(type="forced", n_max=4, length=2.5, draft="draft"),
    baseline="baseline",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("xllamacpp", reason="no newer llama-server wheel here")
    path = tmp_path_factory.mktemp("newest") / "llama-server"
    module = "harness.runners.llama_server.wheel_server"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def drafted(nonsense: Path, program: Path) -> Iterator[Session]:
    """A session with one layer as its own draft; drafts are right whatever it writes."""
    with opened(program, nonsense, (*DRAFTED, FORCED)) as session:
        yield session


@pytest.fixture(scope="module")
def from_text(weights: Path, program: Path) -> Iterator[Session]:
    """A session with a whole model, whose text repeats itself and its prompt."""
    with opened(program, weights, FROM_TEXT) as session:
        yield session


@contextmanager
def opened(
    program: Path, weights: Path, arms: tuple[ArmPlan, ...], context: int = 512, **settings: object
) -> Iterator[Session]:
    plan = campaign(
        arms=arms,
        texts=(TEXT,),
        max_output_tokens=28,
        target=weights,
        draft=weights,
        context_tokens=context,
    )
    plan = replace(plan, settings=replace(plan.settings, **settings))  # type: ignore[arg-type]
    session = LlamaServerSession(ConnectionOptions(binary=str(program)), plan)
    yield session
    session.close()


def answered(session: Session, arm: str, tokens: int = 28) -> Generation:
    assert isinstance(session.prepare(arm), PreparedArm)
    answer = session.generate(TrialRequest(arm=arm, prompt="code-1", max_output_tokens=tokens))
    assert isinstance(answer, Generation), answer
    return answer


def totals_of(found: Generation) -> Totals:
    """The counters of a generation, which must agree with each other and the metrics page."""
    totals = found.rounds
    assert isinstance(totals, Totals)
    assert totals.accepted
    assert totals.accepted_histogram is not None
    assert totals.metrics_accepted is None
    check_generation(found, FORCED)
    return totals


@pytest.mark.nightly
def test_synthetic_acceptance_is_counted_as_it_was_set(drafted: Session) -> None:
    totals = totals_of(answered(drafted, FORCED.id))

    # 27 tokens after the first at 2.5 a round take 11 ± 1.6 rounds: each is drawn at random.
    assert totals.rounds is not None
    assert 6 <= totals.rounds <= 18


@pytest.mark.nightly
def test_a_model_accepts_its_own_drafts_only_if_they_are_sampled_like_its_answer(
    weights: Path, program: Path
) -> None:
    accepted = {}
    for mode in ("greedy", "probabilistic"):
        drawn = {"temperature": 0.5, "draft_sampling": mode}
        with opened(program, weights, DRAFTED, **drawn) as session:
            assert session.report().settings.draft_sampling == mode
            totals = answered(session, DRAFT.id, tokens=60).rounds
        assert isinstance(totals, Totals)
        assert totals.drafted
        accepted[mode] = (totals.accepted or 0) / totals.drafted

    # 40 of 73 and nearly all of them.
    assert accepted["probabilistic"] > max(0.75, accepted["greedy"] + 0.15)


@pytest.mark.nightly
def test_an_arm_with_a_draft_writes_the_baseline_and_its_counters_add_up(drafted: Session) -> None:
    plain, found = (answered(drafted, arm.id) for arm in DRAFTED)

    assert found.tokens == plain.tokens
    assert totals_of(found)


@pytest.fixture(scope="module")
def plain(from_text: Session) -> Generation:
    return answered(from_text, "baseline")


@pytest.mark.nightly
@pytest.mark.parametrize("arm", few([arm.id for arm in FROM_TEXT[1:]], 1))
def test_an_arm_without_a_draft_writes_the_baseline_and_its_counters_add_up(
    from_text: Session, plain: Generation, arm: str
) -> None:
    found = answered(from_text, arm)

    assert found.tokens == plain.tokens
    assert totals_of(found)
