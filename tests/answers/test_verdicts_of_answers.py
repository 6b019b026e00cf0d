"""An answer's recommendation follows from reported figures and predictions."""

import io
import re
from itertools import product

import psutil
import pytest
from msgspec.structs import replace
from rich.console import Console

from answers import catalog
from answers.advice import verdict_of
from answers.alternatives import with_details
from answers.answer import Answer, Question, answer, figures_of
from answers.answer_json import as_json
from answers.choices import PlanOption
from answers.evidence import PairFigure
from answers.kin import rig_of
from answers.listed import question_by_name
from answers.machines import MachineWords, described_computer
from answers.speed import SpeedEstimate
from harness.machine.computer import computer_of
from harness.plan.report import show
from tests.answers.figures import pair

MODEL = "qwen3.5-9b"  # with its own head
CARD = MachineWords(gpus=("RTX 4090 24 GB",), ram=64)
LONGEST = 14


def asked(*known: PairFigure, words: MachineWords = CARD) -> Question:
    """A question about the model on a card, with these figures of the map."""
    computer = described_computer(words)
    rig = rig_of(computer)
    here = [replace(each, card=rig.card, gib=None, model=MODEL) for each in known]
    question = question_by_name(MODEL, computer, pairs={MODEL: here})
    assert question is not None
    return question


def of_method(found: Answer, method: str) -> PlanOption:
    (one,) = (x for x in found.options if x.speculation and x.speculation.method == method)
    return one


def with_gain(estimate: float, low: float, high: float) -> PlanOption:
    """A predicted way that fits, with this interval."""
    choice = of_method(answer(asked()), "mtp")
    gain = SpeedEstimate(estimate=estimate, low=low, high=high, basis="nearest")
    return replace(choice, gain=gain)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((1.3, 1.1, 1.5), "Probably"),  # 99 %, and nobody tried it
        ((1.2, 0.96, 1.5), "Probably"),  # 91 %
        ((1.05, 0.8, 1.4), "Try it"),  # 62 %
        ((0.95, 0.8, 1.1), "Try it"),  # 28 %
        ((0.9, 0.8, 1.02), "Probably not"),  # 8 %
        ((0.8, 0.7, 0.95), "Probably not"),
    ],
)
def test_the_verdict_of_a_prediction_is_from_its_interval_and_the_chance_of_a_gain(
    interval: tuple[float, float, float], verdict: str
) -> None:
    assert verdict_of(with_gain(*interval))[0] == verdict


def test_figures_with_a_doubt_are_never_alone_behind_a_yes() -> None:
    doubted = asked(pair(2.0, sure=False))
    clean = asked(pair(2.0))

    assert (answer(doubted).verdict, answer(clean).verdict) == ("Probably", "Yes")


def test_a_method_that_lost_there_is_never_recommended() -> None:
    found = answer(asked(pair(0.92, people=2)))
    only = asked(pair(0.92, people=2))
    only = replace(only, ways=tuple(way for way in only.ways if way.method == "mtp"))

    assert of_method(found, "mtp").figures is not None
    assert found.asked.speculation is None or found.asked.speculation.method != "mtp"
    assert answer(only).verdict in ("Probably not", "No")
    assert answer(only).best.speculation is None


def test_the_commands_are_about_the_named_way_if_it_helps() -> None:
    question = asked(pair(1.2, method="ngram-simple", depth=8))
    way = next(each for each in question.ways if each.method == "ngram-simple")

    found = answer(replace(question, named=way))

    assert max(each.tps.estimate for each in found.options) > found.asked.tps.estimate
    assert found.best is found.asked
    assert found.command is not None
    assert "--spec-type ngram-simple" in found.command.text


def test_a_figure_takes_the_place_of_the_prediction_of_its_method() -> None:
    predicted = of_method(answer(asked()), "mtp")
    found = answer(asked(pair(1.4, depth=2)))

    figures = of_method(found, "mtp")

    assert predicted.gain is not None
    assert predicted.gain.basis == "predicted"
    assert figures.gain is not None
    assert (figures.gain.basis, round(figures.gain.estimate, 4)) == ("published", 1.4)
    assert figures.speculation is not None
    assert figures.speculation.depth == 2


def test_a_reported_gain_comes_before_a_greater_predicted_one() -> None:
    found = answer(asked(pair(1.5, method="ngram-simple", depth=8)))

    assert found.judged is of_method(found, "ngram-simple")
    assert of_method(found, "mtp").figures is None


def test_another_depth_that_is_named_is_predicted() -> None:
    question = asked(pair(1.4, depth=2))
    deeper = catalog.ways_of(question.target, figures_of(question), depth=6)

    found = of_method(answer(replace(question, ways=deeper)), "mtp")

    assert found.figures is None
    assert found.gain is not None
    assert found.gain.basis == "predicted"
    assert found.speculation is not None
    assert found.speculation.depth == 6


def test_the_depth_that_people_tried_is_the_one_that_is_recommended() -> None:
    found = answer(asked(pair(1.8, people=2, depth=5, depths=(1, 5))))

    assert found.asked.speculation is not None
    assert found.asked.speculation.depth == 5


def test_a_way_that_does_not_fit_is_not_recommended() -> None:
    question = asked()
    # 42 GB of a draft for a card of 24 GB.
    large = catalog.way_by(
        "draft-model", question.target, catalog.model_named("llama-3.3-70b"), "llama-3.3-70b"
    )

    found = answer(replace(question, ways=(large,)))
    named = answer(replace(question, ways=(large,), named=large))

    assert (found.verdict, found.asked.speculation) == ("No", None)
    assert found.command is not None
    assert "llama-3.3" not in found.command.text
    assert named.verdict == "No"
    assert "does not fit" in printed(named)


