"""`plan` answers people and programs, and gives a reason if it cannot plan."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.errors import BadInputError, MachineError
from harness.machine.computer import computer_of
from harness.models import room
from harness.models.hub_client import Hub
from harness.models.model_facts import find
from planner.machines import MachineWords
from planner.names import read_model
from tests.harness.fake_hub import FakeHub, serving
from tests.harness.ggufs import write_gguf

CARD = ("--gpu", "RTX 4060 8 GB", "--ram", "32", "--cpu", "8 cores DDR5-4800")
BIG = ("--target", "qwen3.5-27b:Q4_K_M", "--context", "2048")
KINDS = {
    *("model", "kv", "recurrent", "compute", "output"),
    *("draft_model", "draft_kv", "draft_recurrent", "draft_compute"),
}


@pytest.fixture(autouse=True)
def no_hub(cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty hub cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache_dir / "hub"))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments])


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(*arguments, "--json").stdout)
    return found


def test_the_object_has_the_keys_that_others_rely_on() -> None:
    found = document(*BIG, *CARD, "--draft", "qwen3.5-0.8b:Q4_K_M")

    assert set(found) == {
        *("json_version", "verdict", "chance", "evidence", "accuracy", "curve", "decides"),
        *("devices", "host", "layers", "offloaded_layers", "context_max", "plain_tps"),
        *("speedup", "recommended", "alternatives", "command", "warnings"),
    }
    for place in (*found["devices"], found["host"]):
        assert set(place) == {"name", "free_mib", "buffers_mib"}
        assert set(place["buffers_mib"]) == KINDS
    for name, basis in (("plain_tps", "physics"), ("speedup", "predicted")):
        assert found[name]["low"] < found[name]["estimate"] < found[name]["high"]
        assert found[name]["basis"] == basis
    assert set(found["accuracy"]) == {"off", "held", "figures", "people"}
    assert {"changes", "tps", "fits", "command"} == set(found["alternatives"][0])


def test_a_plan_for_an_8_gb_card_says_what_is_faster() -> None:
    draft = ("--draft", "qwen3.5-0.8b:Q4_K_M", "--depth", "8")
    words = " ".join(call(*BIG, *CARD, *draft).stdout.split())

    assert re.match(r"Probably not: the draft qwen3\.5-0\.8b:Q4_K_M at depth 8 may give", words)
    assert "Accuracy: " in words
    assert "The repository of qwen3.5-27b:Q4_K_M is unknown: name a GGUF file" in words


@pytest.mark.parametrize("draft", ["llama-3.2-1b:Q4_K_M", "gemma-3-1b:Q8_0"])
def test_a_draft_of_another_vocabulary_is_refused(draft: str) -> None:
    found = call("--target", "qwen3-8b:Q4_K_M", "--draft", draft, *CARD)

    assert found.exit_code == 2
    assert "cannot draft for qwen3-8b: their vocabularies of 151,936 and" in found.stderr
    assert "Only vLLM can draft with a different vocabulary" in found.stderr
    assert '"use_heterogeneous_vocab": true' in found.stderr


def test_the_alternatives_are_ranked_by_speed_and_those_that_fit_come_first() -> None:
    listed = document(*BIG, *CARD, "--draft", "qwen3.5-9b:Q4_K_M")["alternatives"]

    keys = [(not each["fits"], -each["tps"]) for each in listed]
    assert keys == sorted(keys)
    assert any(each["changes"].startswith("no draft") for each in listed)


def test_a_plan_with_experts_in_main_memory_names_the_cache_for_them() -> None:
    target = ("--target", "qwen3.6-35b-a3b:UD-Q4_K_M")
    shown = call(*target, "--gpu", "RTX 3060 12 GB", "--ram", "32").stdout
    whole = call(*target, "--gpu", "RTX 4090 24 GB", "--ram", "32").stdout

    # All 41 layers' experts in main memory, and as much cache as the plan has experts on the card.
    assert re.search(r"Or try: +-ncmoe 41 --moe-cache-mib 8\d{3} \(llama\.cpp b11549", shown)
    assert "RTX 3060 12 GB: 51 instead of 42 tokens/s" in shown
    assert "--moe-cache-mib" not in whole


def test_a_model_larger_than_everything_is_reported_in_one_line() -> None:
    found = document("--target", "llama-3.3-70b:Q8_0", "--gpu", "RTX 4060 8 GB", "--ram", "16")

    assert found["verdict"] == "No"
    assert all(not each["fits"] for each in found["alternatives"])


def test_a_file_that_does_not_fit_gets_a_quantisation_that_does() -> None:
    text = call("--target", "qwen3.5-27b:Q8_0", "--gpu", "RTX 4060 8 GB", "--ram", "16").stdout
    words = " ".join(text.split())

    assert words.startswith("No: the model does not fit: main memory has 14.0 GiB free, but ")
    assert "Use a smaller quantisation, such as Q5_K_M, or another model." in words
    assert "Use it:" not in words


def test_the_command_states_every_value_that_the_plan_rests_on() -> None:
    command = document("qwen3-32b", "none", "--context", "2048", *CARD)["command"]

    loads = "llama-server -hf Qwen/Qwen3-32B-GGUF:Q4_K_M"
    assert command.startswith(f"{loads} -c 2048 -np 1 -ub 512 -ngl ")
    assert "-fit off" in command


def test_a_command_of_another_method_than_the_planned_one_has_a_note_that_says_so() -> None:
    asked = ("llama-3.1-8b", "prompt-lookup", *CARD, "--tokens-per-round", "3")

    found, words = document(*asked), " ".join(call(*asked).stdout.split())

    note = (
        "llama-server has no prompt-lookup. This command uses its nearest method, ngram-simple, "
        "which was not measured: measure ngram-simple too (--runner llama-server --method "
        "ngram-simple)."
    )
    assert found["recommended"]["method"] == "prompt-lookup"
    assert " --spec-type ngram-simple " in found["command"]
    assert note == found["warnings"][-1]
    assert words.count(note) == 1
    assert words.index("--spec-type ngram-simple") < words.index(note)


@pytest.mark.parametrize(
    ("target", "note"),
    [
        (
            "Owner/Foo-7B-GGUF:Q8_0",
            "foo-7b is not in our table of shapes; the plan is based on the 7B in",
        ),
        (
            "nemotron 49b",
            "the plan is based on the 49B in its name; its weights are known to within 23 %",
        ),
        ("glm-4.5-air:UD-Q4_K_XL", "the plan is based on 106B-A12B (published configuration)"),
    ],
)
def test_a_model_known_by_name_only_is_planned_with_a_note(
    target: str, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")

    found = document("--target", target, "--gpu", "RTX 3090", "--ram", "128")

    assert found["plain_tps"]["estimate"] > 1
    assert any(note in warning for warning in found["warnings"])


def test_without_a_hub_an_unknown_repository_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")

    result = call("--target", "Owner/Model-GGUF:Q8_0")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "the hub cannot be reached" in result.stderr


NAME = "Model-Q8_0.gguf"


@pytest.fixture
def fake_hub(tmp_path: Path) -> Iterator[FakeHub]:
    path = write_gguf(tmp_path / "full.gguf")
    with serving(FakeHub("Owner/Model-GGUF", {NAME: path.read_bytes() + bytes(9_000_000)})) as hub:
        yield hub


def test_only_the_first_bytes_of_a_file_on_the_hub_are_fetched(
    fake_hub: FakeHub, tmp_path: Path
) -> None:
    client = Hub(fake_hub.endpoint, tmp_path / "hub")

    found = find(read_model("Owner/Model-GGUF:Q8_0"), say=lambda _: None, client=client)

    assert len(found.facts.layers) == 2
    assert fake_hub.ranges == ["bytes=0-4194303"]
    assert not (tmp_path / "hub").exists()


def test_a_command_names_a_model_without_the_host_that_ollama_writes(
    fake_hub: FakeHub, tmp_path: Path
) -> None:
    client = Hub(fake_hub.endpoint, tmp_path / "hub")

    found = find(read_model("hf.co/Owner/Model-GGUF:Q8_0"), say=lambda _: None, client=client)

    assert found.server_name == "-hf Owner/Model-GGUF:Q8_0"


def test_a_listed_model_is_planned_from_the_tables_unless_its_file_is_here(
    fake_hub: FakeHub, tmp_path: Path
) -> None:
    client = Hub(fake_hub.endpoint, tmp_path / "hub")
    snapshot = tmp_path / "hub" / "models--Qwen--Qwen3-8B-GGUF" / "snapshots" / "c0ffee"
    by_name = find(read_model("qwen3-8b"), say=lambda _: None, client=client)

    snapshot.mkdir(parents=True)
    write_gguf(snapshot / "Qwen3-8B-Q4_K_M.gguf")
    on_disk = find(read_model("qwen3-8b"), say=lambda _: None, client=client)

    assert fake_hub.asked == []
    assert (len(by_name.facts.layers), by_name.notes) == (36, ())  # the size of its file is listed
    assert by_name.server_name == "-hf Qwen/Qwen3-8B-GGUF:Q4_K_M"
    assert (len(on_disk.facts.layers), on_disk.notes) == (2, ())


def test_the_plan_says_once_that_sizes_are_from_the_table() -> None:
    found = document("qwen3-8b:Q6_K", *CARD)

    said = [each for each in found["warnings"] if "uses its published shape" in each]
    assert len(said) == 1
    assert said[0].endswith("name a file or owner/repo:quant for exact sizes")


def test_a_hub_without_range_requests_is_one_line(fake_hub: FakeHub, tmp_path: Path) -> None:
    fake_hub.without_ranges = True
    client = Hub(fake_hub.endpoint, tmp_path / "hub")

    with pytest.raises(MachineError, match="so its header cannot be read separately"):
        find(read_model("Owner/Model-GGUF:Q8_0"), say=lambda _: None, client=client)


def test_a_hub_file_that_is_not_a_model_is_one_line(tmp_path: Path) -> None:
    with serving(FakeHub("Owner/Model-GGUF", {NAME: b"<html>" * 10})) as hub:
        client = Hub(hub.endpoint, tmp_path / "hub")

        with pytest.raises(BadInputError, match="does not start with GGUF"):
            find(read_model("Owner/Model-GGUF:Q8_0"), say=lambda _: None, client=client)


def test_a_campaign_that_can_never_fit_is_refused_before_a_download(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = computer_of(MachineWords(ram=4))
    monkeypatch.setattr(room, "computer_of", lambda: small)

    with pytest.raises(MachineError, match=r"GiB are needed, but only .* GiB are free here"):
        room.require_room(("qwen3-32b", "qwen3-0.6b"), 2048)
    room.require_room(("smollm2-135m:f16", "smollm2-135m:q4_1"), 2048)
    room.require_room(("no-such-model",), 2048)
