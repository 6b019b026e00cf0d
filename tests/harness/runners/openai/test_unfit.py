"""A server that contradicts its arm is refused before an hour is spent on it."""

from typing import Any

import pytest

from harness.runners.base import Failure
from harness.runners.openai.models import Served
from harness.runners.openai.session import is_same_model
from tests.harness.runners.openai.fake_answers import DRAFT, MODEL
from tests.harness.runners.openai.fake_server import serving
from tests.harness.runners.openai.sessions import open_session, plan


def test_a_draft_that_lm_studio_does_not_have_is_named() -> None:
    with serving(style="lm-studio") as one:
        session = open_session(plan(), base_url=one.url, spec_base_urls=(one.url,), model=MODEL)

        session.prepare("baseline")
        failure = session.prepare("draft-model-n3")

    assert isinstance(failure, Failure)
    assert f"offers no model D; it has {MODEL}, {DRAFT}" in failure.detail


def test_the_baselines_own_server_is_none_that_speculates() -> None:
    with serving() as one:
        session = open_session(plan(), base_url=one.url, spec_base_urls=(one.url,))

        session.prepare("baseline")
        failure = session.prepare("draft-model-n3")

    assert isinstance(failure, Failure)
    assert "this is the baseline's server" in failure.detail


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"version": "0.31.0"}, "this server is vLLM 0.31.0, the baseline's is vLLM 0.32.0+cpu"),
        ({"style": "sglang"}, "this server is SGLang 0.5.21, the baseline's is vLLM"),
        ({"models": ("Other",)}, f"this server offers Other, the baseline's {MODEL}; start both"),
    ],
)
def test_what_is_compared_is_one_model_on_one_engine(spec: dict[str, Any], said: str) -> None:
    with serving() as base, serving(depth=3, **spec) as other:
        session = open_session(plan(), base_url=base.url, spec_base_urls=(other.url,))
        session.prepare("baseline")

        failure = session.prepare("draft-model-n3")

    assert isinstance(failure, Failure)
    assert failure.reason == "other"
    assert said in failure.detail


def test_two_names_for_one_source_are_one_model() -> None:
    one = Served(id="a", root="/models/x")

    assert is_same_model(one, Served(id="b", root="/models/x"))
    assert is_same_model(Served(id="a", file_bytes=7), Served(id="b", file_bytes=7))
    assert not is_same_model(one, Served(id="b"))


def test_a_baseline_that_drafts_is_refused() -> None:
    with serving(depth=3) as base, serving(depth=3) as other:
        session = open_session(plan(), base_url=base.url, spec_base_urls=(other.url,))

        failure = session.prepare("baseline")

    assert isinstance(failure, Failure)
    assert "the baseline's server drafted" in failure.detail
    assert "started without speculation" in failure.detail


def test_a_depth_that_the_server_contradicts_is_refused() -> None:
    with serving() as base, serving(depth=5) as other:
        session = open_session(plan(), base_url=base.url, spec_base_urls=(other.url,))

        failure = session.prepare("draft-model-n3")

    assert isinstance(failure, Failure)
    assert "drafts up to 5 tokens, the method says n_max=3" in failure.detail
