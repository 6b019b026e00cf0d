"""The files of answers agree with the terminal, the comment and the evidence."""

import gzip
import json
import random
from dataclasses import dataclass, replace
from operator import gt, le
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

from answers.advice import Verdict
from answers.answer import Answer, answer
from answers.evidence import pairs
from answers.listed import MEMORY_CLASSES_GIB, PROCESSORS, listed_machines
from answers.machines import DEFAULT_RAM_GIB, MachineWords
from answers.presets import preset_named
from harness.machine.computer import computer_of
from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from pipeline.intake.expectation import ArmExpectation, expectations
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Gpu, Submission
from schemas.vocabulary import METHODS
from tests.samples import sample
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
    index, *files = answers_that_ship(tmp_path_factory.getbasetemp())
    listed = json.loads(index.data)
    machines = [name for name, *_ in listed["machines"]]
    rows, others = {}, {}
    for file in files:
        document = json.loads(file.data)
        for values in document["answers"]:
            row = dict(zip(document["columns"], values, strict=True))
            for column in listed["words"]:
                if row[column] is not None:
                    row[column] = document["texts"][row[column]]
            place = document["model"], machines[row["machine"]]
            if row["ram"] == (WORDS[place[1]].ram or DEFAULT_RAM_GIB):
                rows[place] = row
            else:
                others[(*place, row["ram"])] = row
    return Written(
        sizes={file.path: len(gzip.compress(file.data)) for file in files},
        machines=machines,
        names={each["id"]: each["name"] for each in listed["models"]},
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


def short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def test_a_file_is_small_and_its_rows_decode(written: Written) -> None:
    assert max(written.sizes.values()) <= MOST_BYTES
    assert len(written.sizes) == len(written.names) >= 50
    for row in written.rows.values():
        assert row["verdict"] in get_args(Verdict)
        assert row["way"]
        assert row["look"].startswith("dm-answer--")
        assert row["fits"] in ("yes", "barely", "partly", "no")
        assert row["fits"] == "no" or row["baseline_tps"] > 0
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
    drafts = judged.speculation if judged else None
    return {
        "verdict": found.verdict,
        "chance": short(found.chance),
        "baseline_tps": short(found.alone.tps.estimate),
        "tps": short(judged.tps.estimate) if judged else None,
        "speedup": short(gain.estimate) if gain else None,
        "low": short(gain.low) if gain else None,
        "high": short(gain.high) if gain else None,
        "method": drafts.method if drafts else None,
        "depth": drafts.depth if drafts else None,
        "quantisation": found.question.quantisation,
        "fits": found.asked.found.extent,
        "context": found.context_max,
        "use": command.text if command else None,
    }


def of_arm(row: Row, name: str, machine: str) -> Submission | None:
    """A result from this machine and model, with the row's way of drafting."""
    preset, words = preset_named(name), WORDS[machine]
    computer = computer_of(words)
    if preset is None or row["speedup"] is None or words.gpus in ((), ("none",)):
        return None
    # A card has 95 % less 700 MiB free, main memory all but 2 GiB.
    size = None if computer.unified else round((computer.devices[0].free_mib + 700) / 0.95)
    plain = sample()
    draft = preset_named(row["draft"]) if row["draft"] else None
    drafts = (replace(plain.drafts[0], id="draft", name=draft.name),) if draft is not None else ()
    method = Method(
        type=row["method"], n_max=row["depth"], draft="draft" if draft is not None else None
    )
    return replace(
        plain,
        machine=replace(
            plain.machine,
            ram_mib=round(computer.host.free_mib + 2048),
            gpus=(Gpu(name=machine, vram_mib=size, vendor="other"),),
        ),
        target=replace(plain.target, name=preset.model, quantisation=row["quantisation"]),
        drafts=drafts,
        arms=(
            Arm(id="baseline", role="baseline", method=NO_SPECULATION),
            Arm(id="arm", role="speculation", method=method),
        ),
    )


def test_the_comments_prediction_equals_that_of_the_file(written: Written) -> None:
    rng = random.Random(6)  # noqa: S311 - questions of a test
    with_figures = [place for place, row in sorted(written.rows.items()) if row["evidence"]]
    compared, differ = 0, []

    for key, machine in (*rng.sample(sorted(written.rows), EXPECTED), *with_figures):
        row = written.rows[key, machine]
        submission = of_arm(row, written.names[key], machine)
        if submission is not None:
            compared += 1
            wanted = expected_of(row)
            found = tuple(map(shortened, expectations(submission)))
            differ += [] if found == (wanted,) else [(key, machine, found, wanted)]

    assert compared > EXPECTED / 2
    assert differ == []


def expected_of(row: Row) -> ArmExpectation:
    return ArmExpectation(
        arm="arm",
        verdict=row["verdict"],
        speedup=row["speedup"],
        low=row["low"],
        high=row["high"],
        basis=row["basis"] if row["basis"] in TIERS else "predicted",
    )


def shortened(found: ArmExpectation) -> ArmExpectation:
    figures = {name: short(getattr(found, name)) for name in ("speedup", "low", "high")}
    return replace(found, **figures)  # type: ignore[arg-type]


@pytest.mark.usefixtures("alone")
def test_a_row_that_fits_has_room_for_all_buffers(written: Written) -> None:
    rng = random.Random(7)  # noqa: S311 - questions of a test

    for key, machine in rng.sample(sorted(written.rows), FITTING):
        row, found = written.rows[key, machine], asked(written.names[key], WORDS[machine]).asked
        case, placement = found.case, found.found.placement
        held = [each.total() for each in found.found.devices] if case.devices else []
        host = found.found.host.total() + (sum(held) if case.unified else 0)
        free = [each.free_mib for each in (*case.devices, case.host)]
        if row["fits"] == "no":
            assert any(map(gt, [mib + 140 for mib in (*held, host)], free))
        else:
            whole = placement.layers == case.target.placed_layers and not placement.cpu_experts
            # Weights by name may be a third smaller, and 800 MiB more may be free.
            assert all(map(le, [0.67 * mib - 800 for mib in (*held, host)], free))
            if row["fits"] == "yes":
                assert all(map(le, (*held, host), free))
            assert (row["fits"] == "partly") != (whole or not case.devices)
