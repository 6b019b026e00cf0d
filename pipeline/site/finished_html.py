"""Keep tables, strips and credits away from MkDocs, and insert them into its finished pages.

Templates write these parts as HTML. MkDocs would parse them three times (for Markdown, for anchors
and for the search index), which took two thirds of its time and changed nothing.
"""

import re
from pathlib import Path

import orjson

from pipeline.site.pages.model import address_of

# MkDocs ignores hidden folders.
FOLDER = ".finished-html"
PARTS = re.compile(
    r'^(?:<table\b.*?^</table>|<ol class="dm-strips".*?^</ol>'
    r'|<p class="dm-(?:legend|muted dm-small dm-credit)"[^\n]*</p>'
    r'|<div class="dm-strip[^\n]*</div>)\n',
    re.DOTALL | re.MULTILINE,
)
PLACE = "<!-- finished html {} -->\n"


def set_aside(docs: Path, page: str, text: str) -> str:
    """Store the finished parts of a Markdown page, and return the page with numbered comments."""
    parts: list[str] = []

    def placed(part: re.Match[str]) -> str:
        parts.append(part[0])
        return PLACE.format(len(parts))

    rest = PARTS.sub(placed, text)
    if parts:
        path = docs / FOLDER / f"{page}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(parts))
    return rest


def insert_parts(docs: Path, site: Path) -> None:
    """Put every part that was set aside into its page of the built site."""
    for stored in (docs / FOLDER).rglob("*.json"):
        source = stored.relative_to(docs / FOLDER).as_posix().removesuffix(".json")
        page = site / address_of(source) / "index.html"
        text = page.read_text("utf-8")
        for number, part in enumerate(orjson.loads(stored.read_bytes()), 1):
            text = text.replace(PLACE.format(number), part)
        page.write_text(text, "utf-8")
