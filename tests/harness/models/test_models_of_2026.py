"""The models that people run in 2026 are known, with the memory they need and their drafts."""

import pytest

from harness.machine.computer import computer_of
from harness.models.hub import choose
from harness.models.overview import assess, facts_about, need_of
from planner.machines import MachineWords
from planner.names import read_model
from planner.planner_errors import planner_errors
from planner.presets import presets
from planner.shapes import shape_of
from schemas.vocabulary import METHODS

MODELS_OF_2026 = {
    "qwen3.8-27b": ("RTX 4090", 24),
    "qwen3.8-flash-next": ("GB10", 128),
    "qwen3.6-35b-a3b": ("RTX 5090", 32),
    "gemma-4-12b": ("RTX 3060", 12),
    "gemma-4-26b-a4b": ("RTX 4090", 24),
    "gemma-4-31b": ("RTX 4090", 24),
    "gpt-oss-20b": ("RTX 5080", 16),
    "gpt-oss-120b": ("RTX PRO 6000 Blackwell", 96),
}


@pytest.mark.parametrize("name", MODELS_OF_2026)
def test_a_model_of_2026_fits_a_card_even_with_the_planners_worst_error(name: str) -> None:
    card, gib = MODELS_OF_2026[name]
    here = computer_of(MachineWords(gpus=(card,), vram=gib, ram=gib))

    needed = need_of(here, 2048, facts_about(presets()[name])).needed_bytes

    assert needed is not None
    assert needed / 2**20 + planner_errors().memory.total_worst_mib < gib * 1024


@pytest.mark.parametrize("name", MODELS_OF_2026)
def test_a_model_of_2026_names_its_draft(name: str) -> None:
    preset = presets()[name]

    assert preset.method in METHODS
    assert METHODS[preset.method].draft != "required"


def test_the_shapes_of_2026_have_the_parameters_in_their_names() -> None:
    billions = {
        name: round(shape.parameters / 1e9)
        for name in ("qwen3.8-flash-next", "gemma-4-26b-a4b", "gemma-4-31b")
        if (shape := shape_of(read_model(presets()[name].model).slug))
    }

    assert billions == {"qwen3.8-flash-next": 125, "gemma-4-26b-a4b": 25, "gemma-4-31b": 30}


def test_a_head_of_known_size_needs_about_its_bytes_a_cache_and_a_step() -> None:
    # 2056 MB are five layers of the target's; a token of context takes 2 * 1024 * 2 bytes in each.
    card = computer_of(MachineWords(vram=24))
    head, unknown = presets()["qwen3.8-27b-dflash2"], presets()["qwen3.6-27b-dflash"]

    short, long = (
        need_of(card, tokens, facts_about(head)).needed_bytes or 0 for tokens in (2048, 4096)
    )

    masks = 2048 * 512 * 2
    assert long - short == pytest.approx(5 * 2048 * 4096 + masks, rel=0.01)
    assert 2056e6 < short < 1.15 * 2056e6
    assert facts_about(unknown) is None


def test_a_head_next_to_its_model_is_fetched_by_its_name() -> None:
    files = ["gemma-4-31B-it-Q8_0.gguf", "mtp-gemma-4-31B-it-Q8_0.gguf"]
    assistant = presets()["gemma-4-31b-assistant"]

    found = choose(files, "ggml-org/gemma-4-31B-it-GGUF", assistant.reference.partition(":")[2])

    assert found == ("mtp-gemma-4-31B-it-Q8_0.gguf",)
    assert choose(files, "ggml-org/gemma-4-31B-it-GGUF", "Q8_0") == ("gemma-4-31B-it-Q8_0.gguf",)


def test_models_that_fit_come_first_and_those_of_unknown_size_last() -> None:
    here = computer_of(MachineWords(vram=12, ram=16))

    listed = [entry.fits for entry in assess(here, 2048).models]

    order = ["yes", "barely", "partly", "no", None]
    assert listed == sorted(listed, key=order.index)
    assert set(listed) == set(order)
