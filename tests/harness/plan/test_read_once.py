"""A plan reads the names in its question once, and passes on what they mean."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness.plan.command  # noqa: F401 - bound before the readers are counted
from planner import names, presets
from planner.machines import described_computer
from tests.harness.plan.test_plan_command import call

# Every function that reads a name as people type it.
READERS = ("read_machine", "read_model", "read", "preset_named", "card_key")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of calls of each reader, including calls that a cache answers."""
    counted: Counter[str] = Counter()
    described_computer.cache_clear()  # another test may have asked about the same machine

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted_call(*arguments: str) -> object:
            counted[name] += 1
            return function(*arguments)

        return counted_call

    for name in READERS:
        function = getattr(names, name, None) or getattr(presets, name)
        for module in [*sys.modules.values()]:
            if getattr(module, name, None) is function:
                monkeypatch.setattr(module, name, counting(name, function))
    return counted


@pytest.mark.parametrize(
    "question",
    [
        ("qwen3-8b", "--gpu", "RTX 4060 8 GB", "--ram", "32"),
        ("qwen3.8-27b", "--gpu", "RTX 5090"),
        ("gemma-4-12b", "--gpu", "2x RTX 3090"),
        ("qwen3-8b", "qwen3-0.6b", "--gpu", "RTX 4060 8 GB"),
    ],
)
def test_a_plan_reads_each_name_once(question: tuple[str, ...], calls: Counter[str]) -> None:
    found = call(*question)

    models = sum(not word.startswith("--") for word in question[: question.index("--gpu")])
    assert found.exit_code == 0, found.stderr
    assert calls["read_model"] == models
    assert calls["read_machine"] == 1
    assert calls["card_key"] == calls["preset_named"] == 0


def test_one_function_turns_a_label_into_the_name_in_the_evidence() -> None:
    packages = ("planner", "harness", "pipeline", "estimates")
    files = [file for package in packages for file in Path(package).rglob("*.py")]

    both = {
        str(file)
        for file in files
        if all(f"{word}(" in file.read_text("utf-8") for word in ("card_key", "normalised"))
    }

    assert both == {"planner/machines.py", "planner/names.py"}
