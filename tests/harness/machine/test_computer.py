"""The planner sees every memory of a machine and counts each once."""

import pytest

from harness.machine import detect
from harness.machine.computer import computer_of
from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from planner.answer import Answer, answer
from planner.machines import MachineWords, reported_card
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
    return answer(question)


def test_a_mac_has_one_memory_and_its_bandwidth_by_name() -> None:
    found = computer_of(MachineWords(gpus=("Apple M3 Max 64 GB",)))

    assert found.unified
    assert found.devices[0].free_mib == 0.75 * 65536
    assert found.host.free_mib == 65536 - 2048
    assert found.devices[0].bandwidth_gb_per_s == pytest.approx(409.6)
    assert found.host.bandwidth_gb_per_s == pytest.approx(409.6)


def test_layers_on_a_unified_memory_device_use_host_memory() -> None:
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
    assert reported_card(name, None, MachineWords()).shares is shares


def test_reserved_main_memory_counts_as_memory_of_the_card() -> None:
    assert reported_card("Radeon 8060S", 512, MachineWords()).shares
    assert not reported_card("Radeon 8060S", 98304, MachineWords()).shares


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


@pytest.mark.parametrize(
    ("name", "gb_per_s"), [("NVIDIA GB10", 273.2), ("Orin (nvgpu)", None), ("NVIDIA Thor", 273.2)]
)
def test_a_unit_whose_driver_lists_no_memory_is_a_gpu_that_shares_it(
    name: str, gb_per_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # nvidia-smi answers "[N/A]" for its memory.
    known = rig(Gpu(name=name, vendor="nvidia"))
    monkeypatch.setattr(detect, "machine", lambda: known)

    found = computer_of()

    assert found.unified
    assert [each.name for each in found.devices] == [name]
    assert found.devices[0].bandwidth_gb_per_s == (gb_per_s and pytest.approx(gb_per_s, rel=0.01))


def test_a_unit_that_lists_all_main_memory_has_no_memory_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = rig(Gpu(name="NVIDIA GB10", vendor="nvidia", vram_mib=122_000))
    monkeypatch.setattr(detect, "machine", lambda: known)

    assert computer_of().unified


def test_an_nvidia_card_that_lists_no_memory_is_out_of_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = rig(Gpu(name="NVIDIA GeForce RTX 4090", vendor="nvidia"))
    monkeypatch.setattr(detect, "machine", lambda: known)

    assert computer_of().devices == ()


@pytest.mark.parametrize(
    ("name", "gib", "note"),
    [
        (
            "DGX Spark",
            128,
            "DGX Spark is assumed to have 128 GB; for another size, add the size to the name",
        ),
        (
            "Strix Halo",
            128,
            "Strix Halo is assumed to have 128 GB; for another size, add the size to the name",
        ),
        (
            "M3 Pro",
            18,
            "M3 Pro is assumed to have 18 GB; for another size, add the size to the name",
        ),
        ("780M", 32, "main memory is not stated, so 32 GB is assumed; set it with --ram"),
    ],
)
def test_unified_memory_of_unstated_size_is_assumed_with_one_note(
    name: str, gib: int, note: str
) -> None:
    found = computer_of(MachineWords(gpus=(name,)))

    assert found.unified
    assert found.host.free_mib == gib * 1024 - 2048
    assert found.devices[0].free_mib == gib * 1024 * 0.75
    assert [each for each in found.notes if "assumed" in each] == [note]


@pytest.mark.parametrize(
    ("words", "free_gib", "note"),
    [
        (
            MachineWords(gpus=("Mac mini M4 16GB",), ram=64.0),
            12,
            "'Mac mini M4 16GB' already states 16 GB, so --ram 64 is ignored",
        ),
        (
            MachineWords(gpus=("RTX 3060 12GB",), vram=8.0, ram=64.0),
            12 * 0.95 - 700 / 1024,
            "'RTX 3060 12GB' already states 12 GB, so --vram 8 is ignored",
        ),
    ],
)
def test_a_size_in_a_name_comes_before_an_option(
    words: MachineWords, free_gib: float, note: str
) -> None:
    found = computer_of(words)

    assert found.devices[0].free_mib == pytest.approx(free_gib * 1024)
    assert note in found.notes


def test_graphics_of_a_processor_read_at_the_rate_of_main_memory() -> None:
    unknown = computer_of(MachineWords(gpus=("780M 32GB",)))
    known = computer_of(MachineWords(gpus=("780M 32GB",), cpu="DDR5-5600"))

    # What is not known stays `None` in the memory, and is assumed as for main memory.
    assert unknown.devices[0].bandwidth_gb_per_s is None
    assert unknown.speed.device == pytest.approx(50 * 0.74)
    assert not any("400" in note for note in unknown.rate_notes(reads_host=True))
    assert known.devices[0].bandwidth_gb_per_s == 89.6
    assert known.speed.device == pytest.approx(89.6 * 0.74)


def test_a_processor_is_a_machine_without_a_card() -> None:
    found = computer_of(MachineWords(gpus=("EPYC 9654",), ram=256.0))

    assert found.devices == ()
    assert found.host.card == "epyc 9654"


def test_cards_of_two_kinds_are_two_memories() -> None:
    found = computer_of(MachineWords(gpus=("RTX 5090 + RTX 3090, 64GB RAM",)))

    assert [card.name for card in found.devices] == ["RTX 5090 32 GB", "RTX 3090 24 GB"]
    assert found.host.free_mib == 62 * 1024


def test_this_mac_computes_on_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    mac = rig(Gpu(name="Apple M3 Max", vendor="apple"))
    monkeypatch.setattr(detect, "machine", lambda: mac)

    found = computer_of()

    assert found.unified
    assert found.devices[0].name == "Apple M3 Max"
    assert found.devices[0].free_mib <= found.host.free_mib
