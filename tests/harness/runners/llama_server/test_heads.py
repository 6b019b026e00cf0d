"""An arm with a built-in MTP head runs on a real server with correct counters."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.campaign.model import ArmPlan
from harness.runners.base import Generation, PreparedArm, Session, Totals, TrialRequest
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, campaign
from tests.harness.runners.llama_server import heads

pytestmark = pytest.mark.engine

HELLOS = "Say hello " + "hello " * 20 + "and go on and on with it, only this word."
TOKENS = 13


@contextmanager
def session(binary: str, method: Method, target: Path, draft: Path) -> Iterator[Session]:
    arm = ArmPlan(id="head", role="speculation", method=method, baseline="baseline")
    plan = campaign(
        arms=(BASELINE, arm),
        texts=(HELLOS,),
        max_output_tokens=TOKENS,
        target=target,
        draft=draft,
        context_tokens=512,
    )
    opened = LlamaServerSession(ConnectionOptions(binary=binary), plan)
    try:
        yield opened
    finally:
        opened.close()


def answered(session: Session, arm: str) -> tuple[Generation, Totals]:
    prepared = session.prepare(arm)
    assert isinstance(prepared, PreparedArm), prepared
    found = session.generate(TrialRequest(arm=arm, prompt="code-1", max_output_tokens=TOKENS))
    assert isinstance(found, Generation), found
    assert isinstance(found.rounds, Totals)
    return found, found.rounds


def test_a_built_in_head_that_repeats_the_model_is_always_right(
    binary: str, weights: Path, tmp_path: Path
) -> None:
    model = heads.mtp(tmp_path / "model.gguf", weights)

    with session(binary, Method(type="mtp", n_max=3), model, model) as opened:
        plain, _ = answered(opened, "baseline")
        found, totals = answered(opened, "head")

    # Twelve tokens after the first, in three rounds of one token and three accepted ones.
    assert found.tokens == plain.tokens
    assert (totals.rounds, totals.drafted, totals.accepted) == (3, 9, 9)
