"""The cache is in the right place, and its files are always complete."""

import shutil
from pathlib import Path

import pytest

from harness import files
from harness.errors import MachineError
from harness.models.describe import cached_facts, describe
from harness.models.model_file import WeightsFile
from tests.harness.ggufs import write_gguf


def test_a_failed_write_leaves_nothing_behind(cache_dir: Path) -> None:
    def interrupted() -> None:
        with files.written(cache_dir / "file") as part:
            part.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert list(cache_dir.iterdir()) == []


def test_a_cache_that_cannot_be_made_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "file" / "below"))

    assert not files.directory().exists()  # what only looks needs none
    with pytest.raises(MachineError, match=r"file/below cannot be used .*set DRAFTMAP_CACHE"):
        files.made_once("x", 1, Path.touch, what="x")


def test_a_cache_that_cannot_be_written_is_one_line_that_names_the_variable(
    cache_dir: Path,
) -> None:
    (cache_dir / "known").touch()  # where a directory is needed

    with pytest.raises(MachineError, match=r"cannot be used \(File exists\).*DRAFTMAP_CACHE"):
        cached_facts(write_gguf(cache_dir / "model.gguf"), say=print)


def test_only_a_full_disk_is_told_to_free_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "file"))

    with pytest.raises(
        MachineError, match=r"\(it is no directory\); set DRAFTMAP_CACHE to another"
    ):
        files.cache(tmp_path / "file" / "x", b"")


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
