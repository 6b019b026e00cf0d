"""Build the site from results: database, pages, charts, data, MkDocs, search index and CSP."""

import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from html import escape
from itertools import chain
from pathlib import Path

import duckdb
import vl_convert
from filelock import FileLock, Timeout

from pipeline.cache import Cache
from pipeline.data.database import open_database
from pipeline.data.export import export
from pipeline.errors import PipelineError, UnwritableError
from pipeline.site.addresses import repository_address, site_address
from pipeline.site.finished_html import insert_parts, set_aside
from pipeline.site.pages import pages
from pipeline.site.pages.how_it_works import how_it_works
from pipeline.site.pages.model import Asset, Page, Site, named_by_content
from pipeline.site.pages.raw_files import outside, raw_files
from pipeline.site.pages.template_environment import chart_files, keep_compiled
from pipeline.site.policy import write_policy
from schemas.vocabulary.documents import document

ROOT = Path(__file__).resolve().parents[2]
PROSE = ROOT / "site_src"
FIGURES = ROOT / "bench" / "figures"
CONFIG = ROOT / "mkdocs.yml"
MARK = ".draftmap-build"  # marks folders that builds may empty; MkDocs ignores hidden files
ICON_PIXELS, LOGO_PIXELS = (32, 180), 32
INDEX = "search/search_index.json"
INDEXED_LETTERS = 200  # limit on a section's words, because a search loads the whole index
SEARCHED: Mapping[str, Sequence[str]] = document("search", "pipeline.site")
ONE_LINE = re.compile(r"(devices|models)/[^/#]+/")
UNLISTED = re.compile(r"submissions/[^/#]+/")
LAST_LINES = 20
OBJECTS_PER_COLLECTION = 1_000_000
NO_MOMENT = datetime(1980, 1, 1, tzinfo=UTC)  # archives cannot have an earlier date


class SiteBuildError(PipelineError):
    """MkDocs refused the pages that the pipeline wrote."""

    exit_code = 3

    def __init__(self, output: str) -> None:
        tail = "\n".join(output.splitlines()[-LAST_LINES:])
        super().__init__(f"MkDocs could not build the site. Its last lines:\n{tail}")


