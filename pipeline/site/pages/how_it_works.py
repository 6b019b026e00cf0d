"""Write the page *How it works*: when speculation pays, by the textbook formula plus costs.

If each token is accepted independently with probability alpha, a draft of gamma tokens yields on
average `E = (1 - alpha^(gamma+1)) / (1 - alpha)` tokens per round (Leviathan et al. 2023, equation
1). A round costs `R = gamma c + T(gamma+1)`, drafting plus one verification step. On this page, T
is 1 for one token and grows by v for each further token. The speedup is `E / R`.
`site_src/assets/javascripts/whatif.js` computes the same.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
from markupsafe import Markup

from pipeline.site.charts import draw
from pipeline.site.pages import expected
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from schemas.vocabulary import documents, say
from schemas.vocabulary.flags import FLAGS

DEEPEST = 16
TITLE = re.compile(r"\A---\n.*?\n---\n+# [^\n]*\n", re.DOTALL)
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
FLAG_TABLE = "<!-- table of flags -->"
WIDTH, HEIGHT = 600.0, 260.0
TOP = 4.0  # the highest speedup in the drawing; higher speedups are cut off
FORMATS: dict[str, Callable[[float], str]] = {
    "count": lambda value: say.number(value, 0),
    "number": say.number,
    "exact": lambda value: say.number(value, 3),
    "percent": say.percent,
    "percent1": lambda value: say.percent(value, 1),
    "signed": lambda value: say.percent(value, 1, signed=True).replace("-", "\N{MINUS SIGN}"),
    "ratio": say.times,
    "yes": lambda value: "yes" if value else "no",
}
WORDS = ("text", "yes")  # kinds of columns that contain words instead of figures


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfInputs:
    """Acceptance per token, depth, and the costs to draft a token and to verify one more token."""

    acceptance: float
    depth: int
    draft_cost: float
    verify_cost: float


OPENING = WhatIfInputs(acceptance=0.7, depth=4, draft_cost=0.1, verify_cost=0.08)


def round_cost(depth: int, draft_cost: float, verify_cost: float) -> float:
    """R, the cost of a round in units of one plain decoding step."""
    return depth * draft_cost + 1.0 + verify_cost * depth


def tokens_per_round(acceptance: float, depth: int) -> float:
    """The tokens of a round whose drafted tokens are all accepted with this chance."""
    return sum(acceptance**n for n in range(depth + 1))


def speedup(settings: WhatIfInputs, depth: int) -> float:
    cost = round_cost(depth, settings.draft_cost, settings.verify_cost)
    return tokens_per_round(settings.acceptance, depth) / cost


def how_it_works(
    connection: duckdb.DuckDBPyConnection, site: Site, prose: Path, benches: Path
) -> Page:
    """The explainer and its drawing, the prose in `prose`, and proofs from the bench files."""
    predictions = draw(connection, "predictions", site.cache)
    depths = range(DEEPEST + 1)
    curve = [(depth, speedup(OPENING, depth)) for depth in depths]
    ceiling = [
        (depth, (depth + 1) / round_cost(depth, OPENING.draft_cost, OPENING.verify_cost))
        for depth in depths
    ]
    return render(
        "how-it-works.md.jinja",
        path="how-it-works.md",
        site=site,
        figures=() if predictions.empty else (predictions,),
        predictions=predictions,
        settings=OPENING,
        yielded=tokens_per_round(OPENING.acceptance, OPENING.depth),
        cost=round_cost(OPENING.depth, OPENING.draft_cost, OPENING.verify_cost),
        speedup=speedup(OPENING, OPENING.depth),
        best=max(curve[1:], key=lambda point: point[1]),
        rows=tuple(
            (depth, here, most) for (depth, here), (_, most) in zip(curve, ceiling, strict=True)
        ),
        curve=path(curve),
        ceiling=path(ceiling),
        dot=(x(OPENING.depth), y(speedup(OPENING, OPENING.depth))),
        lines=tuple((y(value), value) for value in (0.5, 1.0, 2.0, 3.0)),
        ticks=tuple((x(depth), depth) for depth in range(0, DEEPEST + 1, 2)),
        box=(WIDTH, HEIGHT),
        top=TOP,
        deepest=DEEPEST,
        methodology=folded(with_flags(_text(prose / "methodology.md"))),
        questions=folded(_text(prose / "faq.md")),
        glossary=Markup(_text(prose / "glossary.md")),  # noqa: S704 - our own prose
        running=expected.running_error(benches),
        medians=expected.medians(),
        proofs=tuple(proofs(benches)),
    )


def _text(file: Path) -> str:
    """The Markdown in a file, without its front matter and title."""
    return TITLE.sub("", file.read_text("utf-8"))


def with_flags(page: str) -> str:
    """The methodology page, with the table of flags inserted."""
    if FLAG_TABLE not in page:
        raise ValueError(f"the methodology page has no line {FLAG_TABLE}")
    rows = (f"| `{each.id}` | {each.severity} | {each.explanation()} |" for each in FLAGS.values())
    table = "\n".join(("| Flag | Severity | Raised when |", "| --- | --- | --- |", *rows))
    return page.replace(FLAG_TABLE, table)


def folded(text: str) -> Markup:
    """Make each section of Markdown prose collapsible and give it an anchor."""
    opened = SECTION.sub(
        lambda found: (
            f'</details>\n\n<details markdown="1" id="{_anchor(found[1])}">'
            f"<summary>{found[1]}</summary>\n\n"
        ),
        text[text.index("## ") :],
    )
    return Markup(opened.removeprefix("</details>\n\n") + "\n\n</details>\n")  # noqa: S704 - our own prose


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def path(points: list[tuple[int, float]]) -> str:
    """A curve as SVG path data."""
    return "M" + "L".join(f"{x(depth):g},{y(value):g}" for depth, value in points)


def x(depth: float) -> float:
    return round(depth / DEEPEST * WIDTH, 2)


def y(value: float) -> float:
    return round(HEIGHT - value / TOP * HEIGHT, 2)


def proofs(folder: Path) -> Iterator[Mapping[str, object]]:
    """Yield each proof of `proofs.toml` whose bench has written rows, with values as text."""
    listed = documents.document("proofs", "pipeline.site.pages")
    names = listed["words"]
    for entry in listed["proof"]:
        path = folder / entry["file"]
        if not path.exists():
            continue
        document = json.loads(path.read_text("utf-8"))
        rows = tuple(
            tuple(_printed(row.get(key), kind, names) for key, _, kind in entry["columns"])
            for row in _rows(document, entry.get("rows"), entry.get("only", {}))
        )
        if rows:
            yield {
                **entry,
                "command": document.get("command", entry["command"]),
                "date": document.get("date"),
                "columns": [(heading, kind not in WORDS) for _, heading, kind in entry["columns"]],
                "rows": rows,
            }


def _rows(
    document: dict[str, object], name: str | None, only: dict[str, list[object]]
) -> Iterator[dict[str, object]]:
    """The rows in a bench's document: its list or table `name`, or the document as a single row."""
    found = document if name is None else document.get(name, [])
    if name is None:
        yield document
    elif isinstance(found, dict):
        yield from ({"name": key, **row} for key, row in sorted(found.items()))
    elif isinstance(found, list):
        yield from (
            row for row in found if all(row.get(key) in chosen for key, chosen in only.items())
        )


def _printed(value: object, words: str, names: dict[str, str]) -> str:
    if words == "text":
        return say.UNKNOWN if value is None else names.get(str(value), str(value))
    return FORMATS[words](value) if isinstance(value, int | float) else say.UNKNOWN