def test_if_nothing_fits_no_command_is_given() -> None:
    found = with_details(answer(asked(words=MachineWords(gpus=("none",), ram=4))))

    assert found.command is None
    assert printed(found).startswith(
        "No: the model does not fit: main memory has 2.0 GiB free, but "
    )
    assert "Use it" not in printed(found)


def test_the_object_has_the_verdict_its_chance_and_the_evidence() -> None:
    known = pair(1.6, people=2, least=1.5, most=1.7, baseline_tps=40.0, tps=64.0, rated=2)

    found = as_json(with_details(answer(asked(known))))

    assert isinstance(found, dict)
    # ln 1.6 over ln 1.3528 / 1.6449 are 2.56 deviations.
    assert (found["verdict"], found["chance"]) == ("Yes", 0.995)
    assert found["evidence"] == [
        {
            "device": "rtx-4090-24-gb", "target": "m", "method": "mtp", "tier": "published",
            "people": 2, "speedup": 1.6, "least": 1.5, "most": 1.7, "baseline_tps": 40.0,
            "tps": 64.0, "rated": 2, "depths": [3], "quantisations": [],
        }
    ]  # fmt: skip


def test_rates_are_those_of_the_people_behind_the_figure() -> None:
    known = pair(1.6, people=2, baseline_tps=40.0, tps=64.0, rated=2)

    assert GAIN.findall(printed(answer(asked(known)))) == [("64.0", "40.0", "1.60")]


def test_a_figure_of_unknown_placement_is_quoted_if_the_model_is_only_partly_on_the_card() -> None:
    small = MachineWords(gpus=("RTX 3050 4 GB",), ram=32)

    found = answer(asked(pair(2.0, people=4, least=1.5, most=2.5), words=small))

    assert of_method(found, "mtp").figures is None
    words = printed(found).replace("\n", " ")
    assert "4 people published 2.00" in words
    assert "(layers on the card not stated)" in words


def test_nobody_is_said_only_of_methods_that_nobody_tried() -> None:
    alone, other = answer(asked()), answer(asked(pair(1.2, method="dflash", draft="x")))

    assert "nobody has published a result with this model" in printed(alone).replace("\n", " ")
    assert "nobody has published a result" not in printed(other).replace("\n", " ")


CARDS = {
    "RTX 3060 12 GB": MachineWords(gpus=("RTX 3060 12 GB",), ram=32),
    "RTX 4090": MachineWords(gpus=("RTX 4090 24 GB",), ram=64),
    "two 3090": MachineWords(gpus=("RTX 3090 24 GB", "RTX 3090 24 GB"), ram=64),
    "RX 7900 XTX": MachineWords(gpus=("RX 7900 XTX 24 GB",), ram=32),
    "GTX 1060": MachineWords(gpus=("GTX 1060 6 GB",), ram=16),
    "a Mac": MachineWords(gpus=("Apple M3 Max 64 GB",)),
    "no card": MachineWords(gpus=("none",), ram=32),
    "a server's processor": MachineWords(gpus=("none",), cpu="epyc 2 threads", ram=32),
}
MODELS = ("qwen3.8-27b", "qwen3-4b:Q8_0", "gpt-oss-20b", "llama-3.3-70b", "smollm2-135m:f16")
GAIN = re.compile(r"about ([\d.,]+) tokens/s instead of ([\d.,]+): ([\d.]+)\N{MULTIPLICATION SIGN}")


def answered(card: str, model: str) -> Answer:
    question = question_by_name(model, described_computer(CARDS[card]))
    assert question is not None
    return with_details(answer(question))


def printed(found: Answer) -> str:
    screen = Console(file=io.StringIO(), width=80)
    show(found, screen, details=False)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize(("card", "model"), [*product(CARDS, MODELS)])
def test_an_answer_is_short_and_its_figures_agree(card: str, model: str) -> None:
    text = printed(answered(card, model))

    assert len(text.splitlines()) <= LONGEST, text
    assert "\n\n\n" not in text
    if gain := GAIN.search(text):
        after, before, ratio = map(bounds, gain.groups())
        assert before[0] * ratio[0] <= after[1]
        assert after[0] <= before[1] * ratio[1]
    else:
        assert re.match(r"No|Probably not|Try it: the result may go either way", text), text


def bounds(figure: str) -> tuple[float, float]:
    """The range of values that a rounded figure may have."""
    plain = figure.replace(",", "")
    digits = len(plain.partition(".")[2])
    half = 0.5 * 10.0**-digits
    return float(plain) - half, float(plain) + half


@pytest.mark.parametrize(
    ("words", "gib"),
    [
        (MachineWords(gpus=("RTX 4060 8 GB",)), 32),
        (MachineWords(gpus=("none",)), 32),
        (MachineWords(vram=12.0), 32),
        (MachineWords(ram=16.0), 16),
        (MachineWords(gpus=("Apple M3 Max 64 GB",)), 64),
    ],
    ids=["a card", "no card", "a size of a card", "main memory", "a Mac"],
)
def test_a_machine_in_words_never_gets_this_computers_memory(
    words: MachineWords, gib: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untouched() -> object:
        raise AssertionError("this computer's memory was read")

    monkeypatch.setattr(psutil, "virtual_memory", untouched)

    found = computer_of(words)

    assert found.host.free_mib == (gib - 2) * 1024  # the system needs two
    assert found.described
