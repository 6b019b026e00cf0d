"""A server with a draft depth per request is started once, and its arms alternate by prompt."""

import pickle
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from estimates.summary import summarize
from harness.runners.base import Failure, PreparedArm
from schemas.submission import Submission
from tests.harness.openai.deliveries import Delivery
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import open_session, plan, refused
from tests.harness.openai.test_run import METHOD, SMALL, call, measured

# Rounds take long compared with sending a token, as with a real model.
MLX: dict[str, Any] = {
    "style": "mlx-lm",
    "depth": 3,
    "delivery": Delivery(singly=True),
    "round_ms": 6.0,
}
RUN = (*METHOD, *SMALL[:-1], "3", "--target", "tiny:4bit", "--backend", "cpu")


def in_turns(submission: Submission) -> None:
    """Check that both arms answered a prompt before either answered the next one."""
    asked = [(trial.block, trial.prompt) for trial in submission.trials]
    assert len(asked) == 12
    assert asked[::2] == asked[1::2]
    assert len(set(asked)) == 6
    assert all(one.arm != two.arm for one, two in list(pairwise(submission.trials))[::2])


@pytest.mark.usefixtures("cache_dir")
def test_each_request_says_how_deep_to_draft(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    with serving(**MLX, yields=3) as server:
        done = call("--base-url", server.url, *RUN, "-o", str(output))

    assert done.exit_code == 0, done.stderr
    submission = measured(output)
    in_turns(submission)
    asked = [body["num_draft_tokens"] for body in server.state.bodies if body["max_tokens"] == 8]
    depths = {"baseline": 0, "draft-model-n3": 3}
    assert asked[: len(submission.trials)] == [depths[trial.arm] for trial in submission.trials]
    assert submission.design.interleaved == "prompt"


@pytest.mark.usefixtures("cache_dir")
def test_a_command_is_started_once_and_the_result_says_so(tmp_path: Path) -> None:
    output, starts = tmp_path / "out.json", tmp_path / "starts"
    server, told = tmp_path / "mlx_lm.server", pickle.dumps({**MLX, "yields": 3}).hex()
    fake = f"{sys.executable} -m tests.harness.openai.fake_server --as {told}"
    server.write_text(f'#!/bin/sh\necho >> "{starts}"\nexec {fake} "$@"\n')
    server.chmod(0o755)

    planned = call("--server-command", f"{server} --port {{port}}", *RUN, "--dry-run")
    done = call("--server-command", f"{server} --port {{port}}", *RUN, "-o", str(output))

    assert planned.stdout.count("--port") == 1
    assert done.exit_code == 0, done.stderr
    assert starts.read_text() == "\n"
    submission = measured(output)
    in_turns(submission)
    summary = summarize(submission)
    assert {each.starts.starts for each in summary.repeatability} == {1}
    (flag,) = (each for each in summary.flags if each.name == "one-start")
    assert flag.message.startswith(
        "A single server was started once, and each request set the draft depth"
    )


@pytest.mark.parametrize(
    ("behaviour", "arm", "why"),
    [
        (
            {"heeds": False, "yields": 3},
            "draft-model-n3",
            "ignores num_draft_tokens",
        ),
        ({"depth": 0}, "draft-model-n3", "ignores num_draft_tokens; start the server "),
        (
            {"cached": 7, "yields": 3},
            "draft-model-n3",
            (
                "took 7 tokens of the prompt from its cache, which changes the answers of a run "
                "with a draft; start the server with --prompt-cache-size 0"
            ),
        ),
        ({"style": "plain"}, "baseline", "unknown server fixes the depth at its start"),
    ],
)
def test_a_server_that_does_not_draft_as_asked_is_refused(
    behaviour: dict[str, Any], arm: str, why: str
) -> None:
    with serving(**{**MLX, **behaviour}) as server:
        session = open_session(plan(in_turns=True), base_url=server.url)
        if arm != "baseline":
            assert isinstance(session.prepare("baseline"), PreparedArm)
        failure = refused(session, arm)
        session.close()

    assert why in failure.detail
    assert "\n" not in failure.detail


def test_drafts_that_are_never_accepted_are_recognised_by_their_cost() -> None:
    with serving(**MLX, yields=1, draft_ms=6.0) as server:
        session = open_session(plan(in_turns=True), base_url=server.url)
        prepared = [session.prepare(arm) for arm in ("baseline", "draft-model-n3")]
        session.close()

    assert not any(isinstance(each, Failure) for each in prepared), prepared


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--concurrency", "2"), "or --concurrency use --spec-base-url"),
        (("--draft", "Other-0.2B"), "a single server for all arms has one draft"),
    ],
)
def test_options_that_one_server_cannot_run_are_refused(options: tuple[str, ...], why: str) -> None:
    with serving(**MLX) as server:
        done = call("--base-url", server.url, *RUN, *options, "--dry-run")

    assert done.exit_code == 2, done.output
    assert done.stderr.count("Error:") == 1
    assert why in done.stderr
