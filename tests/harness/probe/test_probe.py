"""`probe` times steps of all widths and keeps every pass; `plan` uses the kept curve."""

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.campaign.model import Campaign
from harness.cli import app
from harness.errors import MachineError
from harness.machine import computer as computers
from harness.machine.environment import Watch
from harness.record.kept import KeptCurve, recorded
from harness.record.measured_here import kept_for
from harness.runners import CONNECT, base
from harness.runners.http.values import BadAnswerError
from harness.runners.llama_server import completion
from harness.runners.probes import passes
from schemas.codec import Json
from schemas.submission import Cpu, Machine, OperatingSystem, Snapshot
from tests.harness.campaigns import campaign
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.harness.ggufs import write_gguf

# A step over w tokens takes 20 + 2 (w - 1) ms, so that one over 5 tokens costs 1.4 plain steps.
RIG = FakeRig(step_ms=20.0, extra_width_ms=2.0)


def on_processor(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    rig = Machine(
        os=OperatingSystem(family="linux"),
        cpu=Cpu(name=name, architecture="x86_64", logical_cores=2),
        ram_mib=24_000,
    )
    monkeypatch.setattr("harness.machine.detect.machine", lambda: rig)


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch, binding: None, cache_dir: Path) -> None:  # noqa: ARG001 - see there
    """A machine without a card, and the fake engine on it."""
    on_processor(monkeypatch, "Test CPU")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache_dir / "hub"))
    quiet(monkeypatch)
    assert computers.computer_of().devices == ()
    engine(monkeypatch, FakeSession)


def quiet(monkeypatch: pytest.MonkeyPatch, busy: float = 0.0) -> None:
    """A machine on which other programs use this share of the processor."""
    shot = Snapshot(moment="before", busy_fraction=busy)
    monkeypatch.setattr(Watch, "snapshot", lambda _watch, _moment: shot)


def engine(
    monkeypatch: pytest.MonkeyPatch,
    session: Callable[[FakeRig, Campaign], base.Session],
    rig: FakeRig = RIG,
) -> None:
    adapter = base.Adapter(open=partial(session, rig))
    monkeypatch.setitem(CONNECT, "llama-cpp-python", lambda _options: adapter)


@pytest.fixture
def weights(tmp_path: Path) -> str:
    return str(write_gguf(tmp_path / "big.gguf", name="Big 7B"))


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def document(*words: str) -> dict[str, Any]:
    done = call(*words, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_curve_is_that_of_the_rig_and_plan_uses_it(weights: str, tmp_path: Path) -> None:
    draft = str(write_gguf(tmp_path / "draft.gguf", name="Small 1B"))
    before = document("plan", weights, draft, "--depth", "4")

    shown = call("probe", weights)
    found = document("plan", weights, draft, "--depth", "4")
    without = document("plan", weights, draft, "--depth", "4", "--curve", "none")

    assert shown.exit_code == 0
    assert "     5 " in shown.stdout
    assert " 1.40  28.0 ms" in shown.stdout
    assert "python -m harness plan" in shown.stderr
    assert found["curve"]["costs"][4] == 1.4
    assert found["curve"]["source"].startswith("the probe of ")
    assert found["speedup"]["basis"] == "curve"
    assert without["curve"] is before["curve"] is None


def test_the_json_of_a_probe_is_a_curve_for_plan_on_another_machine(
    weights: str, tmp_path: Path
) -> None:
    path = tmp_path / "curve.json"
    done = call("probe", weights, "--widest", "9", "--json")
    path.write_text(done.stdout, "utf-8")

    found = call("plan", weights, "ngram", "--gpu", "none", "--ram", "16", "--curve", str(path))

    assert json.loads(done.stdout)["widths"] == [*range(1, 10)]
    assert found.exit_code == 0, found.stderr


@pytest.mark.parametrize(
    "change",
    [
        {"step_ms": [[], []]},
        {"step_ms": [[1.0]]},
        {"step_ms": [[0.0], [1.0]]},
        {"widths": [2, 1]},
        {"widths": [], "step_ms": []},
        {"widths": "1,2"},
    ],
)
def test_a_kept_file_that_somebody_changed_is_refused_in_a_line(
    change: dict[str, object], weights: str, tmp_path: Path
) -> None:
    whole = json.loads(call("probe", weights, "--widest", "2", "--json").stdout)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps({**whole, "step_ms": [[1.0], [2.0]], **change}), "utf-8")

    found = call("plan", weights, "--curve", str(path))

    assert found.exit_code == 2
    assert "changed.json" in found.stderr
    assert found.stderr.count("\n") == 1


class Interrupted(FakeSession):
    """Raises Ctrl-C in the third pass."""

    passes = 0

    def step_times(self, widths: Sequence[int]) -> base.StepTimes:
        self.passes += 1
        if self.passes == 3:
            raise KeyboardInterrupt
        return super().step_times(widths)


def loading(_rig: FakeRig, _campaign: Campaign) -> FakeSession:
    raise KeyboardInterrupt


