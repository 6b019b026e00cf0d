"""The files of answers agree with the terminal, the comment and the evidence."""

import gzip
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from pipeline.site.pages import answer_files
from planner.advice import Verdict
from planner.answer import Answer, answer
from planner.evidence import pairs
from planner.listed import MEMORY_CLASSES_GIB, PROCESSORS, listed_machines
from planner.machines import DEFAULT_RAM_GIB, MachineWords
from schemas.vocabulary import METHODS, say
from tests.sites import answers_that_ship

QUESTIONS, EXPECTED, FITTING, MOST_BYTES = 500, 200, 100, 25_000
FEWEST_CARDS = 150
TIERS = ("measured", "imported", "published")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """All files as a page reads them: rows by model and machine, and `others` by main memory."""

    sizes: dict[str, int]
    machines: list[str]
    names: dict[str, str]
    rows: dict[tuple[str, str], Row]
    others: dict[tuple[str, str, float], Row]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The files made from the evidence and rates that ship with the program."""
    index, _, *files = answers_that_ship(tmp_path_factory.getbasetemp())
    files = [each for each in files if each.path.startswith(answer_files.FOLDER)]
    listed = json.loads(index.data)
    machines = [name for name, *_ in listed["machines"]]
    rows, others, names = {}, {}, {}
    for file in files:
        document = json.loads(file.data)
        names[document["model"]] = document["name"]
        answers = zip(machines, document["answers"], strict=True)
        for machine, values in [(machine, each) for machine, rows in answers for each in rows]:
            row = dict(zip(document["columns"], values, strict=True))
            for column in listed["words"]:
                if row[column] is not None:
                    row[column] = document["texts"][row[column]]
            place = document["model"], machine
            if row["ram"] == (WORDS[place[1]].ram or DEFAULT_RAM_GIB):
                rows[place] = row
            else:
                others[(*place, row["ram"])] = row
    return Written(
        sizes={file.path: len(gzip.compress(file.data)) for file in files},
        machines=machines,
        names=names,
        rows=rows,
        others=others,
    )


WORDS: dict[str, MachineWords] = {each.name: each.words for each in listed_machines(pairs())}


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No hub, no local models, and no results newer than the program."""
    monkeypatch.setenv("DRAFTMAP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)


def asked(model: str, words: MachineWords) -> Answer:
    """The terminal's answer, without a server."""
    machine = ComputerOptions(gpus=words.gpus, vram=words.vram, ram=words.ram, cpu=words.cpu)
    question = question_of(
        ModelOptions(target=model),
        load=LoadOptions(),
        computer=machine,
        speed=SpeedOptions(),
        say=lambda _: None,
    )
    return answer(question)


def ratio(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.2f}")


def rate(tokens_per_s: float) -> float:
    return float(say.rate(tokens_per_s).replace(",", ""))


def test_a_file_is_small_and_its_rows_decode(written: Written) -> None:
    assert max(written.sizes.values()) <= MOST_BYTES
    assert len(written.sizes) == len(written.names) >= 50
    for row in written.rows.values():
        assert row["verdict"] in get_args(Verdict)
        assert row["way"]
        assert row["look"].startswith("dm-answer--")
        assert row["fits"] in ("yes", "barely", "partly", "no")
        assert (row["fits"] == "no") == (row["baseline_tps"] is None)
        assert row["method"] is None or row["method"] in METHODS
        assert (row["people"] is not None) == (row["basis"] in TIERS)


def test_cards_classes_of_memory_and_processors_are_answered_for_every_model(
    written: Written,
) -> None:
    answered = {machine for _, machine in written.rows}
    classes = {f"{gib} GB card" for gib in MEMORY_CLASSES_GIB}
    cards = {name for name in answered if WORDS[name].gpus not in ((), ("none",))}

    assert len(classes) == 12
    assert classes <= answered
    assert set(PROCESSORS) <= answered
    assert len(cards) >= FEWEST_CARDS
    assert len(written.rows) == len(answered) * len(written.names)


@pytest.mark.usefixtures("alone")
def test_the_terminal_gives_the_same_answer_to_the_same_words(written: Written) -> None:
    rng = random.Random(5)  # noqa: S311 - questions of a test
    differ = []

    for key, machine in rng.sample(sorted(written.rows), QUESTIONS):
        row, name = written.rows[key, machine], written.names[key]
        found = terminal_row(asked(name, WORDS[machine]))
        differ += [(name, machine, found, row)] if not found.items() <= row.items() else []

    assert differ == []


@pytest.mark.usefixtures("alone")
def test_other_sizes_of_main_memory_are_answered_as_in_the_terminal(written: Written) -> None:
    rng = random.Random(8)  # noqa: S311 - questions of a test
    differ = []

    for model, machine, ram in rng.sample(sorted(written.others), EXPECTED):
        row, name = written.others[model, machine, ram], written.names[model]
        found = terminal_row(asked(name, structs.replace(WORDS[machine], ram=float(ram))))
        if row["fits"] == "no":  # the terminal's command is about an alternative that fits
            del found["use"]
        differ += [(name, machine, ram)] if not found.items() <= row.items() else []

    assert differ == []
    assert {row["fits"] for row in written.others.values()} >= {"yes", "partly", "no"}


def terminal_row(found: Answer) -> Row:
    """The columns that have to agree: verdict, figures and command.

    For what does not fit and has no figures of people, files state nothing about drafts.
    """
    judged = found.judged if found.alone.fits or found.figures else None
    command = found.command
    gain = judged.gain if judged else None
    way = judged.way if judged else None
    return {
        "verdict": found.verdict,
        "chance": ratio(found.chance),
        "baseline_tps": rate(found.alone.tps.estimate) if found.asked.fits else None,
        "tps": rate(judged.tps.estimate) if judged else None,
        "speedup": ratio(gain.estimate) if gain else None,
        "low": ratio(gain.low) if gain else None,
        "high": ratio(gain.high) if gain else None,
        "method": way.method if way else None,
        "depth": judged.depth if judged and way else None,
        "quantisation": found.question.quantisation,
        "fits": found.asked.found.extent,
        "context": found.context_max,
        "use": command.text if command else None,
    }
