"""An answer's recommendation follows from reported figures and predictions."""

import io
import re
from itertools import product
from typing import Any

import psutil
import pytest
from msgspec.structs import replace
from rich.console import Console

from harness.machine.computer import computer_of
from harness.plan.report import show
from planner import catalog
from planner.advice import most_promising, verdict_of
from planner.answer import Answer, answer
from planner.answer_json import as_json
from planner.choices import PlanOption
from planner.evidence import PairFigure, rig_of
from planner.listed import question_by_name
from planner.machines import MachineWords, described_computer
from planner.names import read_model
from planner.question import Question
from planner.speed import Basis, SpeedEstimate
from planner.words import accuracy
from tests.planner.figures import pair

MODEL = "qwen3.5-9b"  # with its own head
CARD = MachineWords(gpus=("RTX 4090 24 GB",), ram=64)
LONGEST = 14
MEASURED = SpeedEstimate(estimate=1.5, low=1.4, high=1.6, basis="here")


def asked(*known: PairFigure, words: MachineWords = CARD) -> Question:
    """A question about the model on a card, with these figures of the map."""
    computer = described_computer(words)
    rig = rig_of(computer)
    here = [replace(each, card=rig.card, gib=None, model=MODEL) for each in known]
    question = question_by_name(MODEL, computer, pairs={MODEL: here})
    assert question is not None
    return question


def of_method(found: Answer, method: str) -> PlanOption:
    (one,) = (x for x in found.options if x.way and x.way.method == method)
    return one


def with_gain(estimate: float, low: float, high: float) -> PlanOption:
    """A predicted way that fits, with this interval."""
    choice = of_method(answer(asked()), "mtp")
    gain = SpeedEstimate(estimate=estimate, low=low, high=high, basis="predicted")
    return replace(choice, gain=gain)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((1.6, 1.1, 2.3), "Probably"),  # 98 %, and nobody tried it
        ((1.4, 0.95, 2.0), "Probably"),  # 92 %
        ((1.2, 0.8, 1.8), "Try it"),  # 77 %
        ((1.09, 1.0, 1.2), "No reason to"),  # a sure gain of 9 % is not worth the memory
        ((0.95, 0.7, 1.4), "No reason to"),  # 41 %
        ((0.8, 0.6, 1.1), "Probably not"),  # 12 %
        ((0.5, 0.3, 0.8), "Probably not"),  # nobody tried it
    ],
)
def test_the_verdict_of_a_prediction_is_from_its_estimate_and_the_chance_of_a_gain(
    interval: tuple[float, float, float], verdict: str
) -> None:
    assert verdict_of(with_gain(*interval))[0] == verdict


def test_yes_and_no_need_several_people_or_raw_trials() -> None:
    gains, loses = (2.2, 1.5, 3.2), (0.5, 0.3, 0.8)

    def verdicts(**others: object) -> list[str]:
        figures = pair(2.0, **others)
        return [
            verdict_of(replace(with_gain(*each), figures=figures))[0] for each in (gains, loses)
        ]

    assert verdicts() == ["Probably", "Probably not"]
    assert verdicts(people=2) == ["Yes", "No"]
    assert verdicts(tier="measured") == ["Yes", "No"]
    assert verdicts(people=2, sure=False) == ["Probably", "No"]


def test_a_method_that_several_people_lost_with_there_is_not_recommended() -> None:
    found = answer(asked(pair(0.8, people=5)))
    only = asked(pair(0.8, people=5))
    only = replace(only, ways=tuple(way for way in only.ways if way.method == "mtp"))

    assert found.asked.way is None or found.asked.way.method != "mtp"
    assert answer(only).verdict in ("No reason to", "Probably not", "No")
    assert answer(only).best.way is None


def test_of_methods_whose_intervals_overlap_the_one_that_most_people_tried_comes_first() -> None:
    known, newer = with_gain(1.5, 1.0, 2.2), with_gain(1.9, 1.2, 3.0)
    far = with_gain(1.15, 0.9, 1.19)
    losing = with_gain(0.9, 0.6, 1.4)

    tried = [
        replace(choice, tried=(0, people, 9.0))
        for choice, people in ((newer, 2), (known, 7), (far, 50), (losing, 99))
    ]

    assert most_promising(tried) is tried[1]
    assert most_promising(tried[:1]) is tried[0]
    assert most_promising(tried[3:]) is tried[3]


def test_drafts_from_the_text_are_recommended_only_if_people_tried_them_with_the_model() -> None:
    def verdict(*known: PairFigure) -> str:
        return verdict_of(of_method(answer(asked(*known)), "ngram-simple"))[0]

    assert verdict() in ("No reason to", "Probably not")
    assert verdict(pair(1.6, method="ngram-simple", people=6, depth=8)) in ("Try it", "Probably")


def test_the_commands_are_about_the_named_way_if_it_helps() -> None:
    question = asked(pair(1.2, method="ngram-simple", depth=8))
    way = next(each for each in question.ways if each.method == "ngram-simple")

    found = answer(replace(question, named=way))

    assert max(each.tps.estimate for each in found.options) > found.asked.tps.estimate
    assert found.best is found.asked
    assert found.command is not None
    assert "--spec-type ngram-simple" in found.command.text


def test_figures_pull_the_estimate_towards_themselves() -> None:
    alone, one, ten = (
        of_method(answer(asked(*known)), "mtp").gain
        for known in ((), (pair(3.0, depth=3),), (pair(3.0, people=10, depth=3),))
    )

    assert alone is not None
    assert one is not None
    assert ten is not None
    assert (alone.basis, one.basis) == ("predicted", "published")
    assert alone.estimate < one.estimate < ten.estimate < 3.0
    assert ten.high / ten.low < one.high / one.low < alone.high / alone.low


