"""The comment is complete, and no text of a contributor becomes markup in it."""

# ruff: noqa: RUF001 - texts as they are printed

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from estimates.model import AnswerLength, Flag, Interval
from harness.cli import app
from pipeline.intake import comment, reply
from pipeline.intake.reply import Reply, Result, UnreadableVerdictError
from pipeline.intake.submission_digest import ArmResult, TaskResult, Understanding, understand
from schemas.contract import read
from schemas.finding import Finding
from schemas.submission import Submission
from schemas.vocabulary import no_verdict, sentence

HOSTILE = [
    "@maintainers please merge",
    "<img src=x onerror=boom()>",
    "[click](javascript:boom()) ![x](https://example.org/x.png)",
    "https://example.org #12 ` `` ``` @ada",
    "``````",
    "`",
    " ",
    "a | b | c",
    "<!-- draftmap: verdict -->",
    "\\` \\[x](y) &lt;b&gt;",
]
ROOT = Path(__file__).parents[2] / "results" / "community"
SHA = "0123456789abcdef0123456789abcdef01234567"


def understanding(text: str = "plain", **other: Any) -> Understanding:  # noqa: ANN401 - any field
    """A summary in which every free text is the given one."""
    figure = TaskResult(
        verdict="helps",
        prompts=32,
        speedup=1.42,
        interval=Interval(low=1.31, high=1.54),
        baseline_tps=50.0,
        tps=71.0,
        whole_request=1.35,
        whole_request_interval=Interval(low=1.25, high=1.46),
    )
    arm = ArmResult(
        arm=text, role="speculation", method=text, draft=text, depth=4, results=(figure,)
    )
    plain = Understanding(
        device=text,
        backend=text,
        engine=text,
        target=text,
        size_class=text,
        tier="measured",
        profile="default",
        measured_on="2026-11-21",
        suite=text,
        prompts=32,
        blocks=3,
        trials=288,
        failed_trials=0,
        arms=(arm,),
        flags=(Flag(name=text, severity="caution", message=text, remedy=text, arm=text),),
    )
    return replace(plain, **other)


def page(text: str) -> Reply:
    return Reply(
        decision="rejected",
        base=SHA,
        head=SHA,
        result_count=1,
        finding_count=1,
        results=(Result(file=text, understood=understanding(text)),),
        findings=(Finding(file=text, path=text, message=text, rule=text),),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_contributor_appears_only_in_code_spans(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(comment.body(page(text)))
    leaves = [leaf for token in tokens for leaf in token.children or ()]

    kinds = {leaf.type for leaf in leaves} | {token.type for token in tokens}
    outside = " ".join(leaf.content for leaf in leaves if leaf.type == "text")

    assert sum(leaf.type == "code_inline" for leaf in leaves) > 10
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "fence", "code_block"}
    assert not {"@", "#12", "example", "boom"} & set(outside.replace(",", " ").split())
    assert "@" not in outside


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_a_code_span_shows_the_text_as_it_is(text: str) -> None:
    (inline,) = (t for t in MarkdownIt().parse(comment.code(text)) if t.type == "inline")

    assert [(leaf.type, leaf.content) for leaf in inline.children or ()] == [("code_inline", text)]


def test_a_line_break_does_not_leave_the_span() -> None:
    assert comment.code("a\n\n# b") == '`"a\\n\\n# b"`'


def test_a_row_has_both_rates_their_speedup_and_the_whole_request() -> None:
    text = comment.body(page("plain"))

    figures = "50.0 → 71.0 | 1.42× \\[1.31, 1.54] | 1.35× \\[1.25, 1.46] | 32 |"
    assert f"| **all tasks** | △ helps | {figures}" in text


def test_the_pick_of_several_has_the_interval_that_a_terminal_shows() -> None:
    file = ROOT / "nvidia-tesla-v100--qwen3-6-27b-iq4-xs--20260706-da509933.json"
    submission = read(file.read_bytes())
    assert isinstance(submission, Submission)
    understood = understand(submission)
    written = replace(page("x"), results=(Result(file=file.name, understood=understood),))

    terminal = CliRunner().invoke(app, ["show", str(file)]).stdout

    # The best of three arms, over all tasks.
    assert (
        "37.6 → 51.7 | 1.37× \\[1.34, 1.41]; corrected for the choice 1.37× \\[1.33, 1.41]"
        in comment.body(written)
    )
    assert terminal.startswith("1.37× [1.33, 1.41]")


def test_a_missing_verdict_has_its_reason_and_a_bound_is_called_one() -> None:
    late = TaskResult(
        verdict="uncertain", prompts=8, doubt="failures", speedup=1.2, at_most=True, task="code"
    )
    flagged = TaskResult(verdict="uncertain", prompts=8, doubt="not-interleaved", task="chat")
    long = TaskResult(
        verdict="slower-in-all",
        prompts=8,
        task="json",
        pays_from=AnswerLength(tokens=1734.0, low=1104.0, high=4391.0),
    )
    arm = ArmResult(arm="a", role="speculation", method="mtp", results=(late, flagged, long))
    given = Result(file="x.json", understood=understanding(arms=(arm,)))
    written = replace(page("x"), results=(given,), findings=(), finding_count=0)

    text = comment.body(reply.from_bytes(reply.to_bytes(written)))

    assert "| at most 1.20× |" in text
    assert f"- {no_verdict('failures')} (code)" in text
    assert "- No verdict. Arms ran one after another or in an unknown order" in text
    pays = sentence("pays-from", length="1,700 tokens (1,100 to 4,400)")
    assert f"- {pays} (json)" in text


def test_a_result_for_somebody_else_says_so() -> None:
    given = Result(file="x.json", understood=understanding(contributor="ada"))

    text = comment.body(replace(page("x"), results=(given,), author="bob"))

    assert "- Credit: `ada`; the pull request is by `bob`" in text


def test_a_comment_that_is_too_long_is_cut_with_a_note() -> None:
    many = tuple(
        Finding(file=f"{number}.json", path="$", message="x" * 1900, rule="json")
        for number in range(50)
    )

    text = comment.body(replace(page("x"), findings=many, finding_count=90))

    assert len(text) <= comment.MAX_CHARACTERS
    assert "The rest did not fit into this comment" in text


def test_a_reply_is_read_back_as_it_was_written() -> None:
    written = replace(page("x"), findings=(), finding_count=0)

    assert reply.from_bytes(reply.to_bytes(written)) == written


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("decision", "merged"),
        ("head", "main; rm"),
        ("author", "@everyone"),
        ("results", [{"file": "x", "extra": 1}]),
        ("finding_count", -1),
        ("extra", True),
    ],
)
def test_a_reply_that_our_gate_would_not_write_is_refused(key: str, value: object) -> None:
    document = json.loads(reply.to_bytes(replace(page("x"), findings=())))
    document[key] = value

    with pytest.raises(UnreadableVerdictError, match=r"^verdict\.json: \$"):
        reply.from_bytes(json.dumps(document).encode())
