"""Own prompts are answered and counted, and none of their words leaves the processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import files
from harness.acceptance.own_texts import suite_of
from harness.errors import BadInputError
from tests.harness.acceptance.test_acceptance import counted

WORD = "xylophone-quagmire"


def written(path: Path, *lines: object) -> Path:
    texts = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text("\n".join(texts), "utf-8")
    return path


def test_prompts_are_lines_or_chats_up_to_the_last_message_of_the_user(tmp_path: Path) -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "Two."},
        {"role": "user", "content": "Three?"},
        {"role": "assistant", "content": "Four."},
    ]
    path = written(tmp_path / "t", "Why?", "", {"prompt": "How?"}, {"messages": turns})

    texts = [prompt.text for prompt in suite_of(path).prompts]

    assert texts == ["Why?", "How?", "One?\n<|assistant|>\nTwo.\n<|user|>\nThree?"]


@pytest.mark.parametrize(
    "line", ['{"prompt": "' + WORD, '{"messages": [{"role": "' + WORD + '"}]}', "{}"]
)
def test_a_line_that_is_no_chat_is_named_and_not_quoted(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "t", "Why?", line)

    with pytest.raises(BadInputError, match="line 2") as error:
        suite_of(path)

    assert WORD not in str(error.value)
    assert error.value.__cause__ is None


def holding(word: str, folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != "mine.txt" and word.encode() in path.read_bytes()
    ]


@pytest.mark.usefixtures("fake_engine", "cache_dir", "fake_reader")
def test_counts_are_printed_and_recorded_without_a_word_of_the_prompts(
    models: list[str], tmp_path: Path, cache_dir: Path
) -> None:
    mine = written(tmp_path / "mine.txt", f"{WORD} one", f"{WORD} two")

    done = counted(*models, "--texts", str(mine), "--max-tokens", "9")

    assert done.exit_code == 0, done.output
    assert "2 answers, 18 tokens" in done.stdout
    assert "Plan with it: " in done.stderr
    assert WORD not in done.output
    assert holding(WORD, tmp_path) == holding(WORD, cache_dir) == []


@pytest.mark.usefixtures("fake_engine", "cache_dir", "fake_reader")
def test_texts_exclude_our_prompts(models: list[str], tmp_path: Path) -> None:
    mine = str(written(tmp_path / "mine.txt", "Why?"))

    tasks = counted(*models, "--texts", mine, "--tasks", "code")

    assert "leave out --tasks" in tasks.stderr


@pytest.mark.engine
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_command_leaves_no_word_behind(tmp_path: Path, ending: signal.Signals) -> None:
    mine = written(tmp_path / "mine.txt", *[f"{WORD} {number}" for number in range(400)])
    pair = [f"smollm2-135m:{name}" for name in ("f16", "q4_1-pruned-3")]
    command = [sys.executable, "-m", "harness", "acceptance", *pair, "--texts", str(mine)]
    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stderr is not None
        said = next(line for line in running.stderr if b"This takes about" in line)
        time.sleep(4)
        running.send_signal(ending)
        output, errors = running.communicate(timeout=60)

    assert running.returncode != 0
    assert WORD.encode() not in said + output + errors
    assert holding(WORD, tmp_path) == holding(WORD, files.directory()) == []
