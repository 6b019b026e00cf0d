"""`models`, `plan`, the check before a download and the site agree on what fits which memory."""

from pathlib import Path

import pytest

from harness.errors import MachineError
from harness.machine.computer import computer_of
from harness.models import room
from harness.models.overview import assess, facts_about, need_of
from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from pipeline.site.pages import fits
from planner.answer import answer
from planner.answer_json import as_json
from planner.machines import MachineWords
from planner.placement import Extent
from planner.presets import preset_named, presets
from tests.nightly import few

CONTEXT = 2048
CARDS = (4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 48, 64, 80, 96, 128)
MAIN_MEMORIES = (4, 8, 16, 32, 64, 128)
MACHINES = {
    **{f"a card of {gib} GiB": ComputerOptions(vram=gib, ram=32) for gib in CARDS},
    **{f"no card, {gib} GiB": ComputerOptions(gpus=("none",), ram=gib) for gib in MAIN_MEMORIES},
    "two cards": ComputerOptions(gpus=("RTX 3060 12 GB", "RTX 3060 12 GB"), ram=16),
    "one memory for both": ComputerOptions(gpus=("Apple M2",), ram=24),
}
NAMED = [pytest.param(each, id=name) for name, each in MACHINES.items()]


@pytest.fixture(autouse=True)
def nothing_here(cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No models on this disk, and no results."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache_dir / "hub"))
    monkeypatch.chdir(tmp_path)


def listed(machine: ComputerOptions) -> dict[str, Extent]:
    """The output of `models` about each model of known size."""
    found = assess(computer_of(machine.words), CONTEXT).models
    return {each.preset.name: each.fits for each in found if each.fits and not each.preset.head}


@pytest.mark.parametrize("machine", few(NAMED, 8))
def test_models_and_plan_agree(machine: ComputerOptions) -> None:
    words = listed(machine)

    planned = {name: planned_extent(with_quantisation(name), machine) for name in words}

    assert len(words) >= 30
    assert planned == words


def with_quantisation(name: str) -> str:
    """A preset's name with its quantisation; without one, a plan chooses one that fits."""
    return name if ":" in name else f"{name}:{presets()[name].quantisation}"


def planned_extent(name: str, machine: ComputerOptions) -> Extent:
    """The extent that fits, from the layers in `plan --json` and the experts in its command."""
    found = answer(
        question_of(
            ModelOptions(target=name, draft="none"),
            load=LoadOptions(context=CONTEXT),
            computer=machine,
            speed=SpeedOptions(),
            say=lambda _: None,
        )
    )
    document = as_json(found)
    assert isinstance(document, dict)
    if not found.asked.fits:
        return "no"
    on_devices = document["offloaded_layers"] == document["layers"]
    experts = found.asked.found.placement.cpu_experts
    if document["devices"] and (not on_devices or experts):
        return "partly"
    return "yes" if found.asked.found.sure else "barely"


@pytest.mark.parametrize("machine", few(NAMED, 8))
def test_exactly_the_models_that_do_not_fit_are_refused_for_download(
    machine: ComputerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = computer_of(machine.words)
    monkeypatch.setattr(room, "computer_of", lambda: here)
    words = listed(machine)

    refused = {name for name in words if is_refused(name)}

    assert refused == {name for name, word in words.items() if word == "no"}


def is_refused(name: str) -> bool:
    try:
        room.require_room((name,), CONTEXT)
    except MachineError:
        return True
    return False


def test_the_sites_table_agrees_with_the_command_models() -> None:
    for name, _, cells in fits.lines():
        preset = preset_named(f"{name}:{fits.DEFAULT_QUANTISATION}")
        assert preset is not None
        facts = facts_about(preset)
        for gib, (_, _, word) in zip(fits.SHOWN_MEMORIES, cells, strict=True):
            here = computer_of(MachineWords(vram=gib, ram=fits.DEFAULT_RAM))

            assert need_of(here, fits.DEFAULT_CONTEXT, facts).fits == word, (name, gib)


def test_every_kind_of_answer_occurs() -> None:
    words = {word for machine in MACHINES.values() for word in listed(machine).values()}

    assert words == {"yes", "barely", "partly", "no"}
    assert len(presets()) > len(listed(MACHINES["two cards"]))
