"""Which rules hold for every test? Skips are loud, and Hypothesis repeats itself.

The cache of weights is the user's own: engine tests need real weights, and fetching them anew
into a temporary folder for every run would take minutes.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.no_skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

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
