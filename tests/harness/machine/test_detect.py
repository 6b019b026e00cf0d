"""A system's own description becomes the machine in the format."""

from collections import namedtuple
from pathlib import Path

import orjson
import pytest

from harness.machine import linux, macos, nvidia, windows
from harness.machine.detect import clean_name, kernel_version, machine
from harness.machine.environment import Watch, parse_power_mode, steal_fraction
from schemas.codec import encode
from schemas.submission import Gpu
from tests.harness.rigs import capture
from tests.processes import needs_colons


def test_a_laptop_card_without_a_settable_limit() -> None:
    cards = nvidia.parse_cards(
        capture("nvidia_cards_rtx4060_laptop.txt"), capture("nvidia_banner_rtx4060_laptop.txt")
    )

    assert cards.display_active is True
    assert cards.gpus == (
        Gpu(
            name="NVIDIA GeForce RTX 4060 Laptop GPU",
            vendor="nvidia",
            vram_mib=8188,
            driver="580.95.05",
            api="CUDA 13.0",
            pcie_generation=4,
            pcie_width=8,
            power_limit_w=None,
            default_power_limit_w=80.0,
        ),
    )


def test_two_cards_keep_the_drivers_order_and_their_own_links() -> None:
    cards = nvidia.parse_cards(capture("nvidia_cards_two_gpus.txt"), "")

    assert [(g.name, g.vram_mib, g.pcie_width) for g in cards.gpus] == [
        ("NVIDIA GeForce RTX 3090", 24576, 16),
        ("NVIDIA GeForce GTX 1080 Ti", 11264, 4),
    ]
    assert (cards.gpus[0].power_limit_w, cards.gpus[0].default_power_limit_w) == (280.0, 350.0)
    assert cards.display_active is False
    assert cards.gpus[0].api is None


def test_without_an_answer_there_is_no_card_and_no_known_display() -> None:
    assert nvidia.parse_cards("", "") == nvidia.Cards(gpus=(), display_active=None)


@pytest.mark.parametrize(
    ("name", "throttled", "power_w"),
    [
        ("nvidia_state_power_cap.txt", True, 78.41),
        ("nvidia_state_idle.txt", False, 3.02),
        ("nvidia_state_unsupported.txt", None, None),
    ],
)
def test_an_idle_card_is_not_throttled(
    name: str,
    throttled: bool | None,  # noqa: FBT001 - a column of the table above
    power_w: float | None,
) -> None:
    state = nvidia.parse_state(capture(name))

    assert state.throttled is throttled
    assert state.power_w == power_w


Times = namedtuple(  # noqa: PYI024 - as psutil has them on Linux
    "Times", ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest"]
)


def test_steal_is_a_share_of_the_time_between_two_readings() -> None:
    earlier = Times(10.0, 0.0, 5.0, 300.0, 1.0, 0.0, 0.0, 4.0, 2.0)
    later = Times(11.0, 0.0, 5.1, 300.7, 1.0, 0.0, 0.0, 4.2, 2.5)

    # user +1, of which guest +0.5, system +0.1, idle +0.7, steal +0.2: 0.2 of 2
    assert steal_fraction(earlier, later) == pytest.approx(0.1)


def test_two_simultaneous_readings_give_no_share() -> None:
    times = Times(*range(9))

    assert steal_fraction(times, times) is None
    assert steal_fraction((1.0, 2.0), (2.0, 3.0)) is None


def test_pressure_is_a_share_of_ten_seconds() -> None:
    assert linux.parse_pressure(capture("proc_pressure_cpu.txt")) == pytest.approx(0.1234)
    assert linux.parse_pressure("") is None


def test_a_processor_names_itself_and_its_hypervisor() -> None:
    xeon, board = capture("proc_cpuinfo_xeon_vm.txt"), capture("proc_cpuinfo_arm_board.txt")

    assert linux.parse_cpu_name(xeon) == "Intel(R) Xeon(R) Platinum 8480+"
    assert linux.parse_virtual_machine(xeon) is True
    assert linux.parse_cpu_name(board) == "BCM2835"
    assert linux.parse_virtual_machine(board) is None


