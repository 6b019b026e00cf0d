"""How do the figures of the simulation look on a page? `python -m bench.simulation_table`.

Writes the tables of the design notes from the recorded figures; a test compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, str | float]

DATA = Path(__file__).parent / "figures" / "simulation.json"
NOTES_FOLDER = Path(__file__).parents[1] / "site_src" / "design"
DESIGNS = {
    "paired": "paired within blocks",
    "medians-apart": "medians apart",
    "one-after-another": "one arm after the other",
}
LENGTHS = (
    ("paired", "over-blocks", "three blocks"),
    ("adaptive", "adaptive-over-blocks", "three to six, ±3 %"),
)
MINUS = "\N{MINUS SIGN}"


def main() -> None:
    """Put the tables in the place of those with the same heading, and print them."""
    rows = json.loads(DATA.read_text("utf-8"))["rows"]
    for name, tables in NOTES.items():
        path = NOTES_FOLDER / name
        text = path.read_text("utf-8")
        for table in (each(rows) for each in tables):
            heading = table.partition("\n")[0]
            start = text.index(heading)
            end = text.index("\n\n", start) + 1 if "\n\n" in text[start:] else len(text)
            kept = text[start:end].splitlines(keepends=True)
            prose = [line for line in kept if not line.startswith("|")]
            text = text[:start] + table + "".join(prose) + text[end:]
            sys.stdout.write(f"{table}\n")
        path.write_text(text, "utf-8")


def speedups(rows: Sequence[Row]) -> str:
    """Over all tasks, by scenario and design: the speedup, and the control beside it."""
    heads = (
        "scenario",
        "design",
        "bias",
        "95 % of errors are below",
        "median half-width",
        "half-width, same arm twice",
    )
    lines = [_line(heads), "|---|---|---:|---:|---:|---:|"]
    for row in _of(rows, arm="draft", level="all-tasks"):
        scenario, method = str(row["scenario"]), str(row["method"])
        if method not in DESIGNS:
            continue
        control = next(
            _of(rows, scenario=scenario, arm="control", level="all-tasks", method=method), {}
        )
        widths = (row.get("half_width"), control.get("half_width"))
        figures = (_bias(row), _percent(row["error_95"]), *(_percent(each) for each in widths))
        lines.append(_line((_name(scenario), DESIGNS[method], *figures)))
    return "\n".join(lines) + "\n"


def intervals(rows: Sequence[Row]) -> str:
    """How often the published interval and the bootstrap contain the truth."""
    heads = ("scenario", "t, all tasks", "t, one task", "t, same arm twice")
    more = ("bootstrap, all tasks", "bootstrap, one task")
    lines = [_line((*heads, *more)), "|---|---:|---:|---:|---:|---:|"]
    for scenario in dict.fromkeys(str(row["scenario"]) for row in rows):
        found = {
            (row["arm"], row["level"], row["method"]): _percent(row.get("coverage"))
            for row in _of(rows, scenario=scenario)
        }
        shown = (
            found["draft", "all-tasks", "paired"],
            found["draft", "one-task", "paired"],
            found["control", "all-tasks", "paired"],
            found["draft", "all-tasks", "bootstrap"],
            found["draft", "one-task", "bootstrap"],
        )
        lines.append(_line((_name(scenario), *shown)))
    return "\n".join(lines) + "\n"


def lengths(rows: Sequence[Row]) -> str:
    """The campaign of three blocks beside the one that ends by its rule, and the naive design."""
    heads = ("scenario", "design", "blocks", "bias", "95 % of errors are below")
    more = ("over prompts covers", "over blocks covers", "its median half-width")
    lines = [_line((*heads, *more)), "|---|---|---:|---:|---:|---:|---:|---:|"]
    for scenario in dict.fromkeys(str(row["scenario"]) for row in rows):
        found = {
            str(row["method"]): row
            for row in _of(rows, scenario=scenario, arm="draft", level="all-tasks")
        }
        name = _name(scenario)
        for method, over_blocks, design in LENGTHS:
            row, repeatable = found[method], found[over_blocks]
            figures = (
                f"{float(row['blocks']):.1f}",
                _bias(row),
                _percent(row["error_95"]),
                _percent(row["coverage"]),
                _percent(repeatable["coverage_of_prompts"]),
                _percent(repeatable["half_width"]),
            )
            lines.append(_line((name, design, *figures)))
        naive = found["one-after-another"]
        figures = ("", _bias(naive), _percent(naive["error_95"]), "", "", "")
        lines.append(_line((name, DESIGNS["one-after-another"], *figures)))
    return "\n".join(lines) + "\n"


NOTES = {
    "0004-paired-ratios-within-blocks.md": (speedups, intervals),
    "0007-length-of-a-campaign.md": (lengths,),
}


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _of(rows: Sequence[Row], **wanted: str) -> Iterator[Row]:
    return (row for row in rows if all(row[key] == value for key, value in wanted.items()))


def _name(scenario: str) -> str:
    return scenario.replace("-", " ")


def _bias(row: Row) -> str:
    text = f"{float(row['bias']):+.1%}"
    # Nothing that rounds to zero has a direction.
    text = "0.0%" if text[1:] == "0.0%" else text
    return text.replace("-", MINUS).replace("%", " %")


def _percent(value: str | float | None) -> str:
    return "" if value is None else f"{float(value):.1%}".replace("%", " %")


if __name__ == "__main__":
    main()
