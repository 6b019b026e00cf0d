"""`models` and `models get` print clear lines and end with their exit codes."""

import dataclasses
import json
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.commands import welcome
from harness.machine import detect
from harness.machine.computer import computer_of
from harness.machine.detect import machine
from harness.models.overview import assess, facts_about, memory_of, need_of
from planner.machines import Computer, MachineWords
from planner.model import Memory
from planner.presets import presets
from schemas.submission import Gpu
from tests.harness.ggufs import write_gguf


@pytest.fixture(autouse=True)
def empty_hub(cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache, and no reachable network."""
    folder = cache_dir / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    return folder


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["models", *arguments])


def card(free_gib: float) -> Computer:
    """A machine with this much free memory on its card, and equal main memory."""
    described = computer_of(MachineWords(gpus=("RTX 4060 8 GB",), ram=free_gib + 2))
    memory = Memory(name="RTX 4060", free_mib=free_gib * 1024)
    return replace(described, devices=(memory,))


def test_the_list_is_readable_at_80_columns() -> None:
    lines = call().stdout.splitlines()

    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)
    assert any(line.startswith("llama-3.1-8b ") and " llama3.1 " in line for line in lines)
    assert " bartowski/Meta-Llama-3.1-8B-Instruct-GGUF" in lines
    assert any(line.startswith("Mistral-Nemo-12B") and " no " in line for line in lines)


def test_the_list_says_what_memory_it_means() -> None:
    document = json.loads(call("--json").stdout)

    assert document["context_tokens"] == 2048
    assert document["memory"]["free_mib"] > 0
    assert f"GiB of free memory ({document['memory']['name']})" in " ".join(call().stdout.split())


def test_a_file_in_the_hubs_cache_is_here_and_counts_with_its_own_size(empty_hub: Path) -> None:
    snapshot = empty_hub / "models--Qwen--Qwen3-8B-GGUF" / "snapshots" / "c0ffee"
    snapshot.mkdir(parents=True)
    (snapshot / "Qwen3-8B-Q4_K_M.gguf").write_bytes(b"x" * 1000)

    found = assess(card(24), 2048)

    entry = next(entry for entry in found.models if entry.preset.name == "qwen3-8b")
    assert (entry.on_disk, entry.file_bytes) == (True, 1000)
    # The file without its token embedding, which stays in main memory: 4.5 bits a weight.
    weights = 1000 - 151936 * 4096 * 4.5 / 8
    # 36 layers · 8 KV heads · 128 · keys and values · 2 bytes · 2048 tokens
    cache = 36 * 8 * 128 * 2 * 2 * 2048
    # 512 tokens: a 16-bit mask, and gate, up and product with three rows, in 32 bits.
    compute = 512 * (2048 * 2 + (3 * 12288 + 3 * 4096) * 4)
    assert entry.needed_bytes == weights + cache + compute


def test_main_memory_holds_weights_cache_compute_and_output() -> None:
    ram = replace(card(24), devices=())

    # 4920 MB of weights; 128 KiB of cache a token; 512 tokens of compute: a mask, and gate, up and
    # product with four rows; the logits of one token.
    compute = 512 * (2048 * 2 + (3 * 14336 + 4 * 4096) * 4)
    assert need_of(ram, 2048, facts_about(presets()["llama-3.1-8b"])).needed_bytes == (
        4_920_000_000 + 2048 * 128 * 1024 + compute + 128256 * 4
    )


@pytest.mark.parametrize(
    ("free_gib", "ram_gib", "expected"),
    [(9, 16, "yes"), (5.9, 16, "yes"), (5.4, 16, "barely"), (4.8, 16, "partly"), (2, 2, "no")],
)
def test_a_model_fits_with_the_margin_to_spare_else_partly_while_main_memory_has_the_rest(
    free_gib: float, ram_gib: float, expected: str
) -> None:
    # 4920 MB of weights but for 281 MB of embedding, 256 MiB of cache, 116 MiB of compute: 4.8 GiB
    # with 1 GiB to spare, or at least with 140 MiB for the runtime.
    host = Memory(name="host", free_mib=ram_gib * 1024)
    here = replace(card(free_gib), host=host)

    assert need_of(here, 2048, facts_about(presets()["llama-3.1-8b"])).fits == expected


def test_unknown_sizes_get_no_answer() -> None:
    assert need_of(card(24), 2048, None).fits is None


def of_this(
    monkeypatch: pytest.MonkeyPatch, *gpus: tuple[str, Literal["nvidia", "amd"], int]
) -> Computer:
    """The local machine with other cards."""
    listed = tuple(Gpu(name=name, vendor=vendor, vram_mib=mib) for name, vendor, mib in gpus)
    rig = dataclasses.replace(machine(), ram_mib=1000, gpus=listed)
    monkeypatch.setattr(detect, "machine", lambda: rig)
    return computer_of()


def test_cards_of_one_vendor_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found = memory_of(
        of_this(monkeypatch, ("A", "nvidia", 8192), ("B", "nvidia", 4096), ("C", "amd", 8192))
    )

    # 5 % and 700 MiB of each are taken.
    assert (found.name, found.kind, found.free_mib) == ("A + B", "gpu", 12288 * 0.95 - 1400)


def test_without_a_card_the_main_memory_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = memory_of(of_this(monkeypatch))

    assert (found.name, found.kind) == ("main memory", "ram")


def test_a_preset_brings_its_draft_and_local_files_are_not_fetched_again(empty_hub: Path) -> None:
    lying = []
    for repository, name in (
        ("Qwen3-8B", "Qwen3-8B-Q4_K_M.gguf"),
        ("Qwen3-0.6B", "Qwen3-0.6B-Q8_0.gguf"),
    ):
        folder = empty_hub / f"models--Qwen--{repository}-GGUF" / "snapshots" / "c0ffee"
        folder.mkdir(parents=True)
        write_gguf(folder / name)
        lying.append(str(folder / name))

    both = call("get", "qwen3-8b")
    alone = call("get", "qwen3-8b", "--no-draft")

    assert both.stdout.splitlines() == lying
    assert both.stderr == (
        "qwen3-8b is already on this disk.\nqwen3-0.6b is already on this disk.\n"
    )
    assert alone.stdout.splitlines() == lying[:1]


def page(found: Computer, *, version: str | None, server: str | None = None) -> str:
    described = assess(found, 2048)
    return "\n".join(welcome.lines(machine(), described, version=version, server=server))


def test_the_program_without_arguments_lists_its_findings_and_next_steps(empty_hub: Path) -> None:
    assert not empty_hub.exists()

    text = page(card(8), version="0.3.36", server="/usr/bin/llama-server")
    on_processor = page(replace(card(8), devices=()), version="0.3.36")

    assert "Engine   llama-cpp-python 0.3.36 and /usr/bin/llama-server" in text
    models = sum(each.head is None for each in presets().values())
    assert f"of {models} known models fit into 8.0 GiB of free memory (RTX 4060), " in text
    assert "python -m harness run --quick\n" in text
    # Of the pairs that fit 8 GiB the largest target for a card, and the smallest for a processor.
    assert "python -m harness run --quick --target qwen3-8b\n" in text
    assert "python -m harness run --quick --target qwen2.5-coder-7b\n" in on_processor
    assert len(text.splitlines()) <= 24


def test_without_an_engine_the_next_step_is_to_install_one(empty_hub: Path) -> None:
    assert not empty_hub.exists()

    text = page(card(8), version=None)

    assert "Engine   none: no llama-cpp-python, and no llama-server on PATH" in text
    assert "pip install '.[inprocess]'" in text.splitlines()[-1]
    assert "run --quick" not in text
