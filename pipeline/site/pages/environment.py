"""How does a template become Markdown? Jinja2 with autoescaping, and formats for numbers.

Text that a contributor wrote enters a page only here, and only inside raw HTML blocks.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from estimates.wording import bound_text, interval_text
from pipeline.site.pages.model import Figure, Page, Site, address_of, relative

NO_VALUE = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
MIB_PER_GIB = 1024
VERDICTS = {
    "helps": "▲ helps",
    "hurts": "▼ hurts",
    "no-clear-difference": "● no clear difference",
    "too-few-prompts": "○ too few prompts",
    "never-drafted": "○ never drafted",
    "failed": "✕ failed",
}
TASKS = {
    "code": "Code",
    "math": "Math",
    "reasoning": "Reasoning",
    "summarization": "Summarization",
    "chat": "Chat",
    "json": "Structured JSON",
    "creative": "Creative writing",
    "translation": "Translation",
    "other": "Other",
}


def render(
    template: str, *, path: str, site: Site, figures: tuple[Figure, ...] = (), **values: object
) -> Page:
    """Render a template of `pipeline/site/templates` into the page at `path`."""
    here = address_of(path)
    text = (
        environment()
        .get_template(template)
        .render(site=site, url=lambda address: relative(here, address), figures=figures, **values)
    )
    return Page(path=path, text=text, figures=figures)


@cache
def environment() -> Environment:
    """The one Jinja2 environment: every value is escaped, an unknown name is an error."""
    built = Environment(
        loader=PackageLoader("pipeline.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    built.filters |= {
        "ratio": ratio,
        "number": number,
        "percent": percent,
        "count": count,
        "day": day,
        "gib": gib,
        "plain": plain,
        "task": lambda name: TASKS.get(name, name) if name else "All tasks",
        "verdict": lambda name: VERDICTS[name],
        "words": words,
        "compact_json": compact_json,
        "bound": bound_text,
    }
    built.globals["interval"] = interval_text
    return built


def ratio(value: float | None) -> str:
    """A speedup as it is printed everywhere: two digits and a multiplication sign."""
    return NO_VALUE if value is None else f"{value:.2f}{TIMES}"


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    """A number with a fixed count of digits after the point."""
    if value is None:
        return NO_VALUE
    return f"{value:,.{digits}f}" + (f" {unit}" if unit else "")


def percent(value: float | None) -> str:
    """A fraction in percent: 0.784 is "78 %"."""
    return NO_VALUE if value is None else f"{value * 100:.0f} %"


def count(value: int, word: str, plural: str | None = None) -> str:
    """A count with its noun: "1 submission", "3 submissions"."""
    return f"{value:,} {word if value == 1 else plural or word + 's'}"


def day(moment: datetime | str | None) -> str:
    """The date of a moment: 2026-11-21."""
    return NO_VALUE if moment is None else str(moment)[:10]


def gib(mib: float | None) -> str:
    """Memory as people say it: 8188 MiB is "8 GiB", 700 MiB stays "700 MiB"."""
    if mib is None:
        return NO_VALUE
    return f"{mib:.0f} MiB" if mib < MIB_PER_GIB else f"{mib / MIB_PER_GIB:.3g} GiB"


def plain(text: str) -> str:
    """Text for a page's title, which the theme does not escape: letters, digits, a few signs."""
    return " ".join(re.sub(r"[^A-Za-z0-9 .,()+_-]+", " ", text).split()) or "Unnamed"


def words(name: str) -> str:
    """A name from a closed list as a heading: "out-of-memory" is "Out of memory"."""
    text = name.replace("-", " ").replace("_", " ")
    return text[:1].upper() + text[1:]


def compact_json(value: object) -> Markup:
    """JSON that is inert inside HTML: `<`, `>`, `&` and line separators are escaped.

    Raises `ValueError` for NaN and infinity, which no reader of JSON accepts.
    """
    text = json.dumps(
        value, allow_nan=False, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - inert by the replacements above