@pytest.mark.parametrize("session", [loading, Interrupted])
def test_ctrl_c_ends_at_once_and_saves_nothing(
    session: type[FakeSession], weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(monkeypatch, session)

    ended = call("probe", weights)

    assert (ended.exit_code, ended.stdout) == (130, "")
    assert "Interrupted" in ended.stderr
    assert recorded(KeptCurve) == []


class Uneven(FakeSession):
    """Every third pass takes twice as long."""

    passes = 0

    def step_times(self, widths: Sequence[int]) -> base.StepTimes:
        self.passes += 1
        times = super().step_times(widths)
        slower = 2.0 if self.passes % 3 == 0 else 1.0
        return dataclasses.replace(times, ms=tuple(ms * slower for ms in times.ms))


def test_a_busy_machines_curve_is_saved_with_its_doubt_and_plan_repeats_it(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch, busy=0.9)

    done = call("probe", weights)
    curve = document("plan", weights, "ngram")["curve"]

    assert "Doubt: other programs kept the processor busy" in done.stderr
    assert "Saved with this doubt" in done.stderr
    assert curve["source"].endswith("(doubt: other programs kept the processor busy)")


def test_a_probe_states_how_far_its_passes_vary(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    even = call("probe", weights)
    engine(monkeypatch, Uneven)
    uneven = call("probe", weights)

    assert "within \N{PLUS-MINUS SIGN}0 %" in even.stdout
    assert "Doubt" not in even.stderr
    # The upper quartile is twice the median: half of the distance between the quartiles is 50 %.
    assert "within \N{PLUS-MINUS SIGN}50 %" in uneven.stdout
    assert "Doubt: passes vary by 50 %" in uneven.stderr


def test_other_weights_and_another_machine_have_no_part_in_a_curve(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("probe", weights)
    other = Path(weights).read_bytes()
    copy, changed = tmp_path / "copy.gguf", tmp_path / "changed.gguf"
    copy.write_bytes(other)
    changed.write_bytes(other[:-1] + bytes([other[-1] ^ 1]))

    def used(path: Path | str) -> bool:
        found = kept_for(Path(path), computers.computer_of())
        return found is not None

    assert used(copy)
    assert not used(changed)
    on_processor(monkeypatch, "Another CPU")
    assert not used(weights)


@pytest.mark.parametrize(
    ("budget_s", "expected"),
    [(20.0, 5), (75.0, 7), (1000.0, 21)],  # of 10 s each: those that end in time, at least five
)
def test_no_pass_starts_if_it_would_overrun_the_budget(budget_s: float, expected: int) -> None:
    ticks = count(step=5)  # the clock is read twice a pass

    found = passes(
        FakeSession(RIG, campaign()), (1, 2), budget_s=budget_s, clock=lambda: float(next(ticks))
    )

    assert len([*found]) == expected


def test_an_engine_without_step_times_names_an_alternative(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Recurrent(FakeSession):
        def step_times(self, widths: Sequence[int]) -> base.StepTimes:
            raise MachineError(f"single steps cannot be timed: no rollback of {len(widths)}")

    engine(monkeypatch, Recurrent)

    done = call("probe", weights)

    assert done.exit_code == 3
    assert "single steps cannot be timed: no rollback of 16" in done.stderr


class Keeping:
    """A server that reads only new parts of a prompt, or all of it if it has no cache."""

    def __init__(self, *, keeps: bool = True, step_ms: float = 0.5) -> None:
        self.keeps, self.step_ms = keeps, step_ms
        self.held: list[Json] = []
        self.read: list[int] = []

    def steps(self, *widths: int) -> tuple[float, ...]:
        return completion.step_times(self, (7, 8, 9), widths)  # type: ignore[arg-type]

    def post(self, path: str, body: Json) -> Json:
        assert isinstance(body, dict)
        prompt = body["prompt"]
        assert isinstance(prompt, list)
        assert (path, body["cache_prompt"], body["n_predict"]) == ("/completion", True, 1)
        same = next(
            (i for i, (x, y) in enumerate(zip(prompt, self.held, strict=False)) if x != y),
            min(len(prompt), len(self.held)),
        )
        fresh = len(prompt) - (same if self.keeps else 0)
        self.held = prompt
        self.read.append(fresh)
        time.sleep(0.001)
        return {"timings": {"prompt_n": fresh, "prompt_ms": self.step_ms + fresh / 1000}}


def test_a_server_reads_each_step_whole_and_nothing_else() -> None:
    client = Keeping()

    times = client.steps(1, 3, 2)

    assert client.read == [3, 1, 1, 3, 3, 2, 2]
    assert times == (0.501, 0.503, 0.502)


def test_a_server_that_reads_the_prompt_again_is_refused() -> None:
    with pytest.raises(BadAnswerError, match="read 4 tokens for a step of 1"):
        Keeping(keeps=False).steps(1, 2)


@pytest.mark.parametrize("step_ms", [-0.001, 1e6])
def test_a_server_that_states_a_time_that_cannot_be_is_refused(step_ms: float) -> None:
    with pytest.raises(BadAnswerError, match=r"states .+ ms for a step"):
        Keeping(step_ms=step_ms).steps(1)


def test_the_later_of_two_probes_of_a_day_is_used(
    weights: str, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("probe", weights, "--widest", "3")
    engine(monkeypatch, FakeSession, FakeRig(step_ms=20.0, extra_width_ms=20.0))
    call("probe", weights, "--widest", "4")
    # Both may be of the same second.
    for path in (cache_dir / "record").glob("*.json"):
        curve = json.loads(path.read_bytes())
        curve["measured_until"] = f"2026-11-27T05:00:0{len(curve['widths'])}+00:00"
        path.write_text(json.dumps(curve), "utf-8")

    found = kept_for(Path(weights), computers.computer_of())

    assert found is not None
    assert found.probe.step_ms_median == (20.0, 40.0, 60.0, 80.0)
    assert found.source == "the probe of 2026-11-27 on test 2 threads"
