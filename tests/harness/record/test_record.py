"""Plans after measurements on this machine: they come first, and no plan contradicts them."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.machine.environment import Watch
from harness.record.kept import recorded
from harness.runners import CONNECT
from harness.runners.base import Adapter
from schemas.submission import Cpu, Machine, OperatingSystem, Snapshot, Submission
from tests.harness.fake_runner import FakeRig, FakeSession

QUICK = ("--quick", "--method", "draft-model:n_max=4")
# A round over five tokens costs 1.4 steps, and its draft 4 * 0.1 steps: 1.8 in all. Nothing that is
# drafted is accepted, so the speedup is 1 / 1.8; if all is accepted, it is nearly 5 / 1.8.
LOSES, GAINS = (FakeRig(step_ms=20.0, default_acceptance=share) for share in (0.0, 1.0))


pytestmark = pytest.mark.usefixtures("binding", "fake_reader")


@pytest.fixture(autouse=True)
def quiet_processor(monkeypatch: pytest.MonkeyPatch, cache_dir: Path) -> None:
    """A quiet machine without a card."""
    assert cache_dir.is_dir()
    cpu = Cpu(name="Test CPU", architecture="x86_64", logical_cores=2)
    rig = Machine(os=OperatingSystem(family="linux"), cpu=cpu, ram_mib=24_000)
    shot = Snapshot(moment="before", busy_fraction=0.0)
    for user in ("machine.detect", "run.engine_run", "tune.tune_request"):
        monkeypatch.setattr(f"harness.{user}.machine", lambda: rig)
    monkeypatch.setattr(Watch, "snapshot", lambda _watch, _moment: shot)


def engine(monkeypatch: pytest.MonkeyPatch, rig: FakeRig) -> None:
    adapter = Adapter(open=partial(FakeSession, rig))
    monkeypatch.setitem(CONNECT, "llama-cpp-python", lambda _options: adapter)


def call(*words: str) -> Result:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done


def measured(models: list[str], folder: Path, *more: str) -> dict[str, Any]:
    """The figures that `run` prints of its only setting."""
    done = call("run", *models, *QUICK, "-o", str(folder / "out.json"), "--json", *more)
    (found,) = (each for each in json.loads(done.stdout)["estimates"] if not each.get("task"))
    return dict(found)


def plan(models: list[str], *more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call("plan", models[1], models[3], *more, "--json").stdout)
    return found


@pytest.mark.parametrize("rig", [LOSES, GAINS])
def test_after_a_run_the_plan_has_its_speedup_its_interval_and_its_plain_rate(
    rig: FakeRig, models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, rig)

    run = measured(models, tmp_path)
    found = plan(models)
    words = call("plan", models[1], models[3]).stdout

    assert found["speedup"]["estimate"] == pytest.approx(run["speedup"], abs=0.001)
    assert found["speedup"]["low"] == pytest.approx(run["interval"]["low"], abs=0.001)
    assert found["plain_tps"]["estimate"] == pytest.approx(run["baseline_tps"], rel=0.01)
    assert (found["verdict"] in ("Yes", "Probably", "Try it")) == (run["speedup"] > 1)
    assert words.startswith("Measured here, 1 minute ago (doubts: ")
    assert "at depth 4 gives" in words.splitlines()[0]


def test_a_tune_is_remembered_like_a_run(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)

    limits = ("--prompts", "2", "--max-tokens", "16", "--budget", "30")
    call("tune", *models, "--method", "draft-model", *limits, "-o", str(tmp_path / "out.json"))

    # The least loss is at depth 1, where a round costs 1.1 + 0.1 steps.
    assert plan(models)["speedup"]["estimate"] == pytest.approx(1 / 1.2, rel=0.05)
    first = call("plan", models[1], models[3]).stdout.splitlines()[0]
    assert first.startswith("Measured here, 1 minute ago")


def test_a_depth_that_nobody_measured_keeps_the_side_of_the_nearest(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)
    measured(models, tmp_path)

    four, two = plan(models), plan(models, "--depth", "2")

    assert two["speedup"]["estimate"] == four["speedup"]["estimate"] < 1
    assert two["speedup"]["high"] == pytest.approx(1.5 * four["speedup"]["high"], rel=0.01)


def test_other_weights_and_a_described_machine_have_no_part_in_the_record(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)
    measured(models, tmp_path)
    weights = Path(models[3]).read_bytes()
    other = tmp_path / "other.gguf"
    other.write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))

    bases = [
        plan([*models[:3], str(other)])["speedup"]["basis"],
        plan(models, "--gpu", "none", "--ram", "32")["speedup"]["basis"],
    ]

    assert not {*bases} & {"here", "doubted"}


def test_counts_and_step_times_give_the_table_of_acceptance(
    models: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, GAINS)
    pair = (models[1], models[3], "--prompts", "1", "--max-tokens", "24")
    before = plan(models)["speedup"]

    call("acceptance", *pair)
    call("probe", models[1])
    table = json.loads(call("acceptance", *pair, "--json").stdout)
    found = plan(models)

    best = table["depths"][table["best_depth"] - 1]["speedup"]
    assert found["speedup"]["basis"] == "curve"
    assert found["speedup"]["estimate"] == pytest.approx(best["estimate"], rel=0.02)
    assert found["speedup"]["low"] == pytest.approx(best["low"], rel=0.02)
    assert before["basis"] != "curve"
    assert "answers counted here, 1 minute ago, a round " in call("plan", *pair[:2]).stdout
    # The words, the verdict and the strip have the counted tokens.
    assert found["decides"]["is_own"]
    depth = found["decides"]["depth"]
    tokens = table["depths"][depth - 1]["tokens_per_round"]["estimate"]
    assert found["decides"]["expected"] == pytest.approx((tokens - 1) / depth, abs=0.01)


def test_a_run_counts_before_counts_of_accepted_tokens(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)
    call("acceptance", models[1], models[3], "--prompts", "1", "--max-tokens", "24")
    call("probe", models[1])

    run = measured(models, tmp_path)

    assert plan(models)["speedup"]["estimate"] == pytest.approx(run["speedup"], abs=0.001)


def test_forget_empties_the_record_and_the_plan_predicts_again(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)
    before = plan(models)
    measured(models, tmp_path)

    said = call("forget").stderr

    assert said == "1 measurement deleted.\n"
    assert (plan(models)["speedup"], call("forget").stderr) == (
        before["speedup"],
        "0 measurements deleted.\n",
    )


def test_a_record_that_cannot_be_written_ends_no_command(
    models: list[str], tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)
    (cache_dir / "record").write_text("a file, not a folder", "utf-8")

    done = [
        call("run", *models, *QUICK, "-o", str(tmp_path / "out.json")),
        call("probe", models[1]),
        call("acceptance", models[1], models[3], "--prompts", "1", "--max-tokens", "24"),
    ]

    for each, shown in zip(done, ("draft-model-n4", "Half of the passes", "of tries"), strict=True):
        assert each.stderr.count("Not remembered for plan: the cache ") == 1
        assert "Saved for this machine" not in each.stderr
        assert shown in each.stdout
    assert call("plan", models[1], models[3]).exit_code == 0


def test_the_record_keeps_the_latest_measurements(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)
    monkeypatch.setattr("harness.record.kept._MOST", 1)
    measured(models, tmp_path)
    (tmp_path / "out.json").unlink()
    engine(monkeypatch, GAINS)

    run = measured(models, tmp_path)

    (kept,) = recorded(Submission)
    assert kept.measured_until == json.loads((tmp_path / "out.json").read_bytes())["measured_until"]
    assert plan(models)["speedup"]["estimate"] == pytest.approx(run["speedup"], abs=0.001)


def test_the_record_has_neither_names_nor_notes_nor_texts(
    models: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, LOSES)

    measured(models, tmp_path, "--contributor", "ada", "--notes", "undervolted")

    (kept,) = recorded(Submission)
    assert (kept.contributor, kept.notes) == (None, None)
    assert b"undervolted" in (tmp_path / "out.json").read_bytes()
    assert b"undervolted" not in msgspec.json.encode(kept)
