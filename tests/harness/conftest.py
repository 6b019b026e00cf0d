"""All tests of the harness have their own cache."""

import os
from pathlib import Path

import pytest

from harness.files import VARIABLE
from harness.machine import engines
from harness.record import kept
from harness.runners import CONNECT
from tests.harness import fake_runner
from tests.harness.ggufs import write_gguf


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory that the harness uses instead of the person's."""
    path = tmp_path / "cache"
    path.mkdir()
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that use the person's cache of weights have their own record of measurements."""
    real = kept.folder
    own = lambda: real() if VARIABLE in os.environ else tmp_path / "record"  # noqa: E731
    monkeypatch.setattr(kept, "folder", own)


@pytest.fixture
def binding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that llama-cpp-python is installed, because defaults depend on it."""
    monkeypatch.setattr(engines, "package_version", lambda: "0.3.36")


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch, binding: None) -> None:  # noqa: ARG001 - see there
    """Replace the in-process engine by the fake one."""
    monkeypatch.setitem(CONNECT, "llama-cpp-python", fake_runner.connect)


@pytest.fixture
def fake_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the draft that reads answers for `acceptance`."""
    # Imported here, since the feature can be deleted with its tests.
    from tests.harness.acceptance.fake_reader import FakeReader  # noqa: PLC0415

    monkeypatch.setattr("harness.acceptance.command.Reader", FakeReader)


@pytest.fixture
def models(tmp_path: Path, cache_dir: Path) -> list[str]:
    """Options with a target and a draft of the same vocabulary."""
    assert cache_dir.is_dir()
    target = write_gguf(tmp_path / "target.gguf", name="Big 7B")
    draft = write_gguf(tmp_path / "draft.gguf", name="Small 1B")
    return ["--target", str(target), "--draft", str(draft)]
