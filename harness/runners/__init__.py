"""Which engines can the harness reach? A registry to grep: one line per runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runners.fake import FakeRunner
from harness.runners.isolated import Isolated
from harness.runners.llama.runner import LlamaCppPython

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.runners.base import Runner

RUNNERS: dict[str, Callable[[], Runner]] = {
    "llama-cpp-python": lambda: Isolated(LlamaCppPython()),
    "fake": FakeRunner,
}