def test_names_lose_trademark_signs_and_spaces() -> None:
    assert clean_name("Intel(R) Core(TM)  i5-8250U <x>") == "Intel Core i5-8250U x"
    assert clean_name(" ") == "unknown"


def test_a_kernel_release_is_stripped_of_names() -> None:
    assert kernel_version("6.18.44-ada-workstation") == "6.18.44"
    assert kernel_version("custom") is None


@pytest.fixture
def drm(tmp_path: Path) -> Path:
    """/sys/class/drm with an AMD card, an NVIDIA card and a connector."""
    amd = tmp_path / "devices" / "0000:03:00.0"
    (amd / "hwmon" / "hwmon2").mkdir(parents=True)
    files = {
        "vendor": "0x1002",
        "mem_info_vram_total": str(8176 * 1024 * 1024),
        "max_link_speed": "16.0 GT/s PCIe",
        "current_link_width": "8",
        "hwmon/hwmon2/power1_cap": "165000000",
        "hwmon/hwmon2/power1_cap_default": "165000000",
    }
    for name, text in files.items():
        (amd / name).write_text(text + "\n", encoding="utf-8")
    nvidia_card = tmp_path / "devices" / "0000:04:00.0"
    nvidia_card.mkdir()
    (nvidia_card / "vendor").write_text("0x10de\n", encoding="utf-8")
    root = tmp_path / "drm"
    for name in ("card0", "card1", "card0-HDMI-A-1"):
        (root / name).mkdir(parents=True)
    (root / "card0" / "device").symlink_to(amd)
    (root / "card1" / "device").symlink_to(nvidia_card)
    return root


@needs_colons
def test_an_amd_card_is_read_from_sys_and_named_by_lspci(drm: Path) -> None:
    names = linux.parse_lspci(capture("lspci_amd_intel.txt"))

    assert linux.gpus(drm, names) == (
        Gpu(
            name="AMD Radeon RX 7600/7600 XT",
            vendor="amd",
            vram_mib=8176,
            pcie_generation=4,
            pcie_width=8,
            power_limit_w=165.0,
            default_power_limit_w=165.0,
        ),
    )


@pytest.fixture
def radeons(tmp_path: Path) -> Path:
    """Two cards, whose slots and names are in different orders, and a processor's graphics."""
    root = tmp_path / "drm"
    cards = {
        # name: slot, MiB, clock in MHz, degrees, watts
        "card0": ("0000:43:00.0", 24560, 2304, 71, 298),
        "card1": ("0000:03:00.0", 16368, 500, 40, 9),
        "card2": ("0000:c4:00.0", 512, 400, 95, 5),
    }
    for name, (slot, mib, mhz, degrees, watts) in cards.items():
        device = tmp_path / "devices" / slot
        monitor = device / "hwmon" / "hwmon3"
        monitor.mkdir(parents=True)
        (device / "vendor").write_text("0x1002\n")
        (device / "unique_id").write_text(f"9246{name[-1]}\n")
        (device / "mem_info_vram_total").write_text(f"{mib * 1024 * 1024}\n")
        (monitor / "freq1_input").write_text(f"{mhz}000000\n")
        (monitor / "temp1_input").write_text(f"{degrees - 20}000\n")
        (monitor / "temp2_input").write_text(f"{degrees}000\n")
        (monitor / "power1_average").write_text(f"{watts}000000\n")
        (root / name).mkdir(parents=True)
        (root / name / "device").symlink_to(device)
    return root


