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
from html import unescape
from importlib import metadata
from pathlib import Path

from pipeline.site.finished_html import insert_parts
from tools.private import TAG

ROOT = Path(__file__).resolve().parents[1]
THEME = Path("pipeline/site/theme")
TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
ALT = re.compile(r'<img\b[^<>]{0,500}\balt="([^"<>]{0,500})"[^<>]{0,500}>')


def main(site: Path, program: Path, folder: Path) -> int:
    """Build, and let git print all differences; return 1 only if Zensical fails to build."""
    built = build(site, program, folder)
    if built is None:
        return 1
    write_words(site, folder / "mkdocs")
    write_words(built, folder / "zensical")
    git = ("git", "diff", "--no-index", "--no-renames", "--word-diff", "--unified=0")
    shown = ("--compact-summary", "--patch", "mkdocs", "zensical")
    subprocess.run((*git, *shown), cwd=folder, check=False)
    return 0


def write_words(site: Path, folder: Path) -> None:
    """Write the words of each page to a file of its name; an empty one for every other file.

    Digests are removed from the names, and of the theme's files only folders and suffixes are kept.
    """
    for path in (path for path in site.rglob("*") if path.is_file()):
        name = re.sub(r"\.[0-9a-f]{8,}\b", "", path.relative_to(site).as_posix())
        name = re.sub(r"^(assets/(?:javascripts|stylesheets|images)/(?:.*/)?)[^/.]*", r"\1_", name)
        found = words(path.read_text("utf-8")) if path.name == "index.html" else []
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{word}\n" for word in found), "utf-8")


def words(text: str) -> list[str]:
    """The words in the title and the article of a page, and in its pictures' alternative texts."""
    parts = " ".join([*TITLE.findall(text), *ARTICLE.findall(text)])
    return unescape(TAG.sub(" ", ALT.sub(r" \1 ", parts))).split()


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
    named = subprocess.run([command[0], "--version"], text=True, capture_output=True, check=False)
    versions = f"mkdocs-material {metadata.version('mkdocs-material')}, {named.stdout.strip()}"
    print(versions, (done.stdout + done.stderr).strip(), sep="\n", flush=True)  # noqa: T201
    if done.returncode:
        return None
    insert_parts(source, folder / "site")
    return folder / "site"


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:4])))
