"""`acceptance` counts for a pair with a local target, or with answers in a file."""

import json
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.acceptance import command
from harness.acceptance.reader import AgreedTokens
from harness.cli import app
from harness.errors import BadInputError
from harness.models.describe import describe
from harness.models.model_file import WeightsFile
from harness.runners import CONNECT
from harness.runners.base import Adapter
from tests.harness.acceptance.fake_reader import FakeReader
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.harness.ggufs import write_gguf

SMALL = ("--tasks", "code,chat", "--prompts", "1", "--max-tokens", "9")
# Of nine tokens the second, fourth, sixth and eighth are right: a round yields two, and four rounds
# do at depth 1; a deeper draft gains nothing.

pytestmark = pytest.mark.usefixtures("fake_engine", "cache_dir", "fake_reader")


def counted(*words: str) -> Result:
    return CliRunner().invoke(app, ["acceptance", *words])


def as_json(done: Result) -> dict[str, object]:
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def error(done: Result) -> str:
    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    return done.stderr.removeprefix("Error: ")


def digest(path: str) -> str:
    return describe(WeightsFile(path=Path(path)), say=lambda _: None).model.sha256 or ""


def lines(path: Path, *values: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in values), "utf-8")
    return str(path)


def test_the_target_writes_its_answers_and_the_draft_reads_them(models: list[str]) -> None:
    done = counted(*models, *SMALL, "--deepest", "3")

    assert done.exit_code == 0, done.output
    shown = done.stdout.splitlines()
    assert shown[0] == "Small-1B F16 drafting for Big-7B F16:"
    assert shown[1] == "2 answers, 18 tokens; only the draft read them. Exact for greedy decoding."
    rows = {line[:16].strip(): line[16:].split() for line in shown[3:10]}
    assert rows["tokens a round"] == rows["code"] == rows["chat"] == ["2.00", "2.00", "2.00"]
    # Four rounds an answer; the last of each has no room for a draft of two.
    assert rows["accepted"] == ["100%", "0%", "\N{EN DASH}"]
    assert rows["of tries"] == ["8", "6", "0"]
    assert "--curve FILE" in shown[-1]
    assert max(map(len, shown)) <= 80


def test_a_curve_gives_the_speedup_of_each_depth(models: list[str], tmp_path: Path) -> None:
    steps = [
        {"n_prompt": width, "n_gen": 0, "avg_ns": ms * 1e6, "model_filename": "target.gguf"}
        | {"model_size": 8192, "backends": "CPU"}
        for width, ms in ((1, 10.0), (2, 12.0), (3, 20.0))
    ]
    curve = tmp_path / "curve.json"
    curve.write_text(json.dumps(steps), "utf-8")

    given = ("--curve", str(curve), "--drafting-ms", "2", "--deepest", "3")

    found = as_json(counted(*models, *SMALL, *given, "--json"))

    depths = found["depths"]
    assert isinstance(depths, list)
    # A drafted token takes a fifth of a step: 2 / (1.2 + 0.2) and 2 / (2.0 + 0.4).
    assert depths[0]["speedup"]["estimate"] == pytest.approx(2 / 1.4)
    assert depths[1]["speedup"]["estimate"] == pytest.approx(2 / 2.4)
    assert "speedup" not in depths[2]
    assert found["best_depth"] == 1
    shown = counted(*models, *SMALL, *given).stdout
    assert "longest draft  1  1.43\N{MULTIPLICATION SIGN}" in shown
    assert "(best)" in shown
    # At 10 ms a drafted token, as slow as the target: 2 / (1.2 + 1.0), below 1.
    slow = counted(*models, *SMALL, "--curve", str(curve), "--drafting-ms", "10").stdout
    assert "No depth gives a speedup on that machine: do not use this draft." in slow.splitlines()
    assert "(best)" not in slow
    assert "longest draft  3  \N{EN DASH}" in shown
    assert "curve" in as_json(counted(*models, *SMALL, "--curve", str(curve), "--json"))


def test_a_curve_is_of_this_target_and_of_any_device(models: list[str], tmp_path: Path) -> None:
    def curve(**other: object) -> tuple[str, str]:
        steps = [
            {"n_prompt": width, "n_gen": 0, "avg_ns": 1e7, "model_size": 8192, **other}
            for width in (1, 2)
        ]
        return "--curve", lines(tmp_path / "curve.jsonl", *steps)

    kept = ("--answers", lines(tmp_path / "a.jsonl", {"prompt": "Why?", "answer": "So it is."}))

    assert "not of" in error(counted(*models, *SMALL, *curve(model_size=1 << 30)))
    unnamed = counted("--draft", models[3], *kept, *curve())
    assert unnamed.exit_code == 2
    assert "name the target" in unnamed.stderr
    card = curve(backends="CUDA", gpu_info="RTX 4090")
    done = counted(*models, *SMALL, *card, "--drafting-ms", "1")
    assert done.stdout.endswith(
        "Step times from llama-bench on RTX 4090; 1 ms per drafted token.\n"
    )


def test_kept_answers_are_read_again_without_the_target(models: list[str], tmp_path: Path) -> None:
    kept = tmp_path / "a.jsonl"
    first = as_json(counted(*models, *SMALL, "--keep-answers", str(kept), "--json"))

    again = as_json(counted(*models, "--answers", str(kept), "--json"))
    alone = as_json(counted("--draft", models[3], "--answers", str(kept), "--json"))

    assert again["depths"] == alone["depths"] == first["depths"]
    assert again["target"] == alone["target"] == "Big-7B F16"


