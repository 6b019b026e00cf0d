"""The run that a plan prints measures what the plan recommends, and it starts."""

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from answers.machines import MachineWords
from harness import PROGRAM
from harness.cli import app
from harness.machine.computer import computer_of
from harness.models import room
from tests.harness.ggufs import write_gguf
from tests.processes import needs_shell
from tests.test_commands import passed, speculation

CARD = ("--gpu", "RTX 4060 8 GB", "--ram", "32", "--cpu", "8 cores DDR5-4800")
SMALL, BIG = ("--target", "qwen3-8b:Q4_K_M"), ("--target", "qwen3.8-27b:Q4_K_M")
MIXTURE, HEADED = ("--target", "qwen3-30b-a3b:Q4_K_M"), ("--target", "qwen3.5-9b:Q4_K_M")
DRAFT = ("--draft", "qwen3-0.6b:Q8_0")
# Accepted tokens that decide the recommendation: all of them, or none.
ALL, NONE = ("--acceptance", "0.99"), ("--acceptance", "0")
RECOMMENDED = {
    "n-gram drafts": (*SMALL, *CARD),
    "n-gram drafts as asked": (*SMALL, "--draft", "ngram", *CARD),
    "another n-gram method": (*SMALL, "--draft", "ngram-mod", *ALL, *CARD),
    "a draft model": (*SMALL, *DRAFT, *ALL, *CARD),
    "a draft in main memory": (*SMALL, *DRAFT, *ALL, "--draft-gpu-layers", "0", *CARD),
    "its own head": (*HEADED, "--draft", "mtp", *ALL, *CARD),
    "a smaller cache": (*SMALL, "--kv-type", "q8_0", *CARD),
    "no flash attention": (*SMALL, *DRAFT, *ALL, "--flash-attention", "off", *CARD),
    "no draft": (*MIXTURE, *DRAFT, *NONE, *CARD),
    "layers in main memory": (*BIG, *CARD),
    "experts in main memory": (*MIXTURE, *CARD),
    "a processor": (*SMALL, "--gpu", "none", "--ram", "32"),
}
NAMED = {name: words for name, words in RECOMMENDED.items() if "--draft" in words}
HELP = """\
-m, --model FNAME    model path
-md, --model-draft FNAME    draft model
-ngld, --gpu-layers-draft N    layers of the draft
--port PORT          port to listen on
--spec-type none,draft-simple,draft-mtp,ngram-simple,ngram-mod
"""
SIZES = (
    *("n-cpu-moe", "cache-type-k", "cache-type-v"),
    *("spec-draft-n-max", "spec-draft-n-min", "spec-draft-p-min"),
    *("spec-ngram-simple-size-n", "spec-ngram-simple-size-m", "spec-ngram-simple-min-hits"),
    *("spec-ngram-mod-n-match", "spec-ngram-mod-n-min", "spec-ngram-mod-n-max"),
)


def run_line(*arguments: str) -> list[str]:
    """The words of the run that a plan prints."""
    result = CliRunner().invoke(app, ["plan", *arguments])
    assert result.exit_code == 0, result.stderr
    line = result.stdout.partition("Measure it: ")[2].splitlines()[0]
    words = shlex.split(line.partition("  (")[0].removeprefix(f"{PROGRAM} "))
    return words[1:] if words[0] == "run" else words


def after(words: list[str], flag: str) -> str | None:
    return words[words.index(flag) + 1] if flag in words else None


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that lists a llama-server's options, on a machine with room for every model."""
    roomy = computer_of(MachineWords(ram=130))
    monkeypatch.setattr(room, "computer_of", lambda: roomy)
    program = tmp_path / "llama-server"
    sizes = "\n".join(f"--{name} N    a size" for name in SIZES)
    program.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{HELP}{sizes}\nTEXT\n", "utf-8")
    program.chmod(0o755)
    return program


@needs_shell
@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize("arguments", RECOMMENDED.values(), ids=RECOMMENDED)
def test_every_recommendation_comes_with_a_run_that_can_be_planned(
    arguments: tuple[str, ...], server: Path
) -> None:
    words = run_line(*arguments)
    if "--runner" in words:
        words += ["--server-binary", str(server)]

    result = CliRunner().invoke(app, ["run", *words, "--dry-run"])

    assert result.exit_code == 0, result.stderr


def test_a_draft_that_does_not_pay_is_measured_against_no_draft() -> None:
    words = run_line(*RECOMMENDED["no draft"])

    assert words[:2] == ["qwen3-30b-a3b:q4_k_m", "qwen3-0.6b"]
    assert after(words, "--method") == "draft-model:n_max=1"


def test_a_preset_is_named_by_its_name_and_a_file_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    path = write_gguf(tmp_path / "my own.gguf")

    preset = run_line("--target", "qwen3-8b", "--draft", "qwen3-0.6b", *ALL, *CARD)
    file = run_line("--target", str(path), *CARD)

    assert preset[:2] == ["qwen3-8b", "qwen3-0.6b"]
    assert file[0] == str(path)


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize("arguments", NAMED.values(), ids=NAMED)
def test_the_confirming_run_passes_what_its_plan_serves(arguments: tuple[str, ...]) -> None:
    plan = CliRunner().invoke(app, ["plan", "--json", *arguments])
    served = shlex.split(json.loads(plan.stdout)["command"])
    words = run_line(*arguments)
    method = words[words.index("--method") + 1]

    # A plan without a draft is confirmed against the requested draft.
    measured = {} if not speculation(served) else speculation(passed(method))
    assert speculation(served) == measured
