"""Rules for all tests: skips are loud, Hypothesis is deterministic, long files start first.

Tests use the user's cache of weights: engine tests need real weights, and downloading them
into a temporary folder for every run would take minutes.
"""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from harness.machine import environment
from harness.report import expected_time
from tests.no_skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

# Settings of terminals and CI hosts that change colours and widths.
for _name in (
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "NO_COLOR",
    "PY_COLORS",
    "TERMINAL_WIDTH",
):
    os.environ.pop(_name, None)

# Waiting threads of an engine sleep: with four test processes on two cores, a spinning thread would
# take the core from the thread that it waits for.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Shorten readings of load and speed, which would take a second in each of hundreds of runs.
environment.SAMPLE_S = 0.05
expected_time.COPIED_BYTES = 4 * 1024 * 1024

# The same examples in every run, because intermittent failures help nobody. There is no database of
# old failures in the working tree; the input of a fixed bug becomes a test. Examples have no
# deadline, which would depend on the machine's load: pytest's timeout finds endless ones.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# In this order: one process builds the shared site while the others run files that mostly wait,
# and engines; then come files that use the site, and browser tests, which need it; two of their
# files open every page.
_LONG = ("builds", "long", "engine", "site", "tour", "browser")
_SITES = {"built_site", "empty_site", "answers_that_ship"}


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
        marked = [name for name in _LONG if item.get_closest_marker(name)]
        if "builds" not in marked and _SITES & vars(item.module).keys():
            marked = ["site"]
        turns[item.path] = min((turns[item.path], *map(_LONG.index, marked)))
    items.sort(key=lambda item: turns[item.path])
