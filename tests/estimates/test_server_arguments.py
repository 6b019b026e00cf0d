"""A ratio of two servers measures speculation only if nothing else differs."""

import pytest

from estimates.summary import summarize
from schemas.submission import Submission
from tests.estimates.flag_builders import started


def said(submission: Submission) -> list[str]:
    found = summarize(submission).flags
    return [each.message for each in found if each.name == "arguments-differ"]


def test_each_argument_that_differs_is_named_with_both_values() -> None:
    base = ("serve", "--threads", "1", "-ngl", "0", "--port", "{port}")
    spec = ("serve", "--threads", "8", "-ngl", "99", "--port", "{port}", "--no-kv-offload")

    (message,) = said(started(base, spec))

    assert message == (
        "The servers were started differently: gpu-layers 99 instead of 0 with spec, "
        "no-kv-offload on instead of none with spec and threads 8 instead of 1 with spec."
    )


@pytest.mark.parametrize(
    "added",
    [
        ("-md", "…", "-ngld", "99", "--draft-max", "8", "-cd", "512", "-ctkd", "q8_0"),
        ("--spec-type", "draft-simple", "--spec-draft-n-max", "4", "--model-draft", "…"),
        ("--metrics",),
        ("…",),
    ],
)
def test_servers_may_differ_in_harmless_arguments_and_those_of_speculation(
    added: tuple[str, ...],
) -> None:
    usual = ("-c", "2048", "--threads", "8", "-ngl", "-1", "--spec-type", "none", "--port", "1")

    assert said(started(usual, (*usual[:-1], "2", *added))) == []


def test_a_running_server_whose_arguments_are_unknown_has_no_flag() -> None:
    assert said(started((), ("--threads", "8"))) == []