@needs_colons
@pytest.mark.parametrize(
    ("environment", "sizes", "state"),
    [
        # All cards: lowest clock and total power, without the processor's graphics.
        ({}, [24560, 16368, 512], (500.0, 71.0, 307.0)),
        # Numbers count by slot: 0 is the card in 03, 1 the one in 43.
        ({"HIP_VISIBLE_DEVICES": "1"}, [24560], (2304.0, 71.0, 298.0)),
        ({"ROCR_VISIBLE_DEVICES": "GPU-92461"}, [16368], (500.0, 40.0, 9.0)),
        # HIP counts among the devices that ROCr shows.
        ({"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "0"}, [24560], (2304, 71, 298)),
        ({"HIP_VISIBLE_DEVICES": "2"}, [512], (400.0, 95.0, 5.0)),
        ({"HIP_VISIBLE_DEVICES": ""}, [], (None, None, None)),
    ],
)
def test_only_visible_amd_cards_and_their_state_are_read(
    radeons: Path,
    environment: dict[str, str],
    sizes: list[int],
    state: tuple[float | None, float | None, float | None],
) -> None:
    found = linux.gpus(radeons, {}, environment)
    now = linux.state(radeons, environment)

    assert [gpu.vram_mib for gpu in found] == sizes
    assert (now.clock_mhz, now.temperature_c, now.power_w) == state


@needs_colons
def test_without_a_name_the_vendor_is_used(drm: Path) -> None:
    assert [gpu.name for gpu in linux.gpus(drm, {})] == ["AMD GPU"]


def test_apple_silicon_shares_its_memory_and_an_intel_mac_does_not() -> None:
    assert macos.parse_displays(capture("system_profiler_m3.json")) == (
        Gpu(name="Apple M3 Pro", vendor="apple", api="Metal 3"),
    )
    assert macos.parse_displays(capture("system_profiler_intel_mac.json")) == (
        Gpu(name="AMD Radeon Pro 5500M", vendor="amd", vram_mib=8192),
    )
    assert macos.parse_displays("no JSON") == ()


def test_windows_names_parts_and_leaves_out_the_fallback_driver() -> None:
    assert windows.parse_parts(capture("windows_cim.json")) == windows.Parts(
        cpu_name="AMD Ryzen 7 7845HX with Radeon Graphics",
        gpus=(Gpu(name="AMD Radeon 610M", vendor="amd", driver="31.0.14051.1002"),),
        ram_type="DDR5",
        ram_mts=5200,
    )
    assert windows.parse_parts("no JSON") == windows.Parts()


def test_this_machine_is_described_without_naming_it() -> None:
    import getpass  # noqa: PLC0415 - what must not appear is looked up here only
    import socket  # noqa: PLC0415

    text = orjson.dumps(encode(machine())).decode()

    assert machine().cpu.logical_cores >= 1
    assert machine().ram_mib > 64
    # Short names such as "vm" occur in ordinary words.
    for secret in (socket.gethostname(), getpass.getuser()):
        assert f'"{secret}"' not in text


def test_a_watch_counts_from_its_start() -> None:
    watch = Watch()

    before, after = watch.snapshot("before"), watch.snapshot("after")

    assert (before.moment, after.moment) == ("before", "after")
    assert before.busy_fraction is not None
    assert 0 <= before.busy_fraction <= 1
    assert after.busy_fraction is None
    assert before.available_ram_mib is not None
    assert before.available_ram_mib > 0


def test_a_mac_that_slows_a_hot_processor_down_says_by_how_much() -> None:
    limited = "CPU_Scheduler_Limit \t= 100\nCPU_Available_CPUs \t= 8\nCPU_Speed_Limit \t= 80\n"

    assert macos.parse_speed_limit(limited) == 0.8
    assert macos.parse_speed_limit("Note: No thermal warning level has been recorded\n") is None


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (" hibernatemode        3\n lowpowermode         0\n", "balanced"),
        (" powermode            2\n", "high"),
        ("Power Scheme GUID: a1841308-3541-4fab-bc81-f71556f20b4a  (Power saver)", "low"),
        ("Power Scheme GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (Balanced)", "balanced"),
        ("Power Scheme GUID: 12345678-f694-41f0-9685-ff5bb260df2e  (Bob's)", None),
        ("low-power", "low"),
        ("performance", "high"),
        ("custom", None),
        ("", None),
    ],
)
def test_the_power_mode_of_each_system_is_read(text: str, mode: str | None) -> None:
    assert parse_power_mode(text) == mode
