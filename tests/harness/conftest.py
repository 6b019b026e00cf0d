"""What do the harness's tests share? A cache of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.files import VARIABLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory that the harness uses instead of the person's."""
    path = tmp_path / "cache"
    path.mkdir()
    monkeypatch.setenv(VARIABLE, str(path))
    return path
