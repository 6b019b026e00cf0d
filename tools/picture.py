"""Draw the README's pictures, light or dark: what speculation is, and the home page's first strips.

The pictures use the site's colours: blue is faster, orange is slower. The background of the strips
has pale shades of both colours.
"""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from pipeline.site.charts.theme import FONT, Scheme
from pipeline.site.pages import strips, template_environment

NAME = 34  # the longest name, in characters
WIDTH, LINE, TOP, LEFT, PLOT, END = 1000, 30, 96, 285, 480, 800
ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "site_src" / "assets"
STYLE = ASSETS / "stylesheets" / "draftmap.css"
LAYOUT = ASSETS / "stylesheets" / "layout.css"
SCHEMES: dict[Scheme, str] = {"light": "default", "dark": "slate"}
COLOUR = re.compile(r"--dm-(\w+(?:-\w+)?): (#\w+);")
OF_SPECULATION = re.compile(r"^\.dm-speculation .*?^}\n", re.MULTILINE | re.DOTALL)


def of_speculation(scheme: Scheme) -> str:
    """Draw what speculation is, as the home page does, on paper and with the styles inside."""
    ink = _colours(scheme)
    template = template_environment.environment().get_template("speculation.html.jinja")
    drawn = str(template.make_module().picture())  # type: ignore[attr-defined]  # a macro
    rules = "".join(OF_SPECULATION.findall(LAYOUT.read_text("utf-8")))
    style = re.sub(r"var\(--dm-([\w-]+)\)", lambda name: ink[name[1]], rules)
    paper = f'<rect x="-12" y="-8" width="368" height="178" rx="6" fill="{ink["paper"]}"/>'
    return (
        drawn.strip()
        .replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" font-family="{escape(FONT)}" ')
        .replace('viewBox="0 0 344 162"', 'viewBox="-12 -8 368 178"')
        .replace("</desc>", f"</desc>\n<style>\n{style}</style>\n{paper}")
        + "\n"
    )


def of_group(group: strips.Group, scheme: Scheme) -> str:
    """Draw the visible rows of a group on the home page, with its heading and axis."""
    ink = _colours(scheme)
    height = TOP + LINE * len(group.strips) + 10
    rows = (_row(each, TOP + LINE * place, ink) for place, each in enumerate(group.strips))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' font-family="{escape(FONT)}" font-size="15">'
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{ink["paper"]}"/>'
        f"{''.join(_headings(group, height, ink))}{''.join(rows)}</svg>\n"
    )


def _headings(group: strips.Group, height: int, ink: dict[str, str]) -> Iterator[str]:
    words = f"{group.label}: {group.finding}"
    yield _text(20, 40, words, ink["ink"], 'font-size="21" font-weight="700"')
    yield _text(20, 66, group.spread, ink["ink-soft"])
    x = LEFT + strips.position(1) / 100 * PLOT
    for start, end, tone in ((LEFT, x, "loss-soft"), (x, LEFT + PLOT, "gain-soft")):
        size = f'width="{end - start:.1f}" height="{height - TOP - 10}"'
        yield f'<rect x="{start:.1f}" y="{TOP}" {size} fill="{ink[tone]}"/>'
    yield _text(x - 10, 60, "\N{LEFTWARDS ARROW} slower", ink["loss"], f'text-anchor="end" {BOLD}')
    yield _text(x + 10, 60, "faster \N{RIGHTWARDS ARROW}", ink["gain"], BOLD)
    for value, place in strips.axis():
        at = LEFT + place / 100 * PLOT
        yield _text(at, TOP - 12, f"{value}\N{MULTIPLICATION SIGN}", ink["ink-soft"], MIDDLE)
    yield (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 10}" stroke="{ink["ink-soft"]}"'
        ' stroke-dasharray="2 4"/>'
    )


SMALL, BOLD = 'font-size="13"', 'font-weight="600"'
MIDDLE = f'text-anchor="middle" {SMALL}'


def _row(each: strips.Strip, top: float, ink: dict[str, str]) -> str:
    middle = top + LINE / 2
    tone = {"gain": "gain", "loss": "loss"}.get(each.tone, "ink")

    def x(place: float) -> float:
        return round(LEFT + place / 100 * PLOT, 1)

    dots = [
        *(f'<circle cx="{x(place)}" cy="{middle}" r="2" opacity=".35"/>' for place in each.others),
        *(
            f'<circle cx="{x(place)}" cy="{middle}" r="4" stroke="{ink[tone]}" fill="none"/>'
            for place in each.dots
        ),
    ]
    tick = f'<rect x="{x(each.tick) - 1.5}" y="{top + 5}" width="3" height="{LINE - 10}"/>'
    return (
        f'<g fill="{ink[tone]}">{"".join(dots)}{tick}</g>'
        f"{_name(each, middle + 5, ink)}"
        f"{_text(END, middle + 5, each.figure, ink[tone], BOLD)}"
        f"{_text(END + 70, middle + 5, each.setting, ink['ink-soft'], SMALL)}"
    )


def _name(each: strips.Strip, y: float, ink: dict[str, str]) -> str:
    """Device and model, cut to fit before the axis."""
    device, model = each.row.device_label, each.row.target_label
    name = escape(device[:NAME])
    more = escape(model[: NAME - len(device)].strip()) if len(device) < NAME - 3 else ""
    return (
        f'<text x="20" y="{y:g}" font-size="13" fill="{ink["ink"]}"><tspan font-weight="600">'
        f'{name}</tspan><tspan dx="6" fill="{ink["ink-soft"]}">{more}</tspan></text>'
    )


def _text(x: float, y: float, words: str, fill: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" {more}>{escape(words)}</text>'


def _colours(scheme: Scheme) -> dict[str, str]:
    """The colours of a page in this scheme, from the site's style sheet."""
    sheet = STYLE.read_text("utf-8")
    _, _, rest = sheet.partition(f'[data-md-color-scheme="{SCHEMES[scheme]}"] {{')
    return dict(COLOUR.findall(rest.partition("}")[0]))
