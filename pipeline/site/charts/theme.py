"""Define the colours and shapes of methods, and the Vega-Lite config of pages.

Every colour has a contrast of at least 3:1 with both backgrounds, so that one specification works
on light and dark pages; only text and lines differ (`CONFIGS`). Backgrounds are transparent. Red is
not paired with green, and every colour comes with a shape or a number.
"""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from schemas.vocabulary import METHODS
from schemas.vocabulary.documents import document

Row: TypeAlias = dict[str, Any]  # one row of a query: figures and words by name
Scheme = Literal["light", "dark"]
Scale: TypeAlias = tuple[list[str], list[str]]  # domain and range
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

FONT = "sans-serif"
STATIC_WIDTH_PX = 720
BAND_PX = 30

METHOD_COLOURS = {name: method.colour for name, method in METHODS.items() if method.colour}
METHOD_SHAPES = {name: method.shape for name, method in METHODS.items() if method.shape}
NEUTRAL = METHOD_COLOURS["other"]
# Blue and orange mean faster and slower, so no method has them.
FASTER, SLOWER = "#0A7BBF", "#C77F00"
DOT = next(iter(METHOD_COLOURS.values()))
CHARTS = document("charts", "pipeline.site")

# Colours of words, of lines, and of the background of words on lines, which is --dm-card in
# draftmap.css.
_INK: dict[Scheme, tuple[str, str, str]] = {
    "light": ("#20242B", "#C9CED6", "#ffffff"),
    "dark": ("#E4E7EC", "#4A505B", "#18202a"),
}


def config(scheme: Scheme) -> dict[str, Any]:
    """The Vega-Lite `config` for pages in this colour scheme."""
    ink, line, card = _INK[scheme]
    words = {"labelColor": ink, "titleColor": ink}
    lines = {"domainColor": line, "tickColor": line, "gridColor": line}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": words | lines | CHARTS["axis"],
        "legend": words | CHARTS["legend"],
        "title": {"color": ink},
        "text": {"color": ink, "font": FONT},
        "rule": {"color": ink},
        "style": {"reference": {"stroke": ink}, "halo": {"stroke": card} | CHARTS["halo"]},
    }


CONFIGS = {scheme: config(scheme) for scheme in SCHEMES}


def darkened(svg: str) -> str:
    """Turn a picture for light pages into one for dark pages: only colours in `config` differ."""
    for light, dark in zip(*_INK.values(), strict=True):
        svg = svg.replace(f'="{light}"', f'="{dark}"')
    return svg


def method_scales(rows: Iterable[Row]) -> tuple[Scale, Scale]:
    """The colour scale and the shape scale for the methods in these rows, by `method_label`."""
    labels = {row["method"]: row["method_label"] for row in rows}
    methods, colours = method_colours(labels)
    domain = [labels[method] for method in methods]
    return (domain, colours), (domain, [METHOD_SHAPES[each] for each in methods])


def colour(method: str) -> str:
    """The colour of a method; grey for a method that has none."""
    return METHOD_COLOURS.get(method, NEUTRAL)


def method_colours(methods: Iterable[str]) -> Scale:
    """The domain and range of a colour scale for these methods, in the vocabulary's order."""
    present = set(methods)
    domain = [each for each in METHODS if each in present]
    return domain, [colour(each) for each in domain]
