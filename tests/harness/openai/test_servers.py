"""Servers that cannot be measured as asked are refused before the campaign, in one line.

Each row is one or two servers, their behaviour, and the arm, reason and message of the failure.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from harness.errors import BadInputError
from harness.openai.listed_models import Served, offer
from harness.openai.session import OpenAiSession
from harness.runners import failures
from harness.runners.base import Failure, Generation, PreparedArm, Totals
from harness.runners.http.client import Client, ServerAddress, ServerRefusedError, one_line
from harness.runners.http.session import failure_of
from schemas.submission import Reason
from tests.harness.openai.fake_answers import DRAFT, MODEL
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import FAKE, command, open_session, plan, request
from tests.harness.openai.test_answer import VLLM
from tests.processes import children, command_line

CLIENT = Client(address=ServerAddress(host="127.0.0.1", port=8000), limit_s=1.0)
BASE, SPEC = "baseline", "draft-model-n3"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A plain server and a drafting one, or one server with two models, or servers by commands.

    `said` is in the failure of `arm`; without it, both arms are prepared.
    """

    said: str | None = None
    arm: str = SPEC
    reason: Reason = "other"
    at: Literal["two", "same", "one", "commands"] = "two"
    base: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


@contextmanager
def opened(row: Row) -> Iterator[OpenAiSession]:
    """A session on the servers of a row."""
    with serving(**row.base) as base, serving(**{"depth": 3, **row.spec}) as spec:
        named: dict[str, dict[str, Any]] = {
            "two": {"base_url": base.url, "spec_base_urls": (spec.url,)},
            "same": {"base_url": base.url, "spec_base_urls": (base.url,)},
            "commands": {"spec_server_commands": (command(),)},
        }
        servers = named.get(row.at, {"base_url": base.url})
        session = open_session(plan(), **{**servers, **row.options})
        yield session
        session.close()


def faulty(fault: str, said: str, reason: Reason = "bad-answer", **options: Any) -> Row:  # noqa: ANN401 - of `ConnectionOptions`
    base = {"style": "plain", "fault": fault}
    return Row(said=said, arm=BASE, reason=reason, base=base, options=options)


def ollama(plain: dict[str, Any], drafts: dict[str, Any], said: str | None, arm: str = SPEC) -> Row:
    """An Ollama with a model for each arm; its answers to `/api/show` are given."""
    models = {"plain": plain, "drafts": drafts}
    base = {"style": "ollama", "models": (*models,), "shows": models}
    options = {"model": "plain", "spec_models": ("drafts",)}
    return Row(said=said, arm=arm, at="one", base=base, options=options)


def started(program: str, said: str, reason: Reason, **options: Any) -> Row:  # noqa: ANN401 - of `ConnectionOptions`
    options["server_command"] = program
    return Row(said=said, arm=BASE, reason=reason, at="commands", options=options)


def offering(said: str, *models: str, asked: str | None = None) -> Row:
    options = {"model": asked}
    base = {"models": models}
    return Row(said=said, arm=BASE, reason="load-failed", base=base, options=options)


HEADS = {"parameters": "num_ctx 4096", "model_info": {"qwen35.nextn_predict_layers": 1}}
PLAIN = {**HEADS, "parameters": "num_ctx 4096\ndraft_num_predict 0"}
THREE = {**HEADS, "parameters": "draft_num_predict              3"}
MODELFILE = {"modelfile": "FROM base\nDRAFT small"}
SLEEPER = f"{sys.executable} -c 'import time; time.sleep(600)' {{port}}"

ROWS = {
    "broken JSON": faulty("malformed", "a line of the stream is not JSON: {oops"),
    "one chunk": faulty("in-one-piece", "the server must stream"),
    "too long": faulty("overruns", "counted 25 tokens, but 24 were requested"),
    "rate": faulty("limited", "HTTP 429: Rate limit reached; the server limits the rate of"),
    "memory": faulty("broken", "HTTP 500: CUDA out of memory", "out-of-memory"),
    "context": faulty("told-off", "maximum context length is 64 tokens", "context-too-small"),
    "late": faulty("silent", "raise --timeout", "timed-out", answer_limit_s=0.2),
    "a slip in the name": offering(
        "does not offer 'onee'. Did you mean 'one'?", "one", "two", asked="onee"
    ),
    "no name": offering("offers 2 models (one, two); name the model to measure with", "one", "two"),
    "a missing draft": Row(
        said=f"offers no model {DRAFT}; it has {MODEL}", reason="load-failed", at="same",
        base={"style": "lm-studio", "drafts": ()},
    ),
    "another engine": Row(
        said="this server is SGLang 0.5.21, but the baseline's server is vLLM 0.32.0+cpu",
        spec={"style": "sglang"},
    ),
    "another version": Row(
        said="this server is vLLM 0.31.0, but the baseline's", spec={"version": "0.31.0"}
    ),
    "another model": Row(
        said=f"this server offers Other, but the baseline's server offers {MODEL} (root Other and",
        spec={"models": ("Other",)},
    ),
    "a baseline that drafts": Row(
        said="the baseline's server drafted", arm=BASE, reason="bad-answer", base={"depth": 3}
    ),
    "another depth": Row(
        said="drafts up to 5 tokens, but the method has n_max=3", reason="bad-answer",
        spec={"depth": 5},
    ),
    "an Ollama with two models": ollama(PLAIN, THREE, None),
    "a build that does not tell": ollama({}, {}, None),
    "heads in the baseline": ollama(HEADS, THREE, "plain is the baseline, but may draft", BASE),
    "a draft in it": ollama(MODELFILE, THREE, "plain is the baseline, but may draft", BASE),
    "a depth in it": ollama(THREE, THREE, "plain is the baseline, but drafts up to 3", BASE),
    "drafting off": ollama(PLAIN, PLAIN, "drafts drafts up to 0 tokens, but the method has n_max"),
    "one model for both arms": Row(
        said="For --served-model, use `FROM MODEL` and `PARAMETER draft_num_predict 0`", at="one",
        base={"style": "ollama"}, options={"model": MODEL, "spec_models": (MODEL,)},
    ),
    "a cache": Row(
        said="took 7 tokens of the prompt from its cache, which changes the answers of a run with "
        "a draft; start the server with --prompt-cache-size 0",
        reason="bad-answer", base={"style": "mlx-lm"}, spec={"style": "mlx-lm", "cached": 7},
    ),
    "ended at once": started(
        command("--exit"),
        "ended with exit code 1: ValueError: CUDA out of memory while loading", "out-of-memory",
    ),
    "no program": started(
        "no-such-server --port {port}", "there is no program no-such-server on this machine",
        "load-failed",
    ),
    "never ready": started(SLEEPER, "raise --timeout", "timed-out", answer_limit_s=0.3),
}  # fmt: skip


