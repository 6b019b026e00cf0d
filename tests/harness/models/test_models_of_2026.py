"""The models that people run in 2026 are known, with the memory they need and their drafts.

The run of the month picks one of them.
"""

import re

import pytest

from answers.learned import logged_memory_error
from answers.machines import MachineWords
from answers.presets import presets
from answers.shapes import shape_of
from estimates.summary import summarize
from harness import __version__
from harness.campaign.options import Options
from harness.machine.computer import computer_of
from harness.models.hub import choose
from harness.models.overview import assess, facts_about, need_of
from harness.report.expected_time import MachineRate
from harness.run import month
from harness.run.month import line, of_the_month
from schemas.vocabulary import METHODS
from tests.samples import sample

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
    assert needed / 2**20 + logged_memory_error().total_worst_mib < gib * 1024


@pytest.mark.parametrize("name", MODELS_OF_2026)
def test_a_model_of_2026_names_its_draft(name: str) -> None:
    preset = presets()[name]

    assert preset.method in METHODS
    assert METHODS[preset.method].draft != "required"


def test_the_shapes_of_2026_have_the_parameters_in_their_names() -> None:
    billions = {
        name: round(shape.parameters / 1e9)
        for name in ("qwen3.8-flash-next", "gemma-4-26b-a4b", "gemma-4-31b")
        if (shape := shape_of(presets()[name].model))
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


def on_a_card(monkeypatch: pytest.MonkeyPatch, gib: int) -> Options:
    here = computer_of(MachineWords(vram=gib))
    monkeypatch.setattr(month, "computer_of", lambda: here)
    return of_the_month(Options())


@pytest.mark.parametrize(
    ("gib", "target"),
    [(24, "qwen3.8-27b"), (17, "qwen3.8-27b:iq4_xs"), (12, "qwen3.8-27b:iq2_xxs"), (8, None)],
)
def test_the_run_of_the_month_takes_the_largest_of_its_targets_that_fits(
    monkeypatch: pytest.MonkeyPatch, gib: int, target: str | None
) -> None:
    options = on_a_card(monkeypatch, gib)

    assert options.target == target
    assert options.tasks == ("code", "chat")


@pytest.mark.parametrize(("gb_per_s", "target"), [(80, "qwen3.8-27b"), (10, None)])
def test_a_cpu_gets_only_a_model_that_runs_in_minutes(
    monkeypatch: pytest.MonkeyPatch, gb_per_s: int, target: str | None
) -> None:
    # 17 GB of weights for each token: 0.2 s and 1.7 s.
    here = computer_of(MachineWords(ram=64))
    rate = MachineRate(bytes_per_s=gb_per_s * 1e9, threads=8)
    monkeypatch.setattr(month, "computer_of", lambda: here)
    monkeypatch.setattr(month, "this_machine", lambda _threads: rate)

    assert of_the_month(Options()).target == target


def test_given_options_are_kept() -> None:
    options = of_the_month(Options(target="my.gguf", blocks=5))

    assert (options.target, options.blocks, options.prompts) == ("my.gguf", 5, ("3",))


def test_the_line_to_paste_names_machine_model_method_and_each_task() -> None:
    submission = sample(seed=1, gpu="NVIDIA GeForce RTX 4060", backend="cuda")

    pasted = line(submission, summarize(submission))

    assert re.fullmatch(
        r"RTX 4060 \d+ GB · .+ · .+ \d+ · (\d+\.\d\d× \w+(, )?)+ · draftmap "  # noqa: RUF001
        + re.escape(__version__),
        pasted,
    )


def test_models_that_fit_come_first_and_those_of_unknown_size_last() -> None:
    here = computer_of(MachineWords(vram=12, ram=16))

    listed = [entry.fits for entry in assess(here, 2048).models]

    order = ["yes", "barely", "partly", "no", None]
    assert listed == sorted(listed, key=order.index)
    assert set(listed) == set(order)
