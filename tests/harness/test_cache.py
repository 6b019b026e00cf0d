"""Is the cache where it should be, and is what stands in it always complete?"""

from __future__ import annotations

import shutil
from collections import namedtuple
from typing import TYPE_CHECKING

import pytest

from harness import files
from harness.errors import MachineError
from harness.models.describe import WeightsFile, cached_facts, describe
from tests.harness.ggufs import write_gguf

if TYPE_CHECKING:
    from pathlib import Path


Usage = namedtuple("Usage", ["total", "used", "free"])  # noqa: PYI024 - the shape of disk_usage


def test_the_variable_overrides_the_directory(cache_dir: Path) -> None:
    assert files.directory() == cache_dir


def test_a_failed_write_leaves_nothing_behind(cache_dir: Path) -> None:
    def interrupted() -> None:
        with files.written(cache_dir / "file") as part:
            part.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert list(cache_dir.iterdir()) == []


def test_a_write_replaces_what_was_there(cache_dir: Path) -> None:
    (cache_dir / "file").write_bytes(b"old")

    with files.written(cache_dir / "file") as part:
        part.write_bytes(b"new")

    assert [(p.name, p.read_bytes()) for p in cache_dir.iterdir()] == [("file", b"new")]


@pytest.mark.usefixtures("cache_dir")
def test_a_full_disk_is_said_before_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Usage(total=10**9, used=10**9, free=50 * 1024**2)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)

    with pytest.raises(MachineError, match="no space on disk for a model: 100 MiB needed, 50 MiB"):
        files.require_space(100 * 1024**2, "a model")


def test_a_cache_that_cannot_be_made_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "file" / "below"))

    with pytest.raises(MachineError, match="set DRAFTMAP_CACHE"):
        files.directory()


def test_a_cache_that_cannot_be_written_is_one_line_that_names_the_variable(
    cache_dir: Path,
) -> None:
    (cache_dir / "known").touch()  # where a directory is needed

    with pytest.raises(MachineError, match=r"cannot be used \(File exists\).*DRAFTMAP_CACHE"):
        cached_facts(write_gguf(cache_dir / "model.gguf"), say=print)


@pytest.mark.usefixtures("cache_dir")
def test_a_file_has_one_identity_by_preset_and_by_path(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "downloaded.gguf", name="A name in the header")
    copy = tmp_path / "elsewhere.gguf"
    shutil.copy(path, copy)
    preset = WeightsFile(path=path, name="Big-7B", family="Big", repository="owner/Big-7B-GGUF")

    alone = describe(WeightsFile(path=copy), say=print).model
    by_preset = describe(preset, say=print).model
    by_path = describe(WeightsFile(path=copy), say=print).model

    assert alone.name == "A-name-in-the-header"
    assert by_path == by_preset
    assert by_path.id == "big-7b-f16"
