"""Each engine is measured by the counters that it states; the others stay unknown."""

from dataclasses import replace

import pytest

from harness.errors import MachineError
from harness.models.model_file import ModelFile
from harness.runners.base import Failure, Generation, Totals
from harness.runners.http.counted_rounds import totals
from schemas.submission import Model
from tests.harness.openai.fake_answers import DRAFT, MODEL, PROMPT_TOKENS, answer
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import LIMIT, answered, on_fakes, open_session, plan, request

TEXT = "Write a loop."
MADE = answer(TEXT, LIMIT, 3)
ROUNDS = len(MADE.accepted)
ACCEPTED = LIMIT - 1 - ROUNDS


def test_each_arm_gets_the_same_text_with_the_token_count_of_its_server() -> None:
    deep = plan(texts=("Write a loop.",))
    deep = replace(deep, settings=replace(deep.settings, context_depth_tokens=400))
    with serving(style="ollama") as base, serving(style="ollama", depth=3) as other:
        session = open_session(deep, base_url=base.url, spec_base_urls=(other.url,))
        for arm in ("baseline", "draft-model-n3"):
            assert not isinstance(session.prepare(arm), Failure)
        plain = session.generate(request("baseline"))
        drafting = session.generate(request())

    assert isinstance(plain, Generation)
    assert isinstance(drafting, Generation)
    assert 392 <= plain.prompt_tokens == drafting.prompt_tokens <= 400
    # None of the requests that count tokens was far beyond the depth.
    sizes = [len(body["messages"][0]["content"].split()) for body in base.state.bodies]
    assert max(sizes) < 600


def test_vllm_is_counted_by_its_answers_and_compared_by_ids() -> None:
    with on_fakes() as (session, _, _):
        generation, sums = answered(session)

    assert generation.tokens == MADE.ids
    assert generation.prompt_tokens == PROMPT_TOKENS
    assert generation.prompt_sha256 is not None
    assert (sums.rounds, sums.drafted, sums.accepted) == (ROUNDS, 3 * ROUNDS, ACCEPTED)
    assert sums.accepted_histogram is not None
    assert sum(sums.accepted_histogram) == ROUNDS
    assert (sums.metrics_drafted, sums.metrics_accepted) == (None, None)
    assert 0 < generation.decode_ms < generation.wall_ms
    assert generation.ttft_ms is not None
    assert generation.ttft_ms + generation.decode_ms == pytest.approx(generation.wall_ms)


def test_a_metrics_page_that_disagrees_with_the_answers_is_recorded_separately() -> None:
    with on_fakes(miscount=2) as (session, _, _):
        _, sums = answered(session)

    assert (sums.drafted, sums.accepted) == (3 * ROUNDS, ACCEPTED)
    assert sums.metrics_drafted == 3 * ROUNDS + 2
    assert sums.metrics_accepted == ACCEPTED  # what no longer fitted is taken off there, too


def test_without_per_request_metrics_the_page_counts() -> None:
    with on_fakes(per_request=False) as (session, _, _):
        _, sums = answered(session)

    assert (sums.rounds, sums.drafted, sums.accepted) == (ROUNDS, 3 * ROUNDS, ACCEPTED)
    assert sums.metrics_drafted is None


def test_a_vllm_whose_page_has_no_counters_is_known_to_draft_nothing() -> None:
    with on_fakes() as (session, _, _):
        _, sums = answered(session, "baseline")

    assert (sums.rounds, sums.drafted, sums.accepted) == (LIMIT - 1, 0, 0)


@pytest.mark.parametrize("style", ["sglang", "old-sglang", "lm-studio", "llama-server"])
def test_other_engines_are_counted_under_their_own_names(style: str) -> None:
    drafts = (ModelFile(path=None, model=Model(id="draft", name=DRAFT, quantisation="Q4_0")),)
    made = replace(plan(), drafts=drafts)
    with serving(style=style) as base, serving(style=style, depth=3) as other:
        session = open_session(made, base_url=base.url, spec_base_urls=(other.url,), model=MODEL)
        prepared = [session.prepare(arm.id) for arm in made.arms]
        generation, sums = answered(session)

    assert not [each for each in prepared if isinstance(each, Failure)]
    assert (sums.drafted, sums.accepted, sums.rounds) == (3 * ROUNDS, ACCEPTED, ROUNDS)
    assert generation.tokens is None
    assert generation.output_tokens == LIMIT


