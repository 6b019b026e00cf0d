"""`run --keep-answers` writes the target's answers to a separate file only."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.acceptance import kept_answers
from harness.campaign.suite import load
from harness.cli import app
from harness.errors import BadInputError
from harness.run import journal
from schemas.submission import Engine, Prompt, Settings, Trial
from tests.harness.campaigns import campaign

SMALL = ("--runner", "llama-cpp-python", "--tasks", "code", "--prompts", "2", "--max-tokens", "6")
ENGINE = Engine(runner="llama-cpp-python", name="llama.cpp", version="1", backend="cpu", devices=())
DIGEST = "ab" * 32


@pytest.fixture
def run(models: list[str], fake_engine: None, tmp_path: Path) -> Result:  # noqa: ARG001 - see there
    kept = ("--keep-answers", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "r.json"))
    done = CliRunner().invoke(app, ["run", *models, *SMALL, "--blocks", "2", *kept])
    assert done.exit_code == 0, done.output
    return done


def test_a_run_keeps_one_answer_per_prompt_in_a_separate_file(run: Result, tmp_path: Path) -> None:
    found = kept_answers.read(tmp_path / "a.jsonl")

    texts = {each.id: each.text for each in load("core").prompts}
    assert [each.prompt for each in found] == [texts[each.id] for each in found]
    assert [(each.task, len(each.tokens or ())) for each in found] == [("code", 6)] * 2
    result = json.loads((tmp_path / "r.json").read_text("utf-8"))
    target = found[0].target
    assert target is not None
    assert (target.name, target.sha256) == ("Big-7B", result["target"]["sha256"])
    assert f"Answers (they stay on this machine): {tmp_path / 'a.jsonl'}" in run.stderr


@pytest.mark.usefixtures("run")
def test_no_answer_is_in_the_result_and_no_command_sends_them(tmp_path: Path) -> None:
    result = (tmp_path / "r.json").read_text("utf-8")

    for kept in kept_answers.read(tmp_path / "a.jsonl"):
        assert kept.prompt[:30] not in result
        assert json.dumps(kept.tokens, separators=(",", ":"))[1:-1] not in result
    for more in ([], ["--without-git"]):
        sent = CliRunner().invoke(app, ["submit", str(tmp_path / "a.jsonl"), *more])
        assert sent.exit_code == 1
        assert "a.jsonl is not valid and would be rejected" in sent.stderr
        assert sent.stdout == ""


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--keep-answers", "a.json"), "name a file that ends in .jsonl"),
        (("--keep-answers", "gone/a.jsonl"), "there is no folder gone"),
        (("--keep-answers", "there.jsonl"), "already exists; name another file"),
    ],
)
def test_answers_that_cannot_be_kept_are_refused_before_measuring(
    models: list[str],
    options: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").touch()

    done = CliRunner().invoke(app, ["run", *models, *SMALL, *options])

    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not list(tmp_path.glob("*.json"))


def fact(arm: str, prompt: str, block: int, tokens: tuple[int, ...] | None) -> journal.TrialFact:
    outcome = "ok" if tokens else "failed"
    return journal.TrialFact(
        trial=Trial(arm=arm, prompt=prompt, block=block, order=0, outcome=outcome),
        prompt=Prompt(id=prompt, task="code"),
        tokens=tokens,
        prompt_ids=(7, 8) if block == 0 else None,
    )


def test_the_first_answer_of_the_baseline_counts_and_failed_ones_are_left_out() -> None:
    facts: list[journal.Fact] = [
        journal.EngineFact(engine=ENGINE, settings=Settings(chat_template_sha256=DIGEST)),
        fact("prompt-lookup-n8", "code-1", 0, (1, 1)),
        fact("baseline", "code-2", 0, None),
        fact("baseline", "code-1", 0, (5, 6)),
        fact("baseline", "code-2", 1, (9,)),
        fact("baseline", "code-1", 1, (5, 5)),
    ]

    found = [*kept_answers.of_campaign(campaign(), facts)]

    assert [(each.id, each.tokens, each.prompt_ids) for each in found] == [
        ("code-1", (5, 6), (7, 8)),
        ("code-2", (9,), None),
    ]
    assert {each.max_output_tokens for each in found} == {12}
    assert {each.chat_template_sha256 for each in found} == {DIGEST}


def test_lines_of_prompt_and_answer_are_read_with_whatever_else_they_have(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    line = '{"prompt": "Why?", "answer": "So.", "id": "a-1", "task": "chat", "score": [1]}'
    path.write_text(f"\ufeff{line}\r\n\n{line}\n", "utf-8")

    found = kept_answers.read(path)

    assert [(each.prompt, each.answer, each.task) for each in found] == [
        ("Why?", "So.", "chat")
    ] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no answers"),
        ("\n \n", "has no answers"),
        ('{"prompt": "a", "answer": "b"}\nnonsense', "line 2: "),
        ('{"prompt": "a"}', "line 1: the object has neither an answer nor tokens"),
        ('{"answer": "b"}', "missing required field `prompt`"),
        ('{"prompt": "a", "tokens": [1, -2]}', "`$.tokens[1]`"),
        ('{"prompt": "a", "answer": "b", "task": "\\u001b[2J"}', "`$.task`"),
        ('["prompt"]', "line 1: Expected `object`, got `array`"),
        ('{"prompt": "a", "answer": "\udce4"}', "line 1: "),
    ],
)
def test_a_file_without_answers_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(BadInputError) as error:
        kept_answers.read(path)

    assert said in str(error.value)
    assert str(error.value).startswith(f"{path}")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        kept_answers.read(tmp_path / "gone.jsonl")
