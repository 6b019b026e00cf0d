"""Rules for all tests: skips are loud, Hypothesis is deterministic, long files start first.

Tests use the user's cache of weights: engine tests need real weights, and downloading them
into a temporary folder for every run would take minutes.
"""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from harness.machine import environment, rate
from tests.no_skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

# What a terminal, or the host that tests a change, would make of colours and widths.
for _name in (
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "NO_COLOR",
    "PY_COLORS",
    "TERMINAL_WIDTH",
):
    os.environ.pop(_name, None)

# Threads of an engine that wait for each other sleep: four processes test on two cores, where one
# that looks out for the others takes the core from them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# How busy and how fast the machine is: hundreds of runs would look for a second each.
environment.SAMPLE_S = 0.05
rate.BYTES = 4 * 1024 * 1024

# The same examples in every run: a failure that comes and goes helps nobody. No database of old
# failures in the working tree either; a fixed bug leaves its input as a test. How long an example
# takes says more of what else the machine does: pytest's own timeout finds the endless ones.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# In this order: one process builds the site that all look at, while the others have files that
# mostly wait, and engines; what has a browser needs it, and two files open every page.
_LONG = ("builds", "long", "engine", "tour", "browser")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Disable garbage collection while thousands of tests are collected, then freeze them."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_unconfigure() -> None:
    """Collect garbage at the end, for libraries that report leaked objects."""
    gc.unfreeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest files: at the end, other processes would wait for them."""
    turns = {item.path: len(_LONG) for item in items}
    for item in items:
        marked = (turn for turn, name in enumerate(_LONG) if item.get_closest_marker(name))
        turns[item.path] = min((turns[item.path], *marked))
    items.sort(key=lambda item: turns[item.path])