@pytest.mark.parametrize("style", ["ollama", "plain"])
def test_counters_that_an_engine_lacks_are_unknown_and_not_zero(style: str) -> None:
    with on_fakes(style=style) as (session, _, _):
        for arm in ("baseline", "draft-model-n3"):
            generation, sums = answered(session, arm)

            assert sums == Totals(decode_ms=generation.decode_ms)
            assert generation.output_tokens == LIMIT
            assert generation.tokens is None


def test_the_server_clock_is_used_if_every_arm_has_it() -> None:
    with on_fakes(style="llama-server") as (session, _, other):
        generation, sums = answered(session)

    assert sums.decode_ms == other.state.stated_ms
    assert generation.prompt_ms == 0.25
    assert generation.wall_ms > sums.decode_ms


def test_margins_of_the_baseline_come_from_a_second_answer() -> None:
    with on_fakes() as (session, base, _):
        first, _ = answered(session, "baseline")
        again = session.generate(request("baseline", block=1))
        untimed = [body for body in base.state.bodies if not body.get("stream")]

    assert first.margins == (2.25,) * LIMIT
    assert isinstance(again, Generation)
    assert again.margins is None
    assert len(untimed) == 1


def test_every_request_is_greedy_and_kept_out_of_the_prompt_cache() -> None:
    with on_fakes() as (session, _, other):
        answered(session)
        answered(session)
        bodies = other.state.bodies

    assert {body["temperature"] for body in bodies} == {0}
    assert {body["max_tokens"] for body in bodies[1:]} == {LIMIT}
    assert len({body["cache_salt"] for body in bodies}) == len(bodies) == 3


def test_a_conversation_is_sent_turn_by_turn() -> None:
    talk = plan()
    said = "Hi.\n<|assistant|>\nYes?\n<|user|>\nGo on."
    prompts = tuple(replace(each, text=said) for each in talk.suite.prompts)
    talk = replace(talk, suite=replace(talk.suite, prompts=prompts))
    with serving() as base, serving(depth=3) as other:
        session = open_session(talk, base_url=base.url, spec_base_urls=(other.url,))
        session.generate(request("baseline"))

    assert base.state.bodies[-1]["messages"] == [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Go on."},
    ]


def test_an_engine_gets_no_field_that_it_does_not_know() -> None:
    with on_fakes(style="plain") as (session, _, other):
        answered(session)

    assert set(other.state.bodies[-1]) == {
        "model", "messages", "temperature", "max_tokens", "stream", "stream_options"
    }  # fmt: skip


def test_lm_studio_gets_the_draft_only_in_arms_that_speculate() -> None:
    drafts = (ModelFile(path=None, model=Model(id="draft", name=DRAFT, quantisation="Q4_0")),)
    made = replace(plan(), drafts=drafts)
    with serving(style="lm-studio") as one:
        session = open_session(made, base_url=one.url, spec_base_urls=(one.url,), model=MODEL)
        session.prepare("baseline")
        session.prepare("draft-model-n3")

    assert [body.get("draft_model") for body in one.state.bodies] == [None, DRAFT]


@pytest.mark.parametrize("both", [True, False])
def test_two_clocks_are_never_compared(*, both: bool) -> None:
    with on_fakes(spec={"times": True}, times=both) as (session, _, other):
        generation, sums = answered(session)

    assert generation.ttft_ms is not None
    assert generation.wall_ms - generation.ttft_ms == pytest.approx(sums.decode_ms)
    assert (sums.decode_ms == other.state.stated_ms) == both


def test_a_missing_baseline_server_ends_the_run_in_one_line() -> None:
    session = open_session(
        plan(), base_url="http://127.0.0.1:9", spec_base_urls=("http://127.0.0.1:10",)
    )

    with pytest.raises(MachineError, match=r"nothing listens at http://127\.0\.0\.1:9; start"):
        session.report()


def test_the_made_up_answers_obey_the_formats_counting() -> None:
    # The stand-in and this test count alike: the first token, rounds, accepted tokens.
    assert LIMIT == 1 + ROUNDS + ACCEPTED
    assert sum(MADE.accepted) >= ACCEPTED
    assert totals(decode_ms=1.0, output_tokens=LIMIT, counted=None).rounds is None