def build(
    *,
    results: Path,
    output: Path,
    extra: tuple[Path, ...] = (),
    site_url: str | None = None,
    cache: Path | None = None,
    jobs: int = 1,
) -> Path:
    """Build the site into `output` and return that folder. The same inputs give the same bytes.

    `cache` is a folder that keeps charts and other values that are slow to compute; `jobs` is the
    number of processes that load result files. MkDocs reads from a folder next to `output`
    (`build/site-source` for `build/site`). Both folders are emptied first. Raises `PipelineError`
    if either folder contains anything but an earlier build, `RejectedError` if a result is
    rejected, and `SiteBuildError` if MkDocs fails.
    """
    require_own(output)
    whole = output.resolve()  # the folder `.` has no name
    docs = whole.with_name(f"{whole.name}-source")
    with _alone(whole), _few_collections():
        site, moment = write_source(
            docs, results=results, extra=extra, site_url=site_url, cache=cache, jobs=jobs
        )
        _mark(output)
        _run_mkdocs(docs, output, site, moment)
        _move_into(_finished(docs), output)
        insert_parts(docs, output)
        shorten_index(output / INDEX)
        write_policy(output)
    return output


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock a folder against other builds. Raises `UnwritableError` if another build is running."""
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UnwritableError(
            f"another build is writing {folder}; wait until it ends, or choose another --output"
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes the lock file by itself
            Path(lock.lock_file).unlink()
        lock.release()


def _finished(docs: Path) -> Path:
    """The folder of the files that are no pages: MkDocs would copy each of them once more."""
    return docs.with_name(f"{docs.name}-finished")


def _move_into(folder: Path, site: Path) -> None:
    for each in folder.iterdir():
        if each.is_dir() and (site / each.name).is_dir():
            _move_into(each, site / each.name)
        else:
            each.rename(site / each.name)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python look for reference cycles less often, because few of a build's objects have any.

    At the default intervals, the search takes a tenth of the time for reading the files.
    """
    usual = gc.get_threshold()
    gc.set_threshold(OBJECTS_PER_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def write_source(
    docs: Path,
    *,
    results: Path,
    extra: tuple[Path, ...] = (),
    site_url: str | None = None,
    cache: Path | None = None,
    jobs: int = 1,
) -> tuple[Site, datetime]:
    """Write all input files for MkDocs. Return the `Site` that pages use, and the site's date."""
    require_own(docs)
    kept = Cache(cache)
    keep_compiled(kept)
    connection = open_database(results, extra, cache=kept, jobs=jobs)
    for folder in (docs, _finished(docs)):
        shutil.rmtree(folder, ignore_errors=True)
    _copy_assets(docs)
    library = _chart_library(kept)
    repository, moment = repository_address(ROOT), newest_moment(connection)
    site = Site(
        bundle=library.path,
        repository=repository,
        address=site_address(site_url),
        as_of=f"{moment:%Y-%m-%d}" if moment > NO_MOMENT else None,
        outside=outside(connection, results, repository),
        cache=kept,
    )
    files = export(connection, _finished(docs) / "data", kept)
    for part in chain([library], pages(connection, site, files)):
        _write(docs, part)
    for place, file in raw_files(results, extra, site):
        copy = _finished(docs) / place  # no hard link: who edits the site must not edit a result
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    _write(docs, how_it_works(site, PROSE, FIGURES))
    kept.prune()
    return site, moment


def _copy_assets(docs: Path) -> None:
    """Copy what no result changes: scripts, styles, pictures and the figures of benchmarks."""
    shutil.copytree(PROSE, docs, ignore=shutil.ignore_patterns("*.md"))
    shutil.copytree(FIGURES, docs / "assets" / "proofs")
    _mark(docs)
    _draw_icons(docs / "assets")
    for path in docs.rglob("*.css"):
        path.write_text(compact(path.read_text("utf-8")), "utf-8")
    for path in docs.rglob("*.js"):
        path.write_text(without_comments(path.read_text("utf-8")), "utf-8")


def require_own(folder: Path) -> None:
    """Raise `PipelineError` if a folder holds files that no build wrote: a build would empty it."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise PipelineError(
            f"{folder} holds files that no build wrote, and a build would remove them. Choose an "
            "empty or a new folder with --output."
        )


def _mark(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()


def _draw_icons(assets: Path) -> None:
    """Write the logo as PNGs, sized for browser tabs and home screens that cannot show SVG."""
    logo = (assets / "favicon.svg").read_text("utf-8")
    for pixels in ICON_PIXELS:
        drawn = vl_convert.svg_to_png(logo, scale=pixels / LOGO_PIXELS, ppi=72)
        (assets / f"icon-{pixels}.png").write_bytes(drawn)


def compact(style: str) -> str:
    """Strip comments and superfluous spaces from a stylesheet, because every page loads it."""
    spaced = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    return re.sub(r" ?([{};,]) ?", r"\1", spaced).strip()


def without_comments(script: str) -> str:
    """Drop the lines of a script that are only a comment: up to a third of its compressed size."""
    return re.sub(r"^[ \t]*(?://|/\*\*|\*(?=[ /\n]))[^\n]*\n", "", script, flags=re.MULTILINE)


def shorten_index(path: Path) -> None:
    """Drop minor entries of the search index, shorten the other texts, and add search terms."""
    index = json.loads(path.read_text("utf-8"))
    index["docs"] = [
        {**entry, "text": beginning(entry["text"]), "tags": SEARCHED.get(entry["location"], ())}
        for entry in index["docs"]
        if not UNLISTED.match(entry["location"])
        and (not ONE_LINE.match(entry["location"]) or ONE_LINE.fullmatch(entry["location"]))
    ]
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), "utf-8")


def beginning(text: str) -> str:
    """The first words of an HTML text, without tags, for the theme's search results."""
    words = " ".join(re.sub(r"<[^<>]*>", " ", text).split())
    return words if len(words) <= INDEXED_LETTERS else words[:INDEXED_LETTERS].rpartition(" ")[0]


def newest_moment(connection: duckdb.DuckDBPyConnection) -> datetime:
    """The date of the site: the time of the newest measurement or transcription."""
    query = (
        "select measured_until from submission union all select transcribed_on from published_row"
    )
    ((newest,),) = connection.sql(query).aggregate("max(measured_until)").fetchall()
    return newest.replace(tzinfo=UTC) if newest else NO_MOMENT


def _write(docs: Path, part: Page | Asset) -> None:
    if isinstance(part, Page):
        for asset in chain.from_iterable(map(chart_files, part.figures)):
            _write(docs, asset)
        path, data = docs / part.path, set_aside(docs, part.path, part.text).encode()
    else:
        path, data = _finished(docs) / part.path, part.data
    try:
        path.write_bytes(data)
    except FileNotFoundError:  # looking for the folder of every file takes longer
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _chart_library(cache: Cache) -> Asset:
    """The JavaScript library that makes charts interactive, as one file named by its digest."""
    text = "window.vegaEmbed = vegaEmbed;"
    data = cache.get_or_make(text, lambda: vl_convert.javascript_bundle(text).encode())
    return named_by_content("assets/javascripts/vega.{}.js", data)


def _run_mkdocs(docs: Path, output: Path, site: Site, moment: datetime) -> None:
    environment = {
        **os.environ,
        "DRAFTMAP_DOCS_DIR": str(docs.resolve()),
        "DRAFTMAP_SITE_DIR": str(output.resolve()),
        "DRAFTMAP_SITE_URL": site.address or "",
        "DRAFTMAP_FOOTER": footer(site),
        "NO_MKDOCS_2_WARNING": "1",
        "SOURCE_DATE_EPOCH": str(int(moment.timestamp())),
    }
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "-f", str(CONFIG))
    done = subprocess.run(  # noqa: S603 - our own interpreter and fixed words
        command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        raise SiteBuildError(done.stdout + done.stderr)


def footer(site: Site) -> str:
    """The line at the foot of every page."""
    if site.repository:
        code = f'<a href="{escape(site.repository)}">Code under Apache-2.0</a>'
    else:
        code = "Code under Apache-2.0 (this build does not know the address of its repository)"
    dated = f"Figures as of {site.as_of}." if site.as_of else "No figures yet."
    return f"{code}, data under CC BY 4.0. {dated}"
