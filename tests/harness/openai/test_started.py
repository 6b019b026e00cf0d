"""A server started by a command is fresh for each arm and block, and leaves nothing behind."""

import sys

import pytest

from harness.errors import BadInputError
from harness.runners.base import Failure, Generation, Totals
from tests.harness.openai.sessions import open_session, plan, refused, request
from tests.processes import children, command_line

FAKE = "tests.harness.openai.fake_server"


def command(*options: str) -> str:
    """The command line of a stand-in."""
    return " ".join((sys.executable, "-m", FAKE, "--port", "{port}", *options))


def running(text: str = FAKE) -> list[int]:
    """Child processes with this text in their command line."""
    return [pid for pid in children() if text in command_line(pid)]


def test_each_arm_and_block_has_its_own_server() -> None:
    session = open_session(
        plan(), server_command=command(), spec_server_commands=(command("--depth", "3"),)
    )
    session.report()
    seen = [running()]
    baseline = session.prepare("baseline")
    seen.append(running())  # the server that reported stays
    first = session.generate(request("baseline"))
    seen.append(running())  # so it does for the first block
    second = session.generate(request("baseline", block=1))
    seen.append(running())
    speculating = session.generate(request("draft-model-n3", block=1))
    seen.append(running())
    session.close()

    assert not isinstance(baseline, Failure)
    assert baseline.load_s is not None
    assert baseline.load_s > 0
    assert baseline.argv is not None
    assert baseline.argv == ("-m", "…", "--port", "{port}")
    for result in (first, second, speculating):
        assert isinstance(result, Generation), result
    assert isinstance(speculating, Generation)
    assert isinstance(speculating.rounds, Totals)
    assert speculating.rounds.drafted
    assert seen[0] == seen[1] == seen[2]
    assert {len(pids) for pids in seen} == {1}
    assert len({pid for pids in seen for pid in pids}) == 3
    assert running() == []


def test_a_server_that_ends_at_once_is_quoted() -> None:
    session = open_session(
        plan(), server_command=command("--exit"), spec_server_commands=(command(),)
    )

    failure = refused(session, "baseline")

    assert failure.reason == "out-of-memory"
    assert "ended with exit code 1: ValueError: CUDA out of memory while loading" in failure.detail


def test_a_missing_program_is_named() -> None:
    session = open_session(
        plan(), server_command="no-such-server --port {port}", spec_server_commands=(command(),)
    )

    failure = session.prepare("baseline")

    assert failure == Failure(
        reason="load-failed", detail="there is no program no-such-server on this machine"
    )


def test_a_server_that_is_not_ready_in_time_is_ended() -> None:
    slow = f"{sys.executable} -c 'import time; time.sleep(600)' {{port}}"
    session = open_session(
        plan(), server_command=slow, spec_server_commands=(command(),), answer_limit_s=0.3
    )

    failure = refused(session, "baseline")

    assert failure.reason == "timed-out"
    assert "raise --timeout" in failure.detail
    assert running("time.sleep") == []


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
