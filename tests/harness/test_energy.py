"""Which joules are counted? A tree like /sys/class/powercap, and a driver that is not there."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest

from estimates.summary import summarize
from harness.machine.energy import availability, meter
from harness.machine.nvidia import CardId
from harness.machine.nvml import NvmlCounter, open_nvml
from harness.machine.rapl import RaplCounter
from harness.runners.fake import FakeRig
from tests.harness.campaigns import BASELINE, DRAFT, campaign, run

TREES = Path(__file__).parents[1] / "data" / "powercap"


class FakeNvml:
    """Cards whose counters move on by what is set, in millijoules; `None` stands for no support.

    `ids` are serial numbers and slots of the cards, for those who ask for them.
    """

    def __init__(self, *steps_mj: int | None, ids: tuple[CardId, ...] = ()) -> None:
        self._steps_mj, self._ids = steps_mj, ids
        self._reads = 0

    def nvmlInit(self) -> None:  # noqa: N802 - NVIDIA's name
        pass

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802 - NVIDIA's name
        return len(self._steps_mj)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802 - NVIDIA's name
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:  # noqa: N802 - NVIDIA's name
        return self._ids[handle].uuid

    def nvmlDeviceGetPciInfo(self, handle: int) -> SimpleNamespace:  # noqa: N802 - NVIDIA's name
        return SimpleNamespace(busId=self._ids[handle].address.encode())

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:  # noqa: N802 - NVIDIA's name
        step_mj = self._steps_mj[handle]
        if step_mj is None:
            raise pynvml.NVMLError_NotSupported
        self._reads += 1
        return self._reads * step_mj


class NoDriver(FakeNvml):
    """What pynvml does on a machine without NVIDIA's driver."""

    def nvmlInit(self) -> None:  # noqa: N802 - NVIDIA's name
        raise pynvml.NVMLError_LibraryNotFound


def tree(tmp_path: Path, name: str) -> Path:
    """A copy of a tree; `:` cannot stand in file names everywhere, so it is `_` there."""
    if sys.platform == "win32":
        pytest.skip("Windows has no such names")
    for zone in (TREES / name).iterdir():
        shutil.copytree(zone, tmp_path / zone.name.replace("_", ":"))
    return tmp_path


def zone(powercap: Path, number: int) -> Path:
    return powercap / f"intel-rapl:{number}" / "energy_uj"


@pytest.fixture
def two_packages(tmp_path: Path) -> Path:
    return tree(tmp_path, "two-packages")


def test_packages_are_added_and_their_parts_left_out(two_packages: Path) -> None:
    counter = RaplCounter(two_packages)

    # Not core (intel-rapl:0:0), nor the whole platform (psys), which contains the packages.
    assert counter.read() == (262_143_000_000, 5_000_000)


def test_a_counter_that_began_again_has_wrapped_at_its_range(two_packages: Path) -> None:
    measuring = meter("cpu", powercap=two_packages)

    measuring.start()
    zone(two_packages, 0).write_text("1000000\n")
    zone(two_packages, 1).write_text("7500000\n")

    # 262143.328850 - 262143 + 1 J on the first package, 2.5 J on the second.
    assert measuring.method == "rapl"
    assert measuring.stop() == pytest.approx(0.328850 + 1.0 + 2.5)


def test_a_counter_that_stood_still_is_not_zero_joules(two_packages: Path) -> None:
    measuring = meter("cpu", powercap=two_packages)

    measuring.start()

    assert measuring.stop() is None


def test_a_machine_without_counters_has_no_method_and_no_figure(tmp_path: Path) -> None:
    measuring = meter("cpu", powercap=tmp_path / "none")

    measuring.start()

    assert measuring.method is None
    assert measuring.stop() is None
    assert availability((), powercap=tmp_path)[0] == "not measured: this machine has no counter"


def test_a_counter_that_root_alone_may_read_is_said_by_the_doctor(two_packages: Path) -> None:
    for number in (0, 1):
        path = zone(two_packages, number)
        path.unlink()
        path.mkdir()  # unreadable for root, too, who runs tests in containers

    found, remedy = availability((), powercap=two_packages)

    assert meter("cpu", powercap=two_packages).method is None
    assert found == "not measured"
    assert remedy is not None
    assert remedy.startswith("only root may read")


def test_a_readable_counter_is_said_by_the_doctor(two_packages: Path) -> None:
    assert availability((), powercap=two_packages) == ("counters of processor are readable", None)


def test_a_backend_whose_device_has_no_counter_has_no_method(two_packages: Path) -> None:
    assert meter("vulkan", powercap=two_packages).method is None


def test_a_card_without_a_counter_leaves_no_figure() -> None:
    counter = open_nvml(FakeNvml(1500, None))

    assert counter is not None
    assert counter.read() is None


def test_without_a_driver_there_is_no_counter() -> None:
    assert open_nvml(NoDriver()) is None


def test_a_driver_loaded_anew_leaves_no_figure() -> None:
    assert NvmlCounter(FakeNvml(1)).joules((5000,), (20,)) is None


def test_counted_joules_travel_from_the_engine_to_the_estimate(tmp_path: Path) -> None:
    plan = campaign(arms=(BASELINE, DRAFT), prompts=2, max_output_tokens=11)
    rig = FakeRig(noise=0.0, power_w=50.0, step_ms=20.0, default_acceptance=0.0)

    submission = run(plan, tmp_path / "run.jsonl", rig=rig)
    estimate = summarize(submission).estimates[0]

    # A round with four drafted tokens takes 20 + 4 * 2 + 4 * 2 = 36 ms and yields one token; the
    # last rounds have less room and draft 3, 2, 1 and 0: 6 * 36 + 32 + 28 + 24 + 20 = 320 ms.
    assert submission.settings.energy_method == "rapl"
    assert submission.trials[0].energy_j == pytest.approx(50.0 * 10 * 0.020)
    assert estimate.energy_per_token_j == pytest.approx(50.0 * 0.320 / 10)
    assert estimate.energy_ratio == pytest.approx(320 / 200)