def first_failure(session: OpenAiSession) -> tuple[str, Failure] | None:
    """The first arm that cannot be prepared, and its failure."""
    for arm in (BASE, SPEC):
        prepared = session.prepare(arm)
        if isinstance(prepared, Failure):
            return arm, prepared
    return None


@pytest.mark.parametrize("name", ROWS)
def test_a_server_is_prepared_or_refused(name: str) -> None:
    row, before = ROWS[name], children()
    with opened(row) as session:
        found = first_failure(session)
        assert children() == before

    if row.said is None or found is None:
        assert (row.said, found) == (None, None)
        return
    arm, failure = found
    assert (arm, failure.reason) == (row.arm, row.reason)
    assert row.said in failure.detail
    assert "\n" not in failure.detail


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "--base-url URL or --server-command"),
        ({"base_url": "http://localhost:1", "server_command": "x {port}"}, "not both"),
        (
            {"server_command": "x {port}", "spec_server_commands": ("x {port}", "y {port}")},
            "1 methods, but 2 --spec-server-command",
        ),
        (
            {"server_command": "x {port}", "spec_server_commands": ("x {port}",)},
            "repeats the baseline's command",
        ),
    ],
)
def test_options_that_do_not_give_two_servers_are_refused(
    options: dict[str, object], why: str
) -> None:
    with pytest.raises(BadInputError) as raised:
        open_session(plan(), **options)

    assert why in str(raised.value)


def running() -> list[int]:
    """Child processes that are stand-ins."""
    return [pid for pid in children() if FAKE in command_line(pid)]


def test_each_arm_and_block_has_its_own_server() -> None:
    session = open_session(
        plan(), server_command=command(), spec_server_commands=(command("--depth", "3"),)
    )
    session.report()
    seen = [running()]
    baseline = session.prepare(BASE)
    seen.append(running())  # the server that reported stays
    first = session.generate(request(BASE))
    seen.append(running())  # so it does for the first block
    second = session.generate(request(BASE, block=1))
    seen.append(running())
    speculating = session.generate(request(block=1))
    seen.append(running())
    session.close()

    assert isinstance(baseline, PreparedArm)
    assert baseline.load_s is not None
    assert baseline.load_s > 0
    assert baseline.argv == ("-m", "…", "--port", "{port}")
    assert isinstance(first, Generation), first
    assert isinstance(second, Generation), second
    assert isinstance(speculating, Generation), speculating
    assert isinstance(speculating.rounds, Totals)
    assert speculating.rounds.drafted
    assert seen[0] == seen[1] == seen[2]
    assert {len(pids) for pids in seen} == {1}
    assert len({pid for pids in seen for pid in pids}) == 3
    assert running() == []


# ---- captured refusals of vLLM 0.32 ------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "status", "reason", "said"),
    [
        ("too_long", 400, "context-too-small", "maximum context length is 2048 tokens"),
        ("unknown_model", 404, "bad-answer", "it offers SmolLM2: choose with --served-model"),
        ("asks_too_much", 400, "bad-answer", "max_tokens=5000 cannot be greater"),
        ("no_path", 404, "bad-answer", "correct the URL"),
    ],
)
def test_a_refusal_by_vllm_becomes_a_reason_with_a_remedy(
    name: str, status: int, reason: str, said: str
) -> None:
    text = (VLLM / "none" / f"error_{name}.json").read_text()
    error = ServerRefusedError(status, one_line(text))

    failure = failure_of(error, CLIENT, offers=offer((Served(id="SmolLM2"),)))

    assert failure.reason == reason
    assert said in failure.detail


def test_a_web_server_is_not_taken_for_a_model_server() -> None:
    page = one_line("\n<!DOCTYPE HTML>\n<html lang='en'><p>Error code: 404</p></html>")

    assert failure_of(ServerRefusedError(404, page), CLIENT, offers=offer(())).detail == (
        "HTTP 404: a web page, not a model server's answer; "
        "correct the URL, or check which server listens there"
    )


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("vocabulary_mismatch", "vocabulary-mismatch", "should have the same vocabulary size"),
        ("too_little_memory", "out-of-memory", "kv cache allocation is less than requested"),
        ("port_taken", "load-failed", "Address already in use"),
        ("no_such_draft", "load-failed", "Invalid repository ID or local directory"),
    ],
)
def test_the_log_of_a_vllm_that_did_not_start_says_why(name: str, reason: str, said: str) -> None:
    text = (VLLM / "start" / f"{name}.log").read_text()

    failure = failures.failure_in_log(text, otherwise="crashed", what="vllm ended with exit code 1")

    assert failure.reason == reason
    assert said in failure.detail
    assert "\n" not in failure.detail
