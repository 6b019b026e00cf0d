"""The comment is complete, and no text of a contributor becomes markup in it."""

# ruff: noqa: RUF001 - texts as they are printed

import json
from dataclasses import replace
from typing import Any

import pytest
from markdown_it import MarkdownIt

from estimates.model import Flag, Interval
from pipeline.intake import comment, reply
from pipeline.intake.reply import Reply, Result, UnreadableVerdictError
from pipeline.intake.submission_digest import ArmResult, Understanding
from schemas.finding import Finding

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
SHA = "0123456789abcdef0123456789abcdef01234567"


def understanding(text: str = "plain", **other: Any) -> Understanding:  # noqa: ANN401 - any field
    """A summary in which every free text is the given one."""
    interval = Interval(low=1.31, high=1.54)
    arm = ArmResult(arm=text, verdict="helps", prompts=32, speedup=1.42, interval=interval)
    plain = Understanding(
        device=text,
        backend=text,
        engine=text,
        target=text,
        tier="measured",
        profile="default",
        measured_on="2026-11-21",
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


def test_an_arm_has_its_verdict_and_its_figure_or_the_reason_why_it_failed() -> None:
    late = ArmResult(arm="b", verdict="uncertain", prompts=1, speedup=1.2, at_most=True)
    failed = ArmResult(arm="c", verdict="failed", prompts=0, failure="out-of-memory")
    own = understanding("a")
    given = Result(file="x.json", understood=replace(own, arms=(*own.arms, late, failed)))

    text = comment.body(replace(page("x"), results=(given,)))

    assert "- `a`: △ helps, 1.42× \\[1.31, 1.54] over 32 prompts\n" in text
    assert "- `b`: ○ uncertain, at most 1.20× over 1 prompt\n" in text
    assert "- `c` failed (`out-of-memory`); " in text


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
