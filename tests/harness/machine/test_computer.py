"""The planner sees every memory of a machine and counts each once."""

import pytest

from answers.answer import Answer
from answers.machines import MachineWords, shares_memory
from harness.machine import detect
from harness.machine.computer import computer_of
from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from harness.plan.planner import plan
from schemas.submission import Cpu, Gpu, Machine


def rig(*gpus: Gpu) -> Machine:
    cpu = Cpu(name="any", architecture="arm64", logical_cores=8, physical_cores=8)  # type: ignore[arg-type]
    return Machine(cpu=cpu, ram_mib=65536, gpus=gpus)


def planned(target: str, gpu: str, **others: float) -> Answer:
    question = question_of(
        ModelOptions(target=target),
        load=LoadOptions(),
        computer=ComputerOptions(gpus=(gpu,), **others),  # type: ignore[arg-type]
        speed=SpeedOptions(),
        say=lambda _: None,
    )
    return plan(question)


def test_a_mac_has_one_memory_and_its_bandwidth_by_name() -> None:
    found = computer_of(MachineWords(gpus=("Apple M3 Max 64 GB",)))

    assert found.unified
    assert found.devices[0].free_mib == 0.75 * 65536
    assert found.host.free_mib == 65536 - 2048
    assert found.speed.device_gb_per_s == found.speed.host_gb_per_s == pytest.approx(409.6)


def test_what_lies_on_the_device_of_one_memory_takes_room_of_the_host() -> None:
    # 70 billion weights of 8.5 bits are 70 GiB: more than the 62 that both have together.
    assert not planned("llama-3.3-70b:Q8_0", "M3 Max", ram=64.0).asked.fits
    assert planned("llama-3.3-70b:Q4_K_M", "M3 Max", ram=64.0).asked.fits


@pytest.mark.parametrize(
    ("name", "free_gib"), [("m3 max 64", 48), ("framework desktop 128gb", 96), ("m2 air 16 gb", 12)]
)
def test_graphics_may_use_three_quarters_of_one_memory(name: str, free_gib: int) -> None:
    (device,) = computer_of(MachineWords(gpus=(name,))).devices

    assert device.free_mib == free_gib * 1024


@pytest.mark.parametrize(
    ("name", "shares"),
    [("Radeon 780M", True), ("AMD Radeon 8060S Graphics", True), ("Intel Arc 140V GPU", True),
     ("AMD Radeon(TM) Graphics", True), ("Arc A770", False), ("GTX 860M", False),
     ("RX 6800M", False), ("RTX 4060", False)],
)  # fmt: skip
def test_graphics_of_a_processor_are_known_by_name(name: str, *, shares: bool) -> None:
    assert shares_memory(name) is shares


def test_a_part_of_main_memory_that_is_set_aside_is_a_cards_own() -> None:
    assert shares_memory("Radeon 8060S", 512)
    assert not shares_memory("Radeon 8060S", 98304)


def test_cards_whose_memory_windows_does_not_state_are_cards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = rig(Gpu(name="AMD Radeon RX 7900 XTX", vendor="amd"))
    uhd = Gpu(name="Intel(R) UHD Graphics 770", vendor="intel")
    monkeypatch.setattr(detect, "machine", lambda: known)

    (card,) = computer_of().devices

    assert card.free_mib == 24 * 1024 * 0.95 - 700
    monkeypatch.setattr(detect, "machine", lambda: rig(uhd, *known.gpus))
    assert [each.name for each in computer_of().devices] == [known.gpus[0].name]
    monkeypatch.setattr(detect, "machine", lambda: rig(uhd))
    assert computer_of().devices == ()


def test_this_mac_computes_on_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    mac = rig(Gpu(name="Apple M3 Max", vendor="apple"))
    monkeypatch.setattr(detect, "machine", lambda: mac)

    found = computer_of()

    assert found.unified
    assert found.devices[0].name == "Apple M3 Max"
    assert found.devices[0].free_mib <= found.host.free_mib
