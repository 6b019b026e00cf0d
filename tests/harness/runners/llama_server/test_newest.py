"""Does a server of another era answer the same runner? llama.cpp b11549 counts by position."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.campaign.model import ArmPlan
from harness.runners.base import Generation, PreparedArm, Request, Totals
from harness.runners.llama_server.session import LlamaServer
from harness.runners.options import ConnectionOptions
from schemas.submission import Forced
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.harness.runners.llama_server.test_real import ngram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.runners.base import Session


pytestmark = pytest.mark.engine

ALPHABET = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
TEXT = f"Write the letters of the alphabet, then write them again: {ALPHABET}"
ARMS = (BASELINE, DRAFT, ngram("ngram-simple"), ngram("ngram-mod"))
FORCED = ArmPlan(
    id="forced",
    role="control",
    method=Forced(n_max=4, length=2.5, draft="draft"),
    baseline="baseline",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("xllamacpp", reason="no newer llama-server wheel here")
    path = tmp_path_factory.mktemp("newest") / "llama-server"
    script = Path("tools/embedded_server.py").resolve()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def session(weights: Path, program: Path) -> Iterator[Session]:
    plan = campaign(
        arms=(*ARMS, FORCED),
        texts=(TEXT,),
        max_output_tokens=28,
        target=weights,
        draft=weights,
        context_tokens=512,
    )
    opened = LlamaServer(ConnectionOptions(binary=str(program))).open(plan)
    yield opened
    opened.close()


def answered(session: Session, arm: str) -> Generation:
    assert isinstance(session.prepare(arm), PreparedArm)
    answer = session.generate(Request(arm=arm, prompt="code-1", max_output_tokens=28))
    assert isinstance(answer, Generation), answer
    return answer


def test_synthetic_acceptance_is_counted_as_it_was_set(session: Session) -> None:
    found = answered(session, FORCED.id)

    assert isinstance(found.rounds, Totals)
    assert found.rounds.rounds is not None
    # 27 tokens after the first at 2.5 a round are 11 rounds, give or take 1.6: each is drawn.
    assert 6 <= found.rounds.rounds <= 18


@pytest.fixture(scope="module")
def plain(session: Session) -> Generation:
    return answered(session, "baseline")


@pytest.mark.parametrize("arm", [arm.id for arm in ARMS[1:]])
def test_every_arm_writes_the_baseline_and_its_counters_add_up(
    session: Session, plain: Generation, arm: str
) -> None:
    found = answered(session, arm)

    assert found.tokens == plain.tokens
    assert isinstance(found.rounds, Totals)
    totals = found.rounds
    assert totals.drafted is not None
    assert totals.accepted is not None
    assert totals.rounds is not None
    assert totals.drafted >= totals.accepted > 0
    assert found.output_tokens == 1 + totals.accepted + totals.rounds
    assert totals.accepted_histogram is not None
    assert sum(totals.accepted_histogram) == totals.rounds
    assert (
        sum(length * count for length, count in enumerate(totals.accepted_histogram))
        == totals.accepted
    )
    assert totals.metrics_accepted is None
