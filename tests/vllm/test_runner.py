"""Does the runner read a real vLLM right? One request in each mode, counted in three ways."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.runners.base import Failure, Generation, Request, Totals
from schemas.submission import DraftModel, PromptLookup
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign
from tests.harness.runners.openai.sessions import open_session
from tests.vllm.capture import REPEATING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.runners.openai.session import OpenAiSession

LIMIT = 32
# The same sizes as in the servers' command lines.
NGRAM_ARM = replace(LOOKUP, id="ngram", method=PromptLookup(n_max=5, ngram_min=2, ngram_max=4))
DRAFT_ARM = replace(DRAFT, id="draft_model", method=DraftModel(draft="draft", n_max=3))


@pytest.fixture(scope="module")
def session(servers: dict[str, str]) -> Iterator[OpenAiSession]:
    """A session on the three servers, with every arm prepared."""
    made = campaign(
        arms=(BASELINE, NGRAM_ARM, DRAFT_ARM), texts=(REPEATING,), max_output_tokens=LIMIT
    )
    opened = open_session(
        replace(made, interleaved="block", engine="openai"),
        base_url=servers["none"],
        spec_base_urls=(servers["ngram"], servers["draft_model"]),
    )
    for arm in made.arms:
        prepared = opened.prepare(arm.id)
        assert not isinstance(prepared, Failure), prepared
    yield opened
    opened.close()


def generated(session: OpenAiSession, arm: str) -> tuple[Generation, Totals]:
    request = Request(arm=arm, prompt="code-1", max_output_tokens=LIMIT)
    generation = session.generate(request)
    assert isinstance(generation, Generation), generation
    assert isinstance(generation.rounds, Totals)
    return generation, generation.rounds


def test_the_engine_says_who_it_is(session: OpenAiSession) -> None:
    report = session.report()

    assert (report.engine.name, report.engine.version) == ("vLLM", "0.32.0")
    assert report.settings.context_tokens == 2048


def test_a_baseline_takes_one_round_for_each_token_and_knows_its_margins(
    session: OpenAiSession,
) -> None:
    generation, sums = generated(session, "baseline")

    assert generation.tokens is not None
    assert len(generation.tokens) == LIMIT
    assert (sums.rounds, sums.drafted, sums.accepted) == (LIMIT - 1, 0, 0)
    assert generation.margins is not None
    assert len(generation.margins) == LIMIT
    assert min(generation.margins) >= 0


@pytest.mark.parametrize("arm", ["ngram", "draft_model"])
def test_answer_page_and_chunks_agree_on_the_rounds(session: OpenAiSession, arm: str) -> None:
    plain, _ = generated(session, "baseline")
    generation, sums = generated(session, arm)

    assert generation.tokens is not None
    assert len(generation.tokens) == LIMIT
    assert generation.prompt_sha256 == plain.prompt_sha256
    assert sums.rounds is not None
    assert sums.drafted is not None
    assert sums.accepted is not None
    assert 0 < sums.accepted < sums.drafted
    assert 1 + sums.accepted + sums.rounds == LIMIT
    # A page that counted otherwise would stand here.
    assert (sums.metrics_drafted, sums.metrics_accepted) == (None, None)
    assert sums.accepted_histogram is not None
    assert sum(sums.accepted_histogram) == sums.rounds
    lengths = enumerate(sums.accepted_histogram)
    assert sum(length * rounds for length, rounds in lengths) == sums.accepted
    assert 0 < generation.decode_ms < generation.wall_ms
