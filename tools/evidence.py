"""Check the evidence on every page of a built site: `python -m tools.evidence build/site`.

Every page with other people's figures credits their authors. A caption ranks only figures with a
clear verdict. Every chart links to its SVG and CSV. No label contains an internal field name.
"""

import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from tests.pipeline.page_tables import CELL, ROW, text_of

FIELD = re.compile(r"\b[a-z]+_[a-z_]+\b|\bundefined\b|\bNaN\b")
SPOKEN = re.compile(r'\b(?:aria-label|title|alt|data-label)="([^"]*)"')
FOREIGN = re.compile(r"dm-(?:tier|sq|map__square)--(?:imported|published)\b")
# A line that credits an author, or the author at the start of a source's page.
CREDIT = re.compile(r'class="[^"]*dm-credit|published</span> By |Imported from records|dm-source"')
FIGURE = re.compile(r'<figure class="dm-chart(?![^"]*--empty).*?</figure>', re.DOTALL)
CAPTION = re.compile(r"<figcaption[^>]*>(.*?)</figcaption>", re.DOTALL)
# A sentence that ranks contains one of these words; its ratios must have clear verdicts.
RANKS = re.compile(r"\b(?:highest|lowest|most|least|best|worst|surest)\b")
UNRANKED = re.compile(r"no clear|not clear|nothing is clear|none is clear")
RATIO = re.compile(r"(?<!\d)\d+\.\d\d×")  # noqa: RUF001 - as printed
CLEAR = re.compile(r"(?:[△▽▲▼] )?(?:helps|hurts)\b")


def complaints(site: Path) -> Iterator[tuple[str, str]]:
    """Yield each fault, preceded by the page that has it."""
    for path in sorted(site.rglob("index.html")):
        page = path.parent.relative_to(site).as_posix()
        text = path.read_text("utf-8")
        article = text[text.find("<article") : text.rfind("</article>")]
        yield from ((page, words) for words in _on(page, article, text))


def _on(page: str, article: str, text: str) -> Iterator[str]:
    linked = "data/#" in article or page == "data"
    if FOREIGN.search(article) and not (CREDIT.search(article) and linked):
        yield "a figure that other people published has no credit"
    for spoken in SPOKEN.findall(text):
        # The name of a source or of a file may look like a field name.
        if FIELD.search(unescape(spoken)) and not spoken.startswith("Figures of "):
            yield f"a label contains a field name: {spoken[:80]}"
    for figure in FIGURE.findall(article):
        yield from _figure(figure)


def _figure(figure: str) -> Iterator[str]:
    charted = re.search(r'data-spec="[^"]*/([^"/]+)\.json"', figure)
    if charted and not all(f">{name}</a>" in figure for name in ("SVG", "CSV", "Link")):
        yield f"{charted[1]} lacks its SVG, CSV or link"
    found = CAPTION.search(figure)
    if charted and found:
        yield from (
            f"ranks a figure without a clear verdict: {words}"
            for words in _unclear(found[1], figure)
        )


def _unclear(caption: str, figure: str) -> Iterator[str]:
    """Yield each sentence of a caption that ranks a ratio without a clear verdict in the table."""
    head, _, body = figure.partition("</thead>")
    if "Verdict" not in head:
        return
    lines = [[text_of(cell) for cell in CELL.findall(row)] for row in ROW.findall(body)]
    clear = {cell for line in lines if any(map(CLEAR.match, line)) for cell in line}
    for sentence in re.split(r"(?<=[.;])\s", text_of(caption)):
        if not RANKS.search(sentence) or UNRANKED.search(caption):
            continue
        if any(ratio.removesuffix(ratio[-1]) not in clear for ratio in RATIO.findall(sentence)):
            yield sentence


def main(site: Path) -> int:
    """Print every complaint; return 1 if there is any."""
    found = list(complaints(site))
    sys.stdout.writelines(f"{page or 'home'}: {words}\n" for page, words in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
