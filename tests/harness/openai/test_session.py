"""Each engine is measured by the counters and times that it states; all else stays unknown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BadInputError, MachineError
from harness.openai import connect
from harness.openai.endpoints import api_key
from harness.runners.base import Failure, Generation, Totals
from harness.runners.options import ConnectionOptions
from schemas.codec import encode
from tests.harness.campaigns import run
from tests.harness.openai.fake_answers import DRAFT, MODEL, PROMPT_TOKENS, answer
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import (
    LIMIT,
    answered,
    on_fakes,
    open_session,
    plan,
    request,
    two,
)

KEY = "sk-5ecret-k3y"
TEXT = "Write a loop."
MADE = answer(TEXT, LIMIT, 3)
ROUNDS = len(MADE.accepted)
ACCEPTED = LIMIT - 1 - ROUNDS
DRAFTED = 3 * ROUNDS
COUNTED = Totals(decode_ms=0.0, rounds=ROUNDS, drafted=DRAFTED, accepted=ACCEPTED)
UNKNOWN = Totals(decode_ms=0.0)


@pytest.mark.parametrize(
    ("behaviour", "arm", "counted"),
    [
        ({}, "draft-model-n3", COUNTED),
        # A page that disagrees is recorded separately; what no longer fits is taken off there, too.
        (
            {"miscount": 2},
            "draft-model-n3",
            replace(COUNTED, metrics_drafted=DRAFTED + 2, metrics_accepted=ACCEPTED),
        ),
        ({"per_request": False}, "draft-model-n3", COUNTED),  # by the page
        # A vLLM whose page has no counters drafts nothing.
        ({}, "baseline", replace(COUNTED, rounds=LIMIT - 1, drafted=0, accepted=0)),
        ({"style": "sglang"}, "draft-model-n3", COUNTED),
        ({"style": "lm-studio"}, "draft-model-n3", COUNTED),
        # Its page also counts accepted tokens beyond the limit, its answers do not.
        (
            {"style": "llama-server"},
            "draft-model-n3",
            replace(COUNTED, metrics_drafted=DRAFTED, metrics_accepted=sum(MADE.accepted)),
        ),
        *(
            ({"style": style}, arm, UNKNOWN)  # and not zero
            for style in ("ollama", "plain")
            for arm in ("baseline", "draft-model-n3")
        ),
    ],
)
def test_drafts_are_counted_by_the_first_source_that_a_server_has(
    behaviour: dict[str, Any], arm: str, counted: Totals
) -> None:
    with on_fakes(**behaviour) as (session, _, _):
        generation, sums = answered(session, arm)

    histogram = sums.accepted_histogram
    bare = replace(sums, decode_ms=0.0, accepted_histogram=None, drafted_histogram=None)
    assert bare == counted
    assert histogram is None or sum(histogram) == sums.rounds
    assert generation.output_tokens == LIMIT
    assert (generation.tokens is None) == ("style" in behaviour)


def test_a_vllm_is_compared_by_ids_and_timed_by_our_clock() -> None:
    with on_fakes() as (session, _, _):
        generation, sums = answered(session)

    assert generation.tokens == MADE.ids
    assert generation.prompt_tokens == PROMPT_TOKENS
    assert generation.prompt_sha256 is not None
    assert sums.accepted_histogram is not None
    assert 0 < generation.decode_ms < generation.wall_ms


def test_each_arm_gets_the_same_text_with_the_token_count_of_its_server() -> None:
    deep = plan(texts=(TEXT,))
    deep = replace(deep, settings=replace(deep.settings, context_depth_tokens=400))
    with on_fakes(made=deep, style="ollama") as (session, base, _):
        counted = [
            answered(session, arm)[0].prompt_tokens for arm in ("baseline", "draft-model-n3")
        ]

    assert 392 <= counted[0] == counted[1] <= 400
    # None of the requests that count tokens was far beyond the depth.
    sizes = [len(body["messages"][0]["content"].split()) for body in base.state.bodies]
    assert max(sizes) < 600


@pytest.mark.parametrize(
    ("both", "spec", "is_used"),
    [
        ({"style": "llama-server"}, {}, True),
        ({"times": True}, {}, True),
        ({"times": False}, {"times": True}, False),  # two clocks are never compared
    ],
)
def test_the_server_clock_is_used_if_every_arm_has_it(
    both: dict[str, Any], spec: dict[str, Any], *, is_used: bool
) -> None:
    with on_fakes(spec=spec, **both) as (session, _, other):
        generation, sums = answered(session)

    assert (sums.decode_ms == other.state.stated_ms) == is_used
    assert generation.ttft_ms is not None
    assert generation.wall_ms - generation.ttft_ms == pytest.approx(sums.decode_ms)
    assert generation.prompt_ms == (0.25 if "style" in both else None)


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


def test_an_engine_gets_the_turns_and_no_field_that_it_does_not_know() -> None:
    said = "Hi.\n<|assistant|>\nYes?\n<|user|>\nGo on."
    with on_fakes(made=plan(texts=(said,)), style="plain") as (session, _, other):
        answered(session)

    assert set(other.state.bodies[-1]) == {
        "model", "messages", "temperature", "max_tokens", "stream", "stream_options"
    }  # fmt: skip
    assert other.state.bodies[-1]["messages"] == [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Go on."},
    ]


@pytest.mark.parametrize(
    ("behaviour", "options", "field", "values"),
    [
        ({"style": "lm-studio"}, {"model": MODEL}, "draft_model", [None, DRAFT]),
        (
            {"style": "ollama", "models": ("plain", "drafts")},
            {"model": "plain", "spec_models": ("drafts",)},
            "model",
            ["plain", "drafts"],
        ),
    ],
)
def test_requests_to_one_server_say_what_drafts(
    behaviour: dict[str, Any], options: dict[str, Any], field: str, values: list[str | None]
) -> None:
    with serving(shows={"plain": {}, "drafts": {}}, **behaviour) as one:
        urls = {} if "spec_models" in options else {"spec_base_urls": (one.url,)}
        session = open_session(plan(), base_url=one.url, **urls, **options)
        for arm in ("baseline", "draft-model-n3"):
            session.prepare(arm)

    assert [body.get(field) for body in one.state.bodies] == values


def test_a_trial_that_timed_out_says_how_long_it_ran() -> None:
    with serving(style="plain") as server:
        urls = {"base_url": server.url, "spec_base_urls": ("http://127.0.0.1:9",)}
        session = open_session(plan(), answer_limit_s=0.5, **urls)
        session.prepare("baseline")
        server.state.behaviour = replace(server.state.behaviour, fault="silent")

        failure = session.generate(request("baseline"))

    assert isinstance(failure, Failure)
    assert (failure.reason, failure.waited_ms) == ("timed-out", 500.0)


def test_only_our_own_variable_is_read_and_an_invalid_key_is_not_shown() -> None:
    assert api_key({"DRAFTMAP_API_KEY": "ours\n", "OPENAI_API_KEY": "another"}) == "ours"
    assert api_key({"DRAFTMAP_API_KEY": " ", "OPENAI_API_KEY": "another"}) is None
    assert api_key({}) is None
    with pytest.raises(BadInputError, match="DRAFTMAP_API_KEY") as raised:
        api_key({"DRAFTMAP_API_KEY": "one\r\nHost: other"})
    assert "Host" not in str(raised.value)


def test_missing_and_wrong_keys_have_different_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-service")
    monkeypatch.delenv("DRAFTMAP_API_KEY", raising=False)
    with serving(key=KEY) as server:
        urls = {"base_url": server.url, "spec_base_urls": (server.url,)}
        with pytest.raises(MachineError, match="requires a key: set DRAFTMAP_API_KEY"):
            open_session(plan(), **urls).report()
        assert not any("Authorization" in each for each in server.state.headers)
        monkeypatch.setenv("DRAFTMAP_API_KEY", "another-k3y")
        with pytest.raises(MachineError, match="refused the key in DRAFTMAP_API_KEY") as raised:
            open_session(plan(), **urls).report()

    assert "another-k3y" not in str(raised.value)  # the server repeats it in its message


def test_the_key_reaches_the_server_and_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAFTMAP_API_KEY", KEY)
    seen: list[str] = []
    work_file = tmp_path / "work.jsonl"
    with two(key=KEY) as (base, other):
        options = ConnectionOptions(base_url=base.url, spec_base_urls=(other.url,))
        runner = connect(options).open
        submission = run(
            plan(blocks=1), work_file, runner=runner, observe=lambda each: seen.append(repr(each))
        )

    assert base.state.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert {trial.outcome for trial in submission.trials} == {"ok"}
    assert KEY not in "".join(
        (work_file.read_text(), repr(encode(submission)), *seen, repr(options))
    )
