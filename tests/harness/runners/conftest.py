"""Weights for tests of real engines in which the answers do not matter."""

from pathlib import Path

import pytest

from harness.models.resolve import resolve
from tests.harness.ggufs import first_layers


@pytest.fixture(scope="session")
def nonsense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first of a real model's thirty layers: it repeats one token, without near-ties."""
    whole = resolve("smollm2-135m:q4_1", say=lambda _: None).path
    return first_layers(whole, tmp_path_factory.mktemp("nonsense") / "nonsense.gguf", 1)
