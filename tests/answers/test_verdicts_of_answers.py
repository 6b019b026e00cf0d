"""An answer's recommendation follows from reported figures and predictions."""

import io
import re
from collections.abc import Iterable
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
from answers.evidence import Figure, Report
from answers.kin import rig_of
from answers.listed import question_by_name
from answers.machines import MachineWords, described_computer
from answers.speed import SpeedEstimate
from harness.machine.computer import computer_of
from harness.plan.report import show

MODEL = "qwen3.5-9b"  # with its own head
CARD = MachineWords(gpus=("RTX 4090 24 GB",), ram=64)
LONGEST = 14


def figure(speedup: float, method: str = "mtp", depth: int = 3, **others: object) -> Figure:
    usual = {"method": method, "depth": depth, "draft": None, "task": "all"}
    return Figure(**{**usual, "speedup": speedup, **others})  # type: ignore[arg-type]


def asked(*people: Iterable[Figure], words: MachineWords = CARD, **others: object) -> Question:
    """A question about the model on a card, for which each of these people reported figures."""
    computer = described_computer(words)
    card = rig_of(computer).card
    usual = {
        "tier": "published", "card": card, "cards": 1, "on_cpu": False, "backend": "cuda",
        "model": MODEL, "quantisation": "Q4_K_M", "engine": "llama.cpp", "build": None,
        "day": None, "people": 1,
    }  # fmt: skip
    reports = [
        Report(**{**usual, "person": str(n), "source": str(n), "figures": tuple(x), **others})  # type: ignore[arg-type]
        for n, x in enumerate(people)
    ]
    question = question_by_name(MODEL, computer, reports={MODEL: reports})
    assert question is not None
    assert len(question.reports) == len(reports)
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
    doubted = asked([figure(2.0)], doubts=("before 2025",))
    clean = asked([figure(2.0)])

    assert (answer(doubted).verdict, answer(clean).verdict) == ("Probably", "Yes")


def test_a_method_that_lost_there_is_never_recommended() -> None:
    found = answer(asked([figure(0.9)], [figure(0.95)]))
    only = asked([figure(0.9)], [figure(0.95)])
    only = replace(only, ways=tuple(way for way in only.ways if way.method == "mtp"))

    assert of_method(found, "mtp").figures is not None
    assert found.asked.speculation is None or found.asked.speculation.method != "mtp"
    assert answer(only).verdict in ("Probably not", "No")
    assert answer(only).best.speculation is None


def test_the_commands_are_about_the_named_way_if_it_helps() -> None:
    question = asked([figure(1.2, "ngram-simple", 8)])
    way = next(each for each in question.ways if each.method == "ngram-simple")

    found = answer(replace(question, named=way))

    assert max(each.tps.estimate for each in found.options) > found.asked.tps.estimate
    assert found.best is found.asked
    assert found.command is not None
    assert "--spec-type ngram-simple" in found.command.text


def test_a_loss_of_one_person_of_two_is_not_a_loss() -> None:
    found = answer(asked([figure(0.95)], [figure(1.6)]))

    # √(0.95 · 1.6) = 1.23, and 1.23 / 1.353 < 1.
    assert of_method(found, "mtp").gain == SpeedEstimate(
        estimate=pytest.approx(1.2329, abs=1e-4),  # type: ignore[arg-type]
        low=pytest.approx(0.9114, abs=1e-3),  # type: ignore[arg-type]
        high=pytest.approx(1.6679, abs=1e-3),  # type: ignore[arg-type]
        basis="published",
    )
    assert found.verdict == "Probably"


def test_a_figure_takes_the_place_of_the_prediction_of_its_method() -> None:
    predicted = of_method(answer(asked()), "mtp")
    found = answer(asked([figure(1.4, depth=2)]))

    figures = of_method(found, "mtp")

    assert predicted.gain is not None
    assert predicted.gain.basis == "predicted"
    assert figures.gain is not None
    assert (figures.gain.basis, round(figures.gain.estimate, 4)) == ("published", 1.4)
    assert figures.speculation is not None
    assert figures.speculation.depth == 2


def test_a_reported_gain_comes_before_a_greater_predicted_one() -> None:
    found = answer(asked([figure(1.5, "ngram-simple", 8)]))

    assert found.judged is of_method(found, "ngram-simple")
    assert of_method(found, "mtp").figures is None


def test_another_depth_that_is_named_is_predicted() -> None:
    question = asked([figure(1.4, depth=2)])
    deeper = catalog.ways_of(
        MODEL, question.target, figures_of(question), catalog.model_named, depth=6
    )

    found = of_method(answer(replace(question, ways=deeper)), "mtp")

    assert found.figures is None
    assert found.gain is not None
    assert found.gain.basis == "predicted"
    assert found.speculation is not None
    assert found.speculation.depth == 6


def test_the_depth_that_people_tried_is_the_one_that_is_recommended() -> None:
    found = answer(asked([figure(1.7, depth=5)], [figure(1.9, depth=5), figure(2.0, depth=1)]))

    assert found.asked.speculation is not None
    assert found.asked.speculation.depth == 5


def test_a_way_that_does_not_fit_is_not_recommended() -> None:
    question = asked()
    # 42 GB of a draft for a card of 24 GB.
    large = catalog.way_by(
        "draft-model", MODEL, question.target, catalog.model_named("llama-3.3-70b"), "llama-3.3-70b"
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
    found = as_json(with_details(answer(asked([figure(1.5)], [figure(1.7)]))))

    assert isinstance(found, dict)
    assert (found["verdict"], found["chance"]) == ("Yes", 0.995)
    # ln 1.5969 over ln 1.3528 / 1.6449 are 2.55 deviations.
    (evidence,) = found["evidence"]  # type: ignore[misc]
    assert isinstance(evidence, dict)
    assert (evidence["method"], evidence["depth"], evidence["people"]) == ("mtp", 3, 2)
    assert evidence["speedup"] == pytest.approx(1.5969, abs=1e-4)  # √(1.5 · 1.7)
    assert evidence["sources"] == ["0", "1"]


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
