"""Open sessions of the runner `openai` on loopback stand-ins."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from harness.campaign.model import Campaign
from harness.models.model_file import ModelFile
from harness.openai import connect
from harness.openai.session import OpenAiSession
from harness.runners.base import Failure, Generation, Totals, TrialRequest
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from schemas.submission import Model
from tests.harness import campaigns
from tests.harness.openai.fake_answers import DRAFT, MODEL
from tests.harness.openai.fake_server import FakeServer, serving

FAKE = "tests.harness.openai.fake_server"
LIMIT = 24
SPECULATION = replace(
    campaigns.DRAFT,
    id="draft-model-n3",
    method=Method(type="draft-model", draft="draft", n_max=3),
)
DRAFTS = (ModelFile(path=None, model=Model(id="draft", name=DRAFT, quantisation="Q4_0")),)


def plan(**options: Any) -> Campaign:  # noqa: ANN401 - options of `campaign`
    """A campaign of a baseline and a draft model that drafts three tokens."""
    arms = (campaigns.BASELINE, SPECULATION)
    made = campaigns.campaign(arms=arms, max_output_tokens=LIMIT, **options)
    return replace(made, interleaved="block", engine="openai", drafts=DRAFTS)


def command(*options: str) -> str:
    """The command line of a stand-in."""
    return " ".join((sys.executable, "-m", FAKE, "--port", "{port}", *options))


def open_session(made: Campaign, **options: Any) -> OpenAiSession:  # noqa: ANN401 - fields of `ConnectionOptions`
    """A session on the servers that `options` names; they compute on the processor."""
    options.setdefault("backend", "cpu")
    return cast("OpenAiSession", connect(ConnectionOptions(**options)).open(made))


@contextmanager
def two(
    spec: dict[str, Any] | None = None,
    **behaviour: Any,  # noqa: ANN401 - fields of `Behaviour`
) -> Iterator[tuple[FakeServer, FakeServer]]:
    """A plain and a drafting stand-in of one style."""
    drafting = {**behaviour, "depth": 3, **(spec or {})}
    with serving(**behaviour) as base, serving(**drafting) as other:
        yield base, other


@contextmanager
def on_fakes(
    spec: dict[str, Any] | None = None,
    made: Campaign | None = None,
    **behaviour: Any,  # noqa: ANN401 - fields of `Behaviour`
) -> Iterator[tuple[OpenAiSession, FakeServer, FakeServer]]:
    """A session with a plain and a drafting stand-in, both prepared."""
    with two(spec, **behaviour) as (base, other):
        urls: dict[str, Any] = {"base_url": base.url, "spec_base_urls": (other.url,)}
        session = open_session(made or plan(), model=MODEL, **urls)
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
