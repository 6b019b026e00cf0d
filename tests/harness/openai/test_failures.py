"""A failure is a value with a reason and a remedy, never a traceback."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from harness.openai.endpoints import parse
from harness.openai.listed_models import offer
from harness.runners.base import Failure, Generation
from harness.runners.http.client import Client, ServerRefusedError, one_line
from harness.runners.http.session import failure_of
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import baseline_alone, on_fakes, refused, request


@pytest.mark.parametrize(
    ("fault", "reason", "said"),
    [
        ("cut", "bad-answer", "the stream was cut off before its end"),
        ("malformed", "bad-answer", "a line of the stream is not JSON: {oops"),
        ("no-usage", "bad-answer", "the answer has no usage"),
        ("in-one-piece", "bad-answer", "the server must stream"),
        ("overruns", "bad-answer", "counted 25 tokens, but 24 were requested"),
        (
            "limited",
            "bad-answer",
            "HTTP 429: Rate limit reached; the server limits the rate of requests",
        ),
        ("broken", "out-of-memory", "HTTP 500: CUDA out of memory"),
        ("told-off", "context-too-small", "maximum context length is 64 tokens"),
    ],
)
def test_a_server_that_fails_gives_a_reason(fault: str, reason: str, said: str) -> None:
    with serving(style="plain", fault=fault) as server:
        session = baseline_alone(server)

        failure = refused(session, "baseline")

    assert failure.reason == reason
    assert said in failure.detail
    assert "\n" not in failure.detail


def test_a_web_server_is_not_taken_for_a_model_server() -> None:
    said = one_line("\n<!DOCTYPE HTML>\n<html lang='en'><p>Error code: 404</p></html>")
    there = Client(address=parse("http://127.0.0.1:8000", option="--base-url"), limit_s=1)

    failure = failure_of(ServerRefusedError(404, said), there, offers=offer(()))

    assert failure.detail == (
        "HTTP 404: a web page, not a model server's answer; "
        "correct the URL, or check which server listens there"
    )


def test_a_server_that_does_not_answer_in_time_is_late() -> None:
    with serving(fault="silent") as server:
        session = baseline_alone(server, answer_limit_s=0.2)

        failure = refused(session, "baseline")

    assert failure.reason == "timed-out"
    assert "raise --timeout" in failure.detail


def test_a_trial_that_timed_out_says_how_long_it_ran() -> None:
    with serving(style="plain") as server:
        session = baseline_alone(server, answer_limit_s=0.5)
        session.prepare("baseline")
        server.state.behaviour = replace(server.state.behaviour, fault="silent")

        failure = session.generate(request("baseline"))

    assert isinstance(failure, Failure)
    assert (failure.reason, failure.waited_ms) == ("timed-out", 500.0)


def test_a_server_that_goes_away_fails_its_trials() -> None:
    with on_fakes() as (session, _, other):
        other.shutdown()
        other.server_close()

        failure = session.generate(request())

    assert isinstance(failure, Failure)
    assert failure.reason == "crashed"
    assert failure.detail.startswith("nothing listens at http://127.0.0.1:")


@pytest.mark.parametrize(
    ("back", "comes"),
    [({}, Generation), ({"version": "0.33.0"}, "was restarted with a different engine or model")],
)
def test_a_server_that_is_restarted_is_awaited(back: dict[str, str], comes: type | str) -> None:
    with serving(style="vllm") as first:
        session = baseline_alone(first)
        session.prepare("baseline")
    lost = session.generate(request("baseline"))
    port = first.server_address[1]

    with ThreadPoolExecutor() as pool:
        answer = pool.submit(session.generate, request("baseline", "code-2"))
        time.sleep(0.3)
        with serving(port, style="vllm", **back):
            found = answer.result()

    assert isinstance(lost, Failure)
    if isinstance(comes, str):
        assert isinstance(found, Failure)
        assert comes in found.detail
    else:
        assert isinstance(found, comes)


@pytest.mark.parametrize(
    ("models", "asked", "said"),
    [
        (("one", "two"), "onee", "does not offer 'onee'. Did you mean 'one'?"),
        (("one", "two"), None, "offers 2 models (one, two); name the model to measure with"),
    ],
)
def test_a_model_that_is_not_served_is_named(
    models: tuple[str, ...], asked: str | None, said: str
) -> None:
    with serving(models=models) as server:
        session = baseline_alone(server, model=asked)

        failure = refused(session, "baseline")

    assert said in failure.detail


def test_ids_whose_number_does_not_match_are_not_compared() -> None:
    with on_fakes(fault="miscounts") as (session, _, _):
        result = session.generate(request())

    assert not isinstance(result, Failure)
    assert result.tokens is None
    assert result.output_tokens == 23
