"""With DRAFTMAP_NO_SKIPS=1 a skipped test fails the run.

A skip is fine on a contributor's machine. On the machine that decides about a change, a missing
browser or engine would look like a pass.
"""

import os

import pytest

VARIABLE = "DRAFTMAP_NO_SKIPS"
# Not the status of failed tests, which `make test` repeats: the repetition would skip nothing.
SKIPPED = 6


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End with `SKIPPED` if tests were skipped and the variable is set."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if _forbidden() and _skipped(reporter):
        session.exitstatus = SKIPPED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print loudly which tests were not run."""
    count = _skipped(terminalreporter)
    if count:
        terminalreporter.section(f"{count} TESTS WERE NOT RUN", sep="!", red=True)
        terminalreporter.write_line("The reasons are in the short summary below or above.")
        if _forbidden():
            terminalreporter.write_line(f"{VARIABLE} is set: a skipped test fails the run.")


def _forbidden() -> bool:
    return os.environ.get(VARIABLE, "") not in ("", "0")


def _skipped(reporter: pytest.TerminalReporter | None) -> int:
    return len(reporter.stats.get("skipped", [])) if reporter else 0
