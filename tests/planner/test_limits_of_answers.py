"""No answer exceeds what rounds can yield, and plain speeds fall as more is read."""

import random
from functools import cache

import pytest
from msgspec.structs import replace

from planner.answer import Answer, answer
from planner.catalog import model_meant
from planner.deciding import deciding
from planner.listed import listed_machines, listed_models, question_by_name
from planner.machines import Computer, MachineWords, described_computer
from planner.model import LayerPlacement
from planner.names import read_model
from planner.placement import project
from planner.question import Question
from planner.speed import plain
from planner.ways import OwnRounds
from planner.words import lines, verdict
from tests.nightly import few

RECOMMENDS = ("Yes", "Probably", "Try it")
QUANTISATIONS = ("Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")


@cache
def machines() -> tuple[MachineWords, ...]:
    return tuple(each.words for each in listed_machines(()) if each.gib or each.kind == "cpu")


@cache
def models() -> tuple[str, ...]:
    return tuple(name for _, name in listed_models(()) if model_meant(read_model(name)) is not None)


def question(seed: int) -> Question:
    """A random model on a random machine, with a random context and depth."""
    rng = random.Random(seed)  # noqa: S311 - questions of a test
    words = replace_ram(rng.choice(machines()), rng.choice([16.0, 32.0, 64.0, 128.0]))
    name = rng.choice(models())
    found = question_by_name(name, described_computer(words))
    assert found is not None
    context = rng.choice([2048, 4096, 16_384, 65_536, 131_072])
    ways = tuple(
        replace(way, depths=(rng.randint(1, 8),)) if rng.random() < 0.5 else way
        for way in found.ways
    )
    setting = replace(found.setting, context=context, kv_k=rng.choice(["f16", "q8_0"]))
    engine = rng.choice(["llama.cpp", "vllm", "mlx"])
    return replace(found, ways=ways, setting=setting, engine=engine)


def replace_ram(words: MachineWords, ram: float) -> MachineWords:
    return MachineWords(gpus=words.gpus, vram=words.vram, cpu=words.cpu, ram=words.ram or ram)


@pytest.mark.parametrize("seed", few(range(1000), 100))
def test_no_ratio_exceeds_what_its_rounds_can_yield(seed: int) -> None:
    found = answer(question(seed))

    for option in found.options:
        gain = option.gain
        assert gain is not None
        most = option.depth + 1
        assert 0 < gain.low <= gain.estimate <= gain.high <= most * 1.000001
        # A round that yields all of its tokens takes at least as long as a plain step.
        assert most / gain.estimate >= 0.999999
        assert option.tps.estimate == pytest.approx(found.alone.tps.estimate * gain.estimate)


@pytest.mark.parametrize("seed", few(range(1000), 100))
def test_at_the_expected_acceptance_the_strip_shows_the_gain_of_the_answer(seed: int) -> None:
    found = answer(question(seed))

    known = deciding(found)

    drafts = found.asked.fits and found.judged is not None and found.judged.way is not None
    if known is None:
        assert not drafts or found.judged.way.source == "text"  # type: ignore[union-attr]
        return
    assert found.judged is not None
    assert found.judged.gain is not None
    assert -0.01 <= known.expected <= 1.01
    assert known.gain(known.expected) == pytest.approx(found.judged.gain.estimate)
    assert known.cost >= 1
    assert list(known.strip.values()) == sorted(known.strip.values())
    if known.even is None:
        assert known.gain(1.0) < 1
    else:
        assert known.gain(known.even) == pytest.approx(1)


@pytest.mark.parametrize("seed", few(range(1000), 100))
def test_an_own_acceptance_gives_the_gain_that_the_strip_shows_for_it(seed: int) -> None:
    asked, share = question(seed), (seed % 11) / 10
    known = deciding(found := answer(asked))
    if known is None or found.judged is None or found.judged.way is None:
        return
    stated = OwnRounds.stated({known.depth: 1 + share * known.depth})
    way = replace(found.judged.way, depths=(known.depth,), accepted=stated)

    own = answer(replace(asked, ways=(way,), named=way))

    assert own.judged is not None
    assert own.judged.gain is not None
    assert own.judged.gain.estimate == pytest.approx(known.gain(share))
    again = deciding(own)
    assert again is not None
    assert (again.cost, again.is_own) == (pytest.approx(known.cost), True)
    assert again.expected == pytest.approx(share)


@pytest.mark.parametrize("seed", few(range(1000), 100))
def test_a_recommendation_has_a_gain_and_a_command(seed: int) -> None:
    asked = question(seed)
    found = answer(asked)

    if found.verdict in RECOMMENDS:
        assert found.judged is not None
        assert found.judged.gain is not None
        assert found.judged.gain.estimate >= 1.1
        assert found.asked is found.judged
        assert found.command is not None
    elif found.asked.fits:
        assert found.best.way is None
    if found.judged and found.judged.way and found.judged.way.source == "text":
        assert "text that repeats the prompt" in verdict(found) or not found.asked.fits


