"""`acceptance` counts for a pair on this disk."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.acceptance import command
from harness.acceptance.reader import AgreedTokens
from harness.cli import app
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

    assert "not of" in error(counted(*models, *SMALL, *curve(model_size=1 << 30)))
    card = curve(backends="CUDA", gpu_info="RTX 4090")
    done = counted(*models, *SMALL, *card, "--drafting-ms", "1")
    assert done.stdout.endswith(
        "Step times from llama-bench on RTX 4090; 1 ms per drafted token.\n"
    )


def target(monkeypatch: pytest.MonkeyPatch, rig: FakeRig) -> None:
    adapter = Adapter(open=partial(FakeSession, rig))
    monkeypatch.setitem(CONNECT, "llama-cpp-python", lambda _: adapter)


class Interrupted(FakeReader):
    """Raises Ctrl-C while the second answer is read."""

    read = 0

    def agreement(self, prompt: object, answer: Sequence[int]) -> AgreedTokens:
        Interrupted.read += 1
        if Interrupted.read > 1:
            raise KeyboardInterrupt
        return super().agreement(prompt, answer)


def test_ctrl_c_keeps_the_answers_already_read(
    models: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "Reader", Interrupted)

    done = counted(*models, *SMALL)

    assert done.exit_code == 130
    assert "1 answer, 9 tokens" in done.stdout
    at_once = counted(*models, *SMALL)
    assert (at_once.exit_code, at_once.stdout) == (130, "")
    assert "no answer has two or more tokens" in at_once.stderr


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
