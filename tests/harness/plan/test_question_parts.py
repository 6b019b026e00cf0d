"""Every part of a question is used: engine, quantisation, context, main memory and task."""

from typing import Any

import pytest

from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from planner.answer import answer, notes_of
from planner.question import Question
from tests.harness.plan.test_plan_command import call


def asked(target: str, *, engine: str | None = None, **machine: Any) -> Question:  # noqa: ANN401
    """The question of a plan with this model or sentence."""
    return question_of(
        ModelOptions(target=target, engine=engine),
        load=LoadOptions(),
        computer=ComputerOptions(**machine),
        speed=SpeedOptions(),
        say=lambda _: None,
    )


@pytest.mark.parametrize(
    ("target", "engine"),
    [
        ("qwen3-8b", "llama.cpp"),
        ("qwen3-8b:Q4_K_M", "llama.cpp"),
        ("Qwen/Qwen3-8B-AWQ", "vllm"),
        ("qwen3-8b fp8", "vllm"),
        ("mlx-community/Qwen3-8B-4bit", "mlx"),
        ("qwen3-8b sglang", "sglang"),
    ],
)
def test_the_engine_is_typed_or_implied_else_llama_cpp(target: str, engine: str) -> None:
    question = asked(target, gpus=("RTX 4090",))

    assert (question.engine, question.target.engine) == (engine, engine)
    said = [note for note in question.notes if "engine is not stated" in note]
    assert len(said) == (target == "qwen3-8b")


def test_an_option_counts_before_the_text() -> None:
    assert asked("qwen3-8b vllm", engine="mlx", gpus=("M3 Max",)).engine == "mlx"


@pytest.mark.parametrize(
    ("target", "card", "quantisation"),
    [
        # 27 billion weights of 4.27 bits are 14.4 GB, of 4.8 bits 16.2 GB.
        ("qwen3.8-27b", "RTX 5060 Ti 16 GB", "IQ4_XS"),
        ("Qwen3.5 9B Q4_K_M", "RTX 4060 Laptop 8 GB", "Q4_K_M"),
        ("Qwen3.8-27B Q3_K_M", "RTX 5080", "Q3_K_M"),
        ("qwen3-8b", "RTX 4090", "Q8_0"),
        ("gpt-oss-20b", "RTX 4090", "MXFP4"),  # it has no other
        # Of 70 billion weights, not even 3 bits fit into 8 GB.
        ("llama-3.3-70b", "RTX 4060 8 GB", "Q4_K_M"),
    ],
)
def test_the_quantisation_is_the_typed_one_else_the_largest_that_fits_whole(
    target: str, card: str, quantisation: str
) -> None:
    question = asked(target, gpus=(card,), ram=64.0)
    found = answer(question)

    assert question.quantisation == quantisation
    assert found.asked.target.preset is not None
    assert found.asked.target.preset.quantisation == quantisation
    assert f", in {quantisation}" in call(target, "--gpu", card, "--ram", "64").stdout


def test_a_sentence_names_every_part() -> None:
    question = asked("2x3090 128GB DDR5 qwen3.6 27b q5 64k coding")

    assert [memory.card for memory in question.computer.devices] == ["rtx 3090"] * 2
    assert question.computer.host.free_mib == 126 * 1024
    assert (question.model, question.quantisation) == ("qwen3.6-27b", "Q5_K_M")
    assert (question.setting.context, question.task) == (65_536, "code")


def test_128_gb_of_main_memory_hold_the_experts_of_a_large_mixture() -> None:
    small, large = (
        answer(asked("gpt-oss-120b", gpus=("RTX 5090",), ram=ram)) for ram in (16.0, 128.0)
    )

    assert (small.verdict, small.asked.fits) == ("No", False)
    assert large.asked.fits
    assert large.verdict != "No"


def test_a_longer_context_is_slower_by_the_cache_that_is_read() -> None:
    plain = [
        answer(
            question_of(
                ModelOptions(target="qwen3-8b:Q4_K_M", draft="none"),
                load=LoadOptions(context=context),
                computer=ComputerOptions(gpus=("RTX 4090",)),
                speed=SpeedOptions(),
                say=lambda _: None,
            )
        ).alone.tps.estimate
        for context in (4096, 16_384, 32_768)
    ]

    assert plain == sorted(plain, reverse=True)
    assert plain[2] < 0.95 * plain[0]


def test_another_engine_gets_its_own_command() -> None:
    text = call("Qwen/Qwen3-8B-AWQ", "--draft", "ngram", "--gpu", "RTX 4090").stdout

    assert "vllm serve Qwen/Qwen3-8B-AWQ --max-model-len 4096" in text
    assert "llama-server" not in text


@pytest.mark.parametrize(
    ("target", "split"),
    [
        ("qwen3-8b", "the layers are divided among the 2 cards, without a tensor split"),
        ("Qwen/Qwen3-8B-AWQ", "each layer is divided among the 2 cards (tensor split)"),
    ],
)
def test_several_cards_are_split_as_the_engine_does_it(target: str, split: str) -> None:
    found = answer(asked(target, gpus=("RTX 3090", "RTX 3090"), ram=64.0))

    assert any(note.startswith(split) for note in notes_of(found))
