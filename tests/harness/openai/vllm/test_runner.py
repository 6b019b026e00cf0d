"""On a real vLLM the runner keeps its contract, and three ways of counting agree with vLLM's."""

import shlex
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from harness.openai.session import OpenAiSession
from harness.runners import CONNECT
from harness.runners.base import Generation, Totals, TrialRequest
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign
from tests.harness.openai.sessions import open_session
from tests.harness.runners import contract
from tools.vllm.environment import BUILD, started, variables

LIMIT = 32
# An answer that repeats its prompt, so that n-grams are found; and one that repeats nothing.
REPEATING = (
    "Continue this list without change: 1. red 2. green 3. blue 4. red 5. green 6. blue 7. red"
)
FRESH = "Repeat this list: red, green, blue, red, green, blue, red, green."
# The same sizes as in the servers' command lines.
NGRAM_ARM = replace(
    LOOKUP, id="ngram", method=Method(type="prompt-lookup", n_max=5, ngram_min=2, ngram_max=4)
)
DRAFT_ARM = replace(
    DRAFT, id="draft_model", method=Method(type="draft-model", draft="draft", n_max=3)
)
PLAN = replace(
    campaign(
        arms=(BASELINE, NGRAM_ARM, DRAFT_ARM), texts=(REPEATING, FRESH), max_output_tokens=LIMIT
    ),
    interleaved="block",
    engine="openai",
)


@pytest.fixture(scope="module")
def session(servers: dict[str, str]) -> Iterator[OpenAiSession]:
    """A session on the three servers, with every arm prepared."""
    prepared = opened(servers)
    contract.check_prepared(prepared, PLAN)
    yield prepared
    prepared.close()


def opened(servers: dict[str, str]) -> OpenAiSession:
    return open_session(
        PLAN,
        base_url=servers["none"],
        spec_base_urls=(servers["ngram"], servers["draft_model"]),
    )


def generated(session: OpenAiSession, arm: str) -> tuple[Generation, Totals]:
    request = TrialRequest(arm=arm, prompt="code-1", max_output_tokens=LIMIT)
    generation = session.generate(request)
    assert isinstance(generation, Generation), generation
    assert isinstance(generation.rounds, Totals)
    return generation, generation.rounds


def test_the_engine_says_who_it_is(session: OpenAiSession) -> None:
    report = session.report()

    contract.check_report(report, PLAN)
    assert (report.engine.name, report.engine.version) == ("vLLM", "0.32.0")
    assert report.settings.context_tokens == 2048


def test_every_arm_answers_every_prompt_and_its_rounds_add_up(session: OpenAiSession) -> None:
    contract.check_generations(session, PLAN)


def test_the_same_prompt_has_the_same_answer(session: OpenAiSession) -> None:
    contract.check_repeats(session, PLAN)


def test_several_requests_are_answered_once_and_never_too_many_at_a_time(
    session: OpenAiSession,
) -> None:
    contract.check_together(session, PLAN, 2)


def test_a_vllm_that_is_killed_is_a_value_and_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables(BUILD).items():
        monkeypatch.setenv(name, value)
    before = contract.children()
    plain, ngram = (shlex.join(started(mode, build=BUILD)) for mode in ("none", "ngram"))
    plan = replace(PLAN, arms=(BASELINE, NGRAM_ARM))
    options = ConnectionOptions(server_command=plain, spec_server_commands=(ngram,), backend="cpu")
    runner = CONNECT["openai"](options).open

    contract.check_failure_and_end(runner, plan, lambda: kill_those_since(before))


def kill_those_since(before: set[int]) -> None:
    """Kill the child processes that were started since."""
    for pid in contract.children() - before:
        psutil.Process(pid).kill()


def test_a_baseline_takes_one_round_for_each_token_and_knows_its_margins(
    servers: dict[str, str],
) -> None:
    # Margins are requested once per prompt, so this needs a new session.
    fresh = opened(servers)
    generation, sums = generated(fresh, "baseline")
    fresh.close()

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
    # A disagreeing metrics page would be recorded here.
    assert (sums.metrics_drafted, sums.metrics_accepted) == (None, None)
    assert sums.accepted_histogram is not None
    assert sum(sums.accepted_histogram) == sums.rounds
    lengths = enumerate(sums.accepted_histogram)
    assert sum(length * rounds for length, rounds in lengths) == sums.accepted
    assert 0 < generation.decode_ms < generation.wall_ms
