"""Open sessions of the runner `openai` on loopback stand-ins."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from harness.campaign.model import ArmPlan, Campaign
from harness.openai import connect
from harness.openai.session import OpenAiSession
from harness.runners.base import Failure, Generation, Totals, TrialRequest
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.harness.openai.fake_server import FakeServer, serving

LIMIT = 24
METHOD = Method(type="draft-model", draft="draft", n_max=3)
SPECULATION = replace(DRAFT, id="draft-model-n3", method=METHOD)


def plan(*arms: ArmPlan, in_turns: bool = False, **options: Any) -> Campaign:  # noqa: ANN401 - options of `campaign`
    """A campaign of a baseline and a draft model that drafts three tokens.

    Its arms alternate by pass, or by prompt on one server.
    """
    made = campaign(arms=arms or (BASELINE, SPECULATION), max_output_tokens=LIMIT, **options)
    return replace(made, interleaved="prompt" if in_turns else "block", engine="openai")


def open_session(made: Campaign, **options: Any) -> OpenAiSession:  # noqa: ANN401 - fields of `ConnectionOptions`
    """A session on the servers that `options` names; they compute on the processor."""
    options.setdefault("backend", "cpu")
    return cast("OpenAiSession", connect(ConnectionOptions(**options)).open(made))


@contextmanager
def on_fakes(
    spec: dict[str, Any] | None = None,
    **behaviour: Any,  # noqa: ANN401 - fields of `Behaviour`
) -> Iterator[tuple[OpenAiSession, FakeServer, FakeServer]]:
    """A session with a plain and a drafting stand-in of one style, both prepared."""
    drafting = {"depth": 3, **behaviour, **(spec or {})}
    with serving(**behaviour) as base, serving(**drafting) as other:
        session = open_session(plan(), base_url=base.url, spec_base_urls=(other.url,))
        for arm in ("baseline", "draft-model-n3"):
            prepared = session.prepare(arm)
            assert not isinstance(prepared, Failure), prepared
        yield session, base, other
        session.close()


def request(arm: str = "draft-model-n3", prompt: str = "code-1", block: int = 0) -> TrialRequest:
    """One generation to run."""
    return TrialRequest(arm=arm, prompt=prompt, max_output_tokens=LIMIT, block=block)


def answered(session: OpenAiSession, arm: str = "draft-model-n3") -> tuple[Generation, Totals]:
    """A generation that must succeed, and its sums."""
    result = session.generate(request(arm))
    assert isinstance(result, Generation), result
    assert isinstance(result.rounds, Totals)
    return result, result.rounds


def refused(session: OpenAiSession, arm: str = "draft-model-n3") -> Failure:
    """The failure of an arm that cannot be prepared."""
    failure = session.prepare(arm)
    assert isinstance(failure, Failure), failure
    return failure


def baseline_alone(server: FakeServer, **options: Any) -> OpenAiSession:  # noqa: ANN401 - fields of `ConnectionOptions`
    """A session on a server for the baseline; the other address has no server."""
    nobody = ("http://127.0.0.1:9",)
    return open_session(plan(), base_url=server.url, spec_base_urls=nobody, **options)
