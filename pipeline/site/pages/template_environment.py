"""Turn templates into Markdown: Jinja2 with autoescaping, and filters for figures and addresses.

A contributor's text enters a page only through this module, and only inside raw HTML blocks.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache

import msgspec
import orjson
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from estimates.requests import STATED_ANSWER_TOKENS
from pipeline.cache import Cache
from pipeline.data.formats import csv_of, guarded
from pipeline.site import charts
from pipeline.site.pages import model, shown_commands, strips
from pipeline.site.pages.model import Asset, Page, Site
from planner.names_table import names_table
from schemas import vocabulary
from schemas.vocabulary import say

MIB_PER_GIB = 1024
CHARTS = "assets/charts"
# Tables that become cards on narrow screens; tables with their own layout are unchanged.
TABLE = re.compile(r'<table class="dm-table(?! dm-(?:explore|fit))[^>]*>.*?</table>', re.DOTALL)
HEADING = re.compile(r'<th scope="col"[^>]*>(.*?)</th>', re.DOTALL)
LINE = re.compile(r"<tr[^>]*>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<t[hd]\b[^>]*")
UNKNOWN_CELL = re.compile(rf"(<td\b[^<>]*)>(?={say.UNKNOWN}</td>)")  # a card omits such a cell
TABLE_ROWS = 8  # the number of a chart's rows in the page; the files have all rows
MANY_COLUMNS = 4  # a phone has no room for more columns


def render(
    template: str,
    *,
    path: str,
    site: Site,
    figures: tuple[charts.Chart, ...] = (),
    **values: object,
) -> Page:
    """Render a template of `pipeline/site/templates` into the page at `path`."""
    link = site.link_from(model.address_of(path))
    page = from_template(template, site=site, url=link, figures=figures, **values)
    # Cells are labelled with their headings, so that a narrow screen can show rows as cards.
    labelled = TABLE.sub(lambda found: _card_table(found[0]), page)
    return Page(path=path, text=labelled, figures=figures)


def from_template(template: str, **values: object) -> str:
    return environment().get_template(template).render(values)


def _card_table(table: str) -> str:
    head, start, body = table.partition("<tbody>")
    headings = [re.sub(r"<[^<>]*>", "", each).strip() for each in HEADING.findall(head)]
    if len(headings) < MANY_COLUMNS:
        return table
    lines = LINE.sub(lambda line: _card(line[0], headings), body)
    return head.replace("<table ", "<table data-cards ", 1) + start + lines


def _card(line: str, headings: list[str]) -> str:
    columns = iter(headings)

    def labelled(cell: re.Match[str]) -> str:
        heading = next(columns, "")
        known = "data-label=" in cell[0] or cell[0].startswith("<th")
        return cell[0] if known else f'{cell[0]} data-label="{heading}"'

    return UNKNOWN_CELL.sub(r"\1 data-none>", CELL.sub(labelled, line))


def chart_files(chart: charts.Chart) -> Iterator[Asset]:
    """The files of a chart, if it is not empty: specification, two pictures and CSV."""
    if chart.empty:
        return
    for suffix, data in (
        ("json", orjson.dumps(chart.spec, option=orjson.OPT_SORT_KEYS)),
        ("light.svg", chart.svg.encode()),
        ("dark.svg", chart.svg_dark.encode()),
        ("csv", figures_as_csv(chart.table)),
    ):
        yield Asset(path=f"{CHARTS}/{chart.key}.{suffix}", data=data)


def figures_as_csv(table: charts.Table) -> bytes:
    """A chart's figures as CSV, with no text that a spreadsheet would run as a formula."""
    return csv_of(
        table.columns,
        (
            [guarded(each) if isinstance(each, str) else charts.rounded(each) for each in row]
            for row in table.rows
        ),
    )


class _Compiled(BytecodeCache):
    """Compiled templates in the cache: compiling them all takes half a second."""

    def __init__(self, kept: Cache) -> None:
        self._kept = kept

    def load_bytecode(self, bucket: Bucket) -> None:
        if (code := self._kept.get([bucket.key, bucket.checksum])) is not None:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept.put([bucket.key, bucket.checksum], bucket.bytecode_to_string())


def keep_compiled(kept: Cache) -> None:
    """Read and write compiled templates in this cache from now on."""
    environment().bytecode_cache = _Compiled(kept)


@cache
def environment() -> Environment:
    """The only Jinja2 environment: every value is escaped, and an unknown name is an error."""
    built = Environment(
        loader=PackageLoader("pipeline.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    built.filters |= {each.__name__: each for each in FILTERS}
    built.filters |= {f"{kind}_address": of for kind, of in model.ADDRESSES.items()}
    built.filters |= {
        "ratio": say.times,
        "verdict": lambda name: vocabulary.VERDICTS[name].label,
        "file_address": model.file_path,
    }
    built.globals |= {
        "axis": strips.axis(),
        "interval": say.interval,
        "sentence": vocabulary.sentence,
        "verdicts": vocabulary.VERDICTS,
        "grades": tuple(vocabulary.GRADES.values()),
        "no_verdict": vocabulary.no_verdict,
        "methods": tuple(vocabulary.METHODS.values()),
        "own_tasks": vocabulary.OWN_TASKS,
        "stated_tokens": STATED_ANSWER_TOKENS,
        "commands": shown_commands,
        "table_rows": TABLE_ROWS,
        "vocabulary_path": vocabulary_file().path,
        "names_path": names_file().path,
    }
    return built


@cache
def vocabulary_file() -> Asset:
    """The file of words that page scripts need; its name changes with its content."""
    data = json.dumps(vocabulary.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    return model.named_by_content("assets/vocabulary.{}.json", data)


@cache
def names_file() -> Asset:
    """The table of names for the page's reader; its name changes with its content."""
    return model.named_by_content("assets/names.{}.json", msgspec.json.encode(names_table()))


def task(name: str | None) -> str:
    """The label of a task; `None` stands for all tasks."""
    if name == "own":
        return vocabulary.OWN_TASKS
    return vocabulary.TASKS[name].label if name in vocabulary.TASKS else vocabulary.ALL_TASKS


def day(moment: datetime | str | None) -> str:
    """The date of a moment: 2026-11-21."""
    return say.UNKNOWN if moment is None else str(moment)[:10]


def gib(mib: float | None) -> str:
    """Memory in the usual unit: 8188 MiB becomes "8 GiB", 700 MiB stays "700 MiB"."""
    if mib is None:
        return say.UNKNOWN
    return f"{mib:.0f} MiB" if mib < MIB_PER_GIB else f"{mib / MIB_PER_GIB:.3g} GiB"


def plain_text(text: str) -> str:
    """Keep letters, digits and a few signs, because the theme does not escape a page's title."""
    return " ".join(re.sub(r"[^A-Za-z0-9 .,()+_-]+", " ", text).split()) or "Unnamed"


def words(name: str) -> str:
    """A name from a closed list as a heading: "out-of-memory" becomes "Out of memory"."""
    text = name.replace("-", " ").replace("_", " ")
    return text[:1].upper() + text[1:]


def coded(text: str) -> Markup:
    """Text as HTML, with the parts between backticks set as code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def compact_json(value: object) -> Markup:
    """JSON that is inert inside HTML. Raises `ValueError` for NaN and infinity."""
    text = json.dumps(
        value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - inert by the replacements above


# Functions that templates call as in Python.
FILTERS: tuple[Callable[..., object], ...] = (
    *(say.number, say.rate, say.percent, say.count, say.best_of, say.bound),
    *(day, gib, task, words, coded, compact_json),
)
