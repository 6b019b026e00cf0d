"""The report stays correct with little room or little content."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from harness.report.terminal import show
from tests.harness.report.test_report import report_of, three_arms


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        # The arm that loses has the shorter words.
        (80, {"request got/needs same"}),
        (66, {"request", "request got/needs"}),
        (56, {"", "request"}),
    ],
)
def test_a_narrow_terminal_gets_fewer_columns_and_whole_figures(
    width: int, columns: set[str]
) -> None:
    submission, summary = three_arms()
    console = Console(file=io.StringIO(), width=width)

    show(submission, summary, console)

    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    headings = [" ".join(line.split()) for line in lines if line.startswith("task ")]
    known = "task verdict tokens/s speedup [95%]"
    assert {each.removeprefix(known).strip() for each in headings} == columns
    assert not [line for line in lines if "\N{HORIZONTAL ELLIPSIS}" in line]


def test_a_baseline_alone_has_no_table_and_no_legend_of_it() -> None:
    submission, summary = three_arms()

    said = report_of(replace(submission, arms=submission.arms[:1]), replace(summary, estimates=()))

    assert "got/needs" not in said