def test_texts_of_unknown_origin_are_read_without_a_task(models: list[str], tmp_path: Path) -> None:
    mine = lines(tmp_path / "m.jsonl", {"prompt": "Why?", "answer": "one two three four five"})

    done = counted(*models, "--answers", mine, "--deepest", "1")

    assert done.exit_code == 0, done.output
    assert "1 answer, 5 tokens" in done.stdout
    assert "  other" not in done.stdout


def target(monkeypatch: pytest.MonkeyPatch, rig: FakeRig) -> None:
    adapter = Adapter(open=partial(FakeSession, rig))
    monkeypatch.setitem(CONNECT, "llama-cpp-python", lambda _: adapter)


class Interrupted(FakeReader):
    """Raises Ctrl-C while the second answer is read."""

    read = 0

    def agreement(
        self, prompt: object, tokens: tuple[int, ...] | None, text: str | None
    ) -> AgreedTokens:
        Interrupted.read += 1
        if Interrupted.read > 1:
            raise KeyboardInterrupt
        return super().agreement(prompt, tokens, text)


def test_ctrl_c_keeps_the_answers_already_read(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "Reader", Interrupted)
    kept = tmp_path / "a.jsonl"

    done = counted(*models, *SMALL, "--keep-answers", str(kept))

    assert done.exit_code == 130
    assert "1 answer, 9 tokens" in done.stdout
    assert kept.read_text("utf-8").count("\n") == 1
    at_once = counted(*models, *SMALL)
    assert (at_once.exit_code, at_once.stdout) == (130, "")
    assert "no answer has two or more tokens" in at_once.stderr


class Refusing(FakeReader):
    """Cannot read a text, like a draft with another vocabulary."""

    def agreement(
        self, prompt: object, tokens: tuple[int, ...] | None, text: str | None
    ) -> AgreedTokens:
        if tokens == (9, 9):
            raise BadInputError("an answer has the token 9")
        return super().agreement(prompt, tokens, text)


def test_an_answer_that_cannot_be_read_is_named(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "Reader", Refusing)
    good: dict[str, object] = {"prompt": "Why?", "answer": "So it is."}
    kept = lines(tmp_path / "a.jsonl", good, {"prompt": "Why?", "tokens": [9, 9]})

    done = counted(*models, "--answers", kept)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith("Error: answer 2 of 2: an answer has the token 9\n")


def test_a_prompt_without_an_answer_is_left_out_with_a_note_and_without_any_there_is_no_report(
    models: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target(monkeypatch, FakeRig(failing_trials={0: "crashed"}))
    some = counted(*models, *SMALL)
    full = FakeRig(failing_trials=dict.fromkeys(range(9), "out-of-memory"))
    target(monkeypatch, full)
    none = counted(*models, *SMALL)

    assert some.exit_code == 0, some.output
    assert "1 answer, 9 tokens" in some.stdout
    assert "target failed: the fake rig is set to fail" in some.stderr
    assert none.exit_code == 3
    assert "no rounds to count" in none.stderr.splitlines()[-1]


def test_models_that_do_not_form_a_pair_are_one_line_each(
    models: list[str], tmp_path: Path
) -> None:
    _, target, _, draft = models
    other = write_gguf(tmp_path / "other.gguf", tokens=[f"x{n}" for n in range(300)])
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(Path(target).read_bytes())

    assert "cannot draft for Big-7B: token 5 is" in error(counted(target, str(other)))
    assert "is the target itself" in error(counted(target, target))
    assert "is the target itself" in error(counted(target, str(copy)))
    assert "name a single draft" in error(counted(target, "-md", draft, "-md", str(copy)))


def test_answers_of_another_target_are_refused_in_one_line_each(
    models: list[str], tmp_path: Path
) -> None:
    _, target, _, draft = models
    templated = write_gguf(tmp_path / "chat.gguf", name="Chat 7B", template="{{ messages }}")
    answer: dict[str, object] = {"prompt": "Why?", "prompt_ids": [7], "tokens": [8, 9]}

    def said(*words: str, template: str | None = None, **writer: str) -> str:
        by = {"id": "w", "name": "Writer-7B", "quantisation": "Q8_0", **writer}
        last = {**answer, "target": by, "chat_template_sha256": template}
        path = lines(tmp_path / "a.jsonl", answer, last)
        return error(counted(*words, "--answers", path))

    pair, alone = (target, draft), ("--draft", draft)
    assert "the answers were written by Writer-7B Q8_0, not by Big-7B F16" in said(
        *pair, sha256="ab" * 32
    )
    chat = (str(templated), draft)
    assert "a chat template that differs" in said(*chat, template="cd" * 32, sha256=digest(chat[0]))
    # Without the target only its digests are known.
    assert "and Writer-7B Q8_0 have different vocabularies" in said(
        *alone, tokenizer_sha256="ef" * 32
    )
    assert "is the target itself" in said(*alone, sha256=digest(draft))
    other = write_gguf(tmp_path / "other.gguf", tokens=[f"x{n}" for n in range(300)])
    assert "cannot draft for Big-7B: token 5 is" in said(target, str(other))


def test_options_that_a_file_of_answers_decides_are_refused(
    models: list[str], tmp_path: Path
) -> None:
    mine = lines(tmp_path / "m.jsonl", {"prompt": "Why?", "answer": "So it is."})

    assert "leave out --tasks" in error(counted(*models, "--answers", mine, "--tasks", "code"))
    assert "leave out --max-tokens" in error(counted(*models, "--answers", mine, *SMALL[4:]))
    kept = ("--keep-answers", str(tmp_path / "n.jsonl"))
    assert "leave out --keep-answers" in error(counted(*models, "--answers", mine, *kept))
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert "has no answers" in error(counted(*models, "--answers", str(empty)))