def test_figures_of_another_engine_or_placement_pull_less() -> None:
    def estimate(**others: object) -> float:
        gain = of_method(answer(asked(pair(3.0, people=5, **others))), "mtp").gain
        assert gain is not None
        return gain.estimate

    assert estimate() > estimate(engines=("vLLM",))
    assert estimate() > estimate(offload=True)


def test_the_depth_that_people_tried_is_the_one_that_is_recommended() -> None:
    found = answer(asked(pair(1.8, people=3, depth=5, depths=(1, 5))))

    assert found.asked.way is not None
    assert found.asked.depth == 5


def test_a_way_that_does_not_fit_is_not_recommended() -> None:
    question = asked()
    # 42 GB of a draft for a card of 24 GB.
    large = catalog.way_by(
        "draft-model",
        question.target,
        catalog.model_meant(read_model("llama-3.3-70b")),
        "llama-3.3-70b",
    )

    found = answer(replace(question, ways=(large,)))
    named = answer(replace(question, ways=(large,), named=large))

    assert (found.verdict, found.asked.way) == ("No", None)
    assert found.command is not None
    assert "llama-3.3" not in found.command.text
    assert named.verdict == "No"
    assert "does not fit" in printed(named)


def test_if_nothing_fits_no_command_is_given() -> None:
    found = answer(asked(words=MachineWords(gpus=("none",), ram=4)))

    assert found.command is None
    assert printed(found).startswith(
        "No: the model does not fit: main memory has 2.0 GiB free, but "
    )
    assert "Use it" not in printed(found)


def test_the_object_has_the_verdict_its_chance_and_the_evidence() -> None:
    known = pair(1.6, people=2, least=1.5, most=1.7, baseline_tps=40.0, tps=64.0, rated=2)

    found = as_json(answer(asked(known)))

    assert isinstance(found, dict)
    assert found["verdict"] in ("Probably", "Yes")
    assert isinstance(found["chance"], float)
    assert 0.8 < found["chance"] < 1
    assert found["evidence"] == [
        {
            "device": "rtx-4090-24-gb", "target": "m", "method": "mtp", "tier": "published",
            "people": 2, "speedup": 1.6, "least": 1.5, "most": 1.7, "baseline_tps": 40.0,
            "tps": 64.0, "rated": 2, "depths": [3], "quantisations": [],
        }
    ]  # fmt: skip


def test_the_plain_speed_is_pulled_by_people_with_the_same_file() -> None:
    def before(**others: object) -> float:
        return answer(asked(pair(1.6, baseline_tps=40.0, **others))).alone.tps.estimate

    alone = answer(asked()).alone.tps.estimate
    file = (answer(asked()).question.quantisation or "",)

    assert before(quantisations=("Q2_K",)) == alone
    one, many = before(quantisations=file), before(quantisations=file, people=9, rated=9)
    assert abs(many - 40) < abs(one - 40) < abs(alone - 40)
    assert many == pytest.approx(40, rel=0.05)


def test_a_figure_of_unknown_placement_is_quoted_if_the_model_is_only_partly_on_the_card() -> None:
    small = MachineWords(gpus=("RTX 3050 4 GB",), ram=32)

    found = answer(asked(pair(2.0, people=4, least=1.5, most=2.5), words=small))

    assert of_method(found, "mtp").figures is None
    words = printed(found).replace("\n", " ")
    assert "4 people published 2.00" in words
    assert "(layers on the card not stated)" in words


@pytest.mark.parametrize(
    ("basis", "counted", "says"),
    [
        ("predicted", {}, "Accuracy: predictions of this kind were off by a factor of"),
        ("here", {}, "Accuracy: the speedup was measured, not predicted."),
        ("curve", {}, "Accuracy: not tested with the usual acceptance;"),
        ("curve", {"measured": {3: MEASURED}}, "Accuracy: 13 of 14 measured speedups were within"),
    ],
)
def test_the_accuracy_is_that_of_this_kind_of_number(
    basis: Basis, counted: dict[str, Any], says: str
) -> None:
    found = answer(asked())
    option = found.judged
    assert option is not None
    assert option.way is not None
    way, gain = replace(option.way, **counted), replace(MEASURED, basis=basis)
    judged = replace(option, way=way, gain=gain)

    assert accuracy(replace(found, judged=judged)).startswith(says)


def test_the_map_is_said_to_lack_only_what_it_lacks() -> None:
    alone, other = answer(asked()), answer(asked(pair(1.2, method="dflash", draft="x")))

    assert "the map has no figure of this model" in printed(alone).replace("\n", " ")
    assert "the map has no figure" not in printed(other).replace("\n", " ")


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
    return answer(question)


def printed(found: Answer, server: str | None = None) -> str:
    screen = Console(file=io.StringIO(), width=80)
    show(found, screen, server, details=False)
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
        assert re.match(r"No|No reason to|Probably not", text), text


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


@pytest.mark.parametrize(
    ("model", "program"),
    [("qwen3-8b:Q4_K_M", "/opt/llama-server"), ("Qwen/Qwen3-8B-AWQ", "vllm serve")],
)
def test_the_installed_server_is_named_only_in_its_own_command(model: str, program: str) -> None:
    text = printed(answered("RTX 4090", model), server="/opt/llama-server")

    assert f"Use it:     {program} " in text
