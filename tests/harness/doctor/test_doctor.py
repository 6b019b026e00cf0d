"""The doctor sees what is wrong and says what to do."""

from functools import partial
from pathlib import Path

import pytest

from harness.campaign.options import Options
from harness.doctor import command, machine_checks
from harness.doctor.command import decode
from harness.machine import engines
from harness.machine.command import death
from harness.run.chosen_engine import EngineOptions
from schemas.submission import Snapshot
from tests.harness.campaigns import campaign
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.harness.ggufs import write_gguf
from tests.harness.runners.llama_server import scripted
from tests.processes import needs_shell


def test_an_engine_that_works_shows_its_rate() -> None:
    # The fake rig takes 20 ms for a token, with a noise of one percent.
    check = decode(partial(FakeSession, FakeRig()), campaign(), "take another")

    assert check.status == "ok"
    assert float(check.found.partition(" ")[0]) == pytest.approx(50, rel=0.05)


def test_an_engine_that_cannot_write_a_token_is_to_be_replaced() -> None:
    rig = FakeRig(failing_arms={"baseline": "crashed"})

    check = decode(partial(FakeSession, rig), campaign(), "take another")

    assert (check.status, check.found) == ("fail", "the fake rig is set to fail")
    assert check.remedy == (
        "Name another model with --target. If no model works, this build does not suit this "
        "machine: take another"
    )


@needs_shell
@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize(
    ("crashes_with", "status", "said"),
    [("-", "ok", "tokens/s with Big-7B"), ("--port", "fail", "llama-server ended")],
)
def test_a_machine_with_a_server_only_decodes_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crashes_with: str, status: str, said: str
) -> None:
    model = write_gguf(tmp_path / "big.gguf", name="Big 7B")
    scripted.write(tmp_path / "bin" / "llama-server", build=7000, crashes_with=crashes_with)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(engines, "package_version", lambda: None)

    asked = Options(target=str(model))
    *_, last = command.examine(asked, EngineOptions(), say=lambda _: None)

    assert (last.name, last.status) == ("Decode", status)
    assert said in last.found


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-11, "killed by SIGSEGV"),
        (-99, "killed by signal 99"),
        (0xC0000005, "crashed with status 0xc0000005"),
        (1, None),
        (0, None),
    ],
)
def test_the_death_of_a_child_process_is_described(code: int, said: str | None) -> None:
    assert death(code) == said


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (Snapshot(moment="before", load_1min=0.3, steal_fraction=0.0, cpu_pressure=0.0), "ok"),
        (Snapshot(moment="before", load_1min=5.0, steal_fraction=0.0), "warn"),
        (Snapshot(moment="before", load_1min=5.0, busy_fraction=0.04), "ok"),
        (Snapshot(moment="before", load_1min=0.2, busy_fraction=0.6), "warn"),
        (Snapshot(moment="before", load_1min=0.1, steal_fraction=0.4), "warn"),
        (Snapshot(moment="before", cpu_pressure=0.5), "warn"),
        (Snapshot(moment="before"), "ok"),
    ],
)
def test_a_busy_machine_is_a_warning(state: Snapshot, status: str) -> None:
    assert machine_checks.load(state, cores=8).status == status


def test_a_battery_is_a_warning_and_no_battery_is_not() -> None:
    statuses = [machine_checks.power(on_battery=value).status for value in (True, False, None)]

    assert statuses == ["warn", "ok", "ok"]
    assert machine_checks.power(on_battery=False, mode="low").status == "warn"
    assert machine_checks.power(on_battery=False, mode="high").status == "ok"


def test_too_little_disk_fails() -> None:
    assert machine_checks.disk(500 * 1024**2).status == "fail"
    assert machine_checks.disk(5 * 1024**3).status == "ok"
