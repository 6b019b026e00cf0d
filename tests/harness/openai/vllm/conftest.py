"""Tests on a real vLLM run with `make test-vllm`, never with `make test`.

They need an environment of five gigabytes and ten minutes, which no other test should wait for.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tools.vllm.environment import BUILD, SPECULATION, running

collect_ignore_glob = [] if "DRAFTMAP_TEST_VLLM" in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, str]]:
    """The base addresses of servers for all modes of speculation, running at the same time."""
    with ExitStack() as stack:
        yield {mode: stack.enter_context(running(BUILD, mode)) for mode in SPECULATION}
