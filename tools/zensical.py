"""Compare the site with a build by Zensical: `python -m tools.zensical SITE PROGRAM FOLDER`.

Support for the theme mkdocs-material ends on 2027-05-05; its successor, Zensical, reads the same
configuration. This program compares all words in the title and the article of every page, and the
lists of files. `make zensical` installs the newest available version and calls this program.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path

from pipeline.site.finished_html import insert_parts

ROOT = Path(__file__).resolve().parents[1]
THEME = Path("pipeline/site/theme")
UNSEEN = {"script", "style", "template"}
EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
PAGE = "index.html"
MOST_SHOWN = 5  # the number of printed differences of a page
NEAR = 3  # words on each side of a difference


class Words(HTMLParser):
    """The words in the title and the article of a page, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in EMPTY:
            self.open.append(tag)
        if "article" in self.open:
            self.found += (dict(attrs).get("alt") or "").split()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if UNSEEN.isdisjoint(self.open) and ("article" in self.open or self.open[-1:] == ["title"]):
            self.found += data.split()


def main(site: Path, program: Path, folder: Path) -> int:
    """Build, compare and print all differences; return 1 only if Zensical fails to build."""
    built = build(site, program, folder)
    if built is None:
        return 1
    old, new = pages(site), pages(built)
    differing = 0
    for name in sorted(old.keys() & new.keys()):
        found = list(differences(old[name], new[name]))
        differing += bool(found)
        for line in found[:MOST_SHOWN]:
            _print(f"{name}: {line}")
        if len(found) > MOST_SHOWN:
            _print(f"{name}: and {len(found) - MOST_SHOWN} more")
    for name, lists in (
        ("page", (old.keys(), new.keys())),
        ("file", (_files(site), _files(built))),
    ):
        for sign, rest in (
            ("only MkDocs", lists[0] - lists[1]),
            ("only Zensical", lists[1] - lists[0]),
        ):
            for count_of, number in sorted(Counter(map(_kind, rest)).items()):
                _print(f"{sign} has {number} {name}(s): {count_of}")
    words = sum(map(len, old.values()))
    _print(f"{len(old)} pages with {words} words; {differing} of them differ.")
    return 0


def build(site: Path, program: Path, folder: Path) -> Path | None:
    """Build the site with Zensical from MkDocs's input and print the output; `None` on failure."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / THEME, folder / THEME)  # keeps Zensical's cache out of the checkout
    shutil.copy(ROOT / "mkdocs.yml", folder)
    source = site.resolve().with_name(f"{site.name}-source")
    shutil.copytree(source, folder / "docs")
    environment = os.environ | {"DRAFTMAP_DOCS_DIR": "docs", "DRAFTMAP_SITE_DIR": "site"}
    command = [str(program.absolute()), "build", "--config-file", "mkdocs.yml"]
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    _print(f"mkdocs-material {metadata.version('mkdocs-material')}, zensical {_version(program)}")
    _print((done.stdout + done.stderr).strip())
    if done.returncode:
        return None
    insert_parts(source, folder / "site")
    return folder / "site"


def pages(site: Path) -> dict[str, list[str]]:
    """The words of each page, keyed by its address."""
    found = site.rglob(PAGE)
    return {p.relative_to(site).as_posix(): Words(p.read_text("utf-8")).found for p in found}


def differences(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield each run of words that differs, with a few words before it."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind != "equal":
            before = " ".join(old[max(first - NEAR, 0) : first])
            yield f"… {before} [-{_cut(old[first:last])}-] [+{_cut(new[start:end])}+]"


def _cut(words: Sequence[str]) -> str:
    shown = " ".join(words[:12])
    return shown if len(words) <= 12 else f"{shown} … ({len(words)} words)"


def _files(site: Path) -> set[str]:
    """All files except pages, with digests removed from their names."""
    found = (p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file())
    return {re.sub(r"\.[0-9a-f]{8,}\b", "", name) for name in found if not name.endswith(PAGE)}


def _kind(name: str) -> str:
    """A file's name or, for a file of the theme, only its folder and suffix."""
    path = Path(name)
    of_theme = re.match(r"assets/(?:javascripts|stylesheets|images)/", name)
    return f"{path.parent.as_posix()}/*{path.suffix}" if of_theme else name


def _version(program: Path) -> str:
    done = subprocess.run(
        [str(program.absolute()), "--version"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:4])))
