"""Write the page *How it works*: the picture of a round, the method, estimates, and proofs."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from markupsafe import Markup

from pipeline.site.pages import expected
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from schemas.vocabulary import documents, say
from schemas.vocabulary.flags import FLAGS

TITLE = re.compile(r"\A---\n.*?\n---\n+# [^\n]*\n", re.DOTALL)
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
FLAG_TABLE = "<!-- table of flags -->"
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


def how_it_works(site: Site, prose: Path, benches: Path) -> Page:
    """The explainer, the prose in `prose`, and proofs from the bench files."""
    return render(
        "how-it-works.md.jinja",
        path="how-it-works.md",
        site=site,
        methodology=folded(with_flags(_text(prose / "methodology.md"))),
        questions=folded(_text(prose / "faq.md")),
        glossary=Markup(_text(prose / "glossary.md")),  # noqa: S704 - our own prose
        months=expected.errors_by_month(benches),
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