@pytest.mark.parametrize("seed", few(range(1000), 100))
def test_plain_speed_falls_with_the_file_the_context_and_layers_in_main_memory(seed: int) -> None:
    asked = question(seed)
    target, computer = asked.target.facts, asked.computer

    def speed(layers: int, factor: float = 1.0, context: int = asked.setting.context) -> float:
        wider = [
            replace(layer, weight_bytes=layer.weight_bytes * factor) for layer in target.layers
        ]
        facts = replace(target, layers=tuple(wider))
        load = replace(asked.load, target=facts, setting=replace(asked.setting, context=context))
        found = project(load, LayerPlacement(layers=layers))
        return plain(load, found, computer.speed).estimate

    whole = target.placed_layers if computer.devices else 0
    assert speed(whole) >= speed(whole, factor=1.3)
    assert speed(whole) >= speed(whole, context=4 * asked.setting.context)
    if computer.devices and not computer.unified and slower_host(computer):
        assert speed(whole) >= speed(whole // 2) >= speed(0)


def slower_host(computer: Computer) -> bool:
    """Whether main memory is known to be slower than the device's memory by a wide margin."""
    stated = all(each.bandwidth_gb_per_s for each in computer.devices)
    return stated and computer.speed.device >= 4 * computer.speed.host


@pytest.mark.parametrize("seed", few(range(1000), 100))
def test_the_printed_rates_divide_to_the_printed_ratio(seed: int) -> None:
    found = answer(question(seed))
    gain = found.asked.gain

    assert gain is None or found.asked.tps.estimate / found.alone.tps.estimate == pytest.approx(
        gain.estimate
    )


def of(model: str, *gpus: str, ram: float | None = None, **setting: object) -> Answer:
    found = question_by_name(model, described_computer(MachineWords(gpus=gpus, ram=ram)))
    assert found is not None
    found = replace(found, setting=replace(found.setting, **setting))  # type: ignore[arg-type]
    return answer(found)


def test_a_mixture_on_an_rtx_5090_gains_little() -> None:
    found = of("qwen3.6-35b-a3b", "RTX 5090")

    assert 200 <= found.alone.tps.estimate <= 240
    assert found.judged is not None
    assert found.judged.gain is not None
    assert found.judged.way is not None
    assert found.judged.way.method == "mtp"
    assert 1.0 <= found.judged.gain.estimate <= 1.3


def test_a_long_context_on_an_rtx_3090_is_not_answered_by_figures_of_short_ones() -> None:
    found = of("qwen3.8-27b", "RTX 3090", context=131_072, kv_k="q4_0", kv_v="q4_0")

    (head,) = (each for each in found.options if each.way and each.way.method == "mtp")
    assert head.gain is not None
    assert head.gain.estimate <= 2.2


def test_a_result_of_an_rtx_4070_ti_is_named_and_answered() -> None:
    found = of("qwen3.8-27b:IQ4_XS", "RTX 4070 Ti")

    words = " ".join(lines(found))
    assert "measured 1.07× for this card and model with MTP" in words  # noqa: RUF001 - as printed
    assert "5.00 → 5.36 tokens/s" in words
    assert found.alone.tps.estimate == pytest.approx(5.0, rel=0.1)
    assert found.judged is not None
    assert found.judged.tps.estimate == pytest.approx(5.4, rel=0.15)


def test_a_9b_model_on_a_laptop_has_its_usual_speeds() -> None:
    found = of("qwen3.5-9b:Q4_K_M", "RTX 4060 Laptop 8 GB")

    assert found.alone.tps.estimate == pytest.approx(35, rel=0.1)
    assert found.judged is not None
    assert found.judged.tps.estimate == pytest.approx(56, rel=0.2)
    assert found.verdict in RECOMMENDS


def test_two_cards_with_a_70b_model_get_no_drafts_from_the_text() -> None:
    found = of("llama-3.3-70b", "RTX 3090", "RTX 3090")

    assert found.best.way is None or found.best.way.source != "text"


def test_a_27b_model_on_cards_of_16_gb_gains_as_people_report() -> None:
    larger = of("qwen3.8-27b:Q3_K_M", "RTX 5080")
    tried = of("qwen3.8-27b:IQ4_XS", "RTX 5060 Ti 16 GB")

    assert larger.judged is not None
    assert larger.judged.gain is not None
    assert larger.alone.found.extent in ("yes", "barely")
    assert 1.5 <= larger.judged.gain.estimate <= 2.2
    # One person published 25.9 and 50.0 tokens/s.
    assert tried.judged is not None
    assert tried.alone.tps.estimate == pytest.approx(26, rel=0.1)
    assert tried.judged.tps.estimate == pytest.approx(54, rel=0.2)
