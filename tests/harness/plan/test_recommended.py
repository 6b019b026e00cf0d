"""The run that a plan prints measures what the plan recommends, and it starts."""

import json
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness import PROGRAM
from harness.cli import app
from harness.machine.computer import computer_of
from harness.models import room
from planner.catalog import preset_facts
from planner.machines import MachineWords
from planner.presets import preset_named
from tests.harness.ggufs import write_gguf
from tests.nightly import few
from tests.processes import needs_shell
from tests.test_commands import passed, speculation

CARDS: dict[str, tuple[str, ...]] = {
    "RTX 3060 12 GB": ("--gpu", "RTX 3060 12 GB", "--ram", "32"),
    "RTX 4090": ("--gpu", "RTX 4090", "--ram", "64"),
    "two 3090": ("--gpu", "2x RTX 3090", "--ram", "64"),
    "RX 7900 XTX": ("--gpu", "RX 7900 XTX", "--ram", "32"),
    "GTX 1060": ("--gpu", "GTX 1060 6 GB", "--ram", "16"),
    "a Mac": ("--gpu", "M3 Max", "--ram", "64"),
    "an APU": ("--gpu", "Strix Halo 128 GB"),
    "no card": ("--gpu", "none", "--ram", "32"),
}
MODELS = ("qwen3-8b", "qwen3-4b:Q8_0", "qwen3.8-27b", "llama-3.1-8b", "gpt-oss-20b")
SHARED = ("a Mac", "an APU")
CARD = ("--gpu", "RTX 4060 8 GB", "--ram", "32", "--cpu", "8 cores DDR5-4800")
SMALL, BIG = ("--target", "qwen3-8b:Q4_K_M"), ("--target", "qwen3.8-27b:Q4_K_M")
MIXTURE, HEADED = ("--target", "qwen3-30b-a3b:Q4_K_M"), ("--target", "qwen3.5-9b:Q4_K_M")
DRAFT = ("--draft", "qwen3-0.6b:Q8_0")
# Accepted tokens that decide the recommendation: all of them, or none.
ALL, NONE, MANY = ("--acceptance", "0.99"), ("--acceptance", "0"), ("--tokens-per-round", "4")
RECOMMENDED = {
    "n-gram drafts": (*SMALL, *CARD),
    "n-gram drafts as asked": (*SMALL, "--draft", "ngram", *CARD),
    "another n-gram method": (*SMALL, "--draft", "ngram-mod", *MANY, *CARD),
    "a draft model": (*SMALL, *DRAFT, *ALL, *CARD),
    "its own head": (*HEADED, "--draft", "mtp", *ALL, *CARD),
    "a smaller cache": (*SMALL, "--kv-type", "q8_0", *CARD),
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
pytestmark = pytest.mark.usefixtures("binding")


@pytest.fixture(autouse=True)
def no_hub(cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty hub cache, no hub, and a machine with room for every model."""
    roomy = computer_of(MachineWords(ram=130))
    monkeypatch.setattr(room, "computer_of", lambda: roomy)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache_dir / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")


def plan(*arguments: str) -> tuple[dict[str, Any], str]:
    """The output of a plan for programs, and for people."""
    found, printed = (
        CliRunner().invoke(app, ["plan", *arguments, *more]) for more in (("--json",), ())
    )
    assert (found.exit_code, printed.exit_code) == (0, 0), found.stderr
    document: dict[str, Any] = json.loads(found.stdout)
    return document, printed.stdout


def run_words(printed: str) -> list[str]:
    """The words of the run that a plan prints."""
    line = printed.partition("Measure it: ")[2].splitlines()[0]
    return shlex.split(line.partition("  (")[0].removeprefix(f"{PROGRAM} "))


def campaign(printed: str) -> dict[str, Any]:
    """The plan of the run that a plan prints."""
    result = CliRunner().invoke(app, ["run", *run_words(printed), "--dry-run", "--json"])
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.parametrize(
    ("card", "model"),
    few([pytest.param(*each) for each in product(CARDS, MODELS)], 12),
)
def test_the_run_measures_what_the_plan_recommends(card: str, model: str) -> None:
    found, printed = plan(model, *CARDS[card])

    if card in SHARED:  # unified memory: device memory is part of it
        used = sum(
            sum(place["buffers_mib"].values()) for place in (*found["devices"], found["host"])
        )
        assert used < found["host"]["free_mib"]
    asked = campaign(printed)
    best = found["recommended"]
    if best is None:
        assert "No reason to use speculation" in printed or "leave speculation off" in printed
        return
    arms = {arm["id"]: arm["method"] for arm in asked["arms"]}
    same = [each for each in arms.values() if each["type"] == best["method"]]
    assert [each["n_max"] for each in same] == [best["depth"]], arms
    if best["method"] == "draft-model":
        target, draft = preset_named(model), preset_named(best["draft"])
        facts = [preset_facts(each) for each in (target, draft) if each]
        assert draft
        assert facts[0]
        assert facts[1]
        assert room.other_vocabulary(facts[0], facts[1]) is None
        assert [each["repository"] for each in asked["drafts"]] == [draft.repository]


@pytest.mark.parametrize("model", ["tinyllama-1.1b", "smollm2-135m:f16"])
def test_a_command_names_a_file_of_which_no_repository_is_known(model: str) -> None:
    found, printed = plan(model, *CARDS["RTX 4090"])

    assert found["command"].startswith(f"llama-server -m {model.replace(':', '-')}")
    if model == "tinyllama-1.1b":
        assert "The repository of tinyllama-1.1b is unknown: name a GGUF file" in printed
        assert "Measure it" not in printed
    else:  # `run` makes its file
        assert campaign(printed)["target"]["name"] == "SmolLM2-135M-Instruct"


def test_a_plan_claims_no_gain_against_measured_cells() -> None:
    found, printed = plan("smollm2-135m:f16", "--cpu", "epyc 2 threads", "--gpu", "none")

    # Measured there in the server: 0.98 from the text at most, and 0.32 with the draft.
    assert found["recommended"] is None
    assert printed.startswith("No")
    assert "measured 0.32× with English text for this card and model with Draft model" in printed  # noqa: RUF001


def test_a_measured_gain_is_named_with_its_interval() -> None:
    found, printed = plan("smollm2-135m:f16", "--cpu", "xeon 2 threads", "--gpu", "none")

    assert found["recommended"] == {"method": "prompt-lookup", "depth": 8, "draft": None}
    assert "measured 1.34× with English text for this card and model with Prompt lookup" in printed  # noqa: RUF001


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A program that lists a llama-server's options."""
    program = tmp_path / "llama-server"
    sizes = "\n".join(f"--{name} N    a size" for name in SIZES)
    program.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{HELP}{sizes}\nTEXT\n", "utf-8")
    program.chmod(0o755)
    return program


@needs_shell
@pytest.mark.parametrize("arguments", RECOMMENDED.values(), ids=RECOMMENDED)
def test_every_recommendation_comes_with_a_run_that_can_be_planned(
    arguments: tuple[str, ...], server: Path
) -> None:
    words = run_words(plan(*arguments)[1])
    if "--runner" in words:
        words += ["--server-binary", str(server)]

    result = CliRunner().invoke(app, ["run", *words, "--dry-run"])

    assert result.exit_code == 0, result.stderr


def test_a_draft_that_does_not_pay_is_measured_against_no_draft() -> None:
    words = run_words(plan(*RECOMMENDED["no draft"])[1])

    assert words[:2] == ["qwen3-30b-a3b:q4_k_m", "qwen3-0.6b"]
    assert words[words.index("--method") + 1] == "draft-model:n_max=4"


def test_a_preset_is_named_by_its_name_and_a_file_by_its_path(
    tmp_path: Path,
) -> None:
    path = write_gguf(tmp_path / "my own.gguf")

    preset, file = (
        run_words(plan(*asked, *CARD)[1])
        for asked in (("qwen3-8b:Q4_K_M", "qwen3-0.6b", *ALL), (str(path),))
    )

    assert preset[:2] == ["qwen3-8b", "qwen3-0.6b"]
    assert file[0] == str(path)


@pytest.mark.parametrize("arguments", NAMED.values(), ids=NAMED)
def test_the_confirming_run_passes_what_its_plan_serves(arguments: tuple[str, ...]) -> None:
    found, printed = plan(*arguments)
    served, words = shlex.split(found["command"]), run_words(printed)
    method = words[words.index("--method") + 1]

    # A plan without a draft is confirmed against the requested draft.
    measured = {} if not speculation(served) else speculation(passed(method))
    assert speculation(served) == measured
