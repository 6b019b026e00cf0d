"""How do all charts look? One colour per method and backend, and a frame for light and dark pages.

Every colour keeps a contrast of at least 3:1 on both grounds, so that one specification serves
both; only text and lines differ (`CONFIGS`). A page themes the interactive chart with
`CONFIGS["light"]` or `CONFIGS["dark"]`; the static pictures come in both. Grounds are transparent.
No red against green, and a shape or a number beside every colour.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import altair as alt

from pipeline.site.charts.model import Row
from schemas.vocabulary import METHODS

Scheme = Literal["light", "dark"]
Scale: TypeAlias = "tuple[list[str], list[str]]"  # domain and range
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

FONT = "sans-serif"
STATIC_WIDTH_PX = 720
BAND_PX = 30
METHOD = "method_label:N"

METHOD_COLOURS = {name: method.colour for name, method in METHODS.items() if method.colour}
METHOD_SHAPES = {name: method.shape for name, method in METHODS.items() if method.shape}
NEUTRAL = METHOD_COLOURS["other"]
# The same palette for colour-blind readers as for methods.
BACKEND_COLOURS = {
    "cuda": "#0A7BBF",
    "vulkan": "#D55E00",
    "cpu": "#C77F00",
    "metal": "#8C7AC6",
    "rocm": "#CC79A7",
    "sycl": "#4F8F8B",
    "opencl": "#A08000",
    "cann": "#9A6A4F",
    "musa": "#3A93C9",
    "other": NEUTRAL,
}

# A loss, no change, a gain: the ends and the middle of the map's colours, as in map.css.
DIVERGING: dict[Scheme, list[str]] = {
    "light": ["#f0a35f", "#f0eee8", "#76aee8"],
    "dark": ["#954f12", "#2a323c", "#23639f"],
}
_INK: dict[Scheme, tuple[str, str]] = {
    "light": ("#20242B", "#C9CED6"),
    "dark": ("#E4E7EC", "#4A505B"),
}


# What a chart stands on, for words on top of lines; as --dm-card in draftmap.css.
_CARD: dict[Scheme, str] = {"light": "#ffffff", "dark": "#18202a"}


def config(scheme: Scheme) -> dict[str, Any]:
    """The Vega-Lite `config` for a page of this scheme."""
    ink, line = _INK[scheme]
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "domainColor": line,
            "tickColor": line,
            "gridColor": line,
            "gridOpacity": 0.5,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 320,
            "labelPadding": 6,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 12,
            "orient": "top",
            "columnPadding": 18,
        },
        "title": {"color": ink},
        "text": {"color": ink, "font": FONT},
        "rule": {"color": ink},
        "range": {"diverging": DIVERGING[scheme]},
        "style": {
            "reference": {"stroke": ink},
            "halo": {"stroke": _CARD[scheme], "strokeWidth": 4, "strokeJoin": "round"},
        },
    }


CONFIGS = {scheme: config(scheme) for scheme in SCHEMES}


def method_colours(methods: Iterable[str]) -> Scale:
    """Domain and range of a colour scale for these methods, in one fixed order."""
    return _scale(METHOD_COLOURS, methods)


def method_scales(rows: Iterable[Row]) -> tuple[Scale, Scale]:
    """Scales of colours and of shapes for the methods in these rows, by `method_label`."""
    labels = {row["method"]: row["method_label"] for row in rows}
    methods, colours = method_colours(labels)
    domain = [labels[method] for method in methods]
    return (domain, colours), (domain, [METHOD_SHAPES[each] for each in methods])


def method_colour(scale: Scale) -> alt.Color:
    """Methods by colour, with the first scale of `method_scales`."""
    return alt.Color(METHOD, title="Method", scale=alt.Scale(domain=scale[0], range=scale[1]))


def method_shape(scale: Scale) -> alt.Shape:
    """Methods by shape, with the second scale of `method_scales`."""
    return alt.Shape(METHOD, title="Method", scale=alt.Scale(domain=scale[0], range=scale[1]))


def backend_colours(backends: Iterable[str]) -> Scale:
    """Domain and range of a colour scale for these backends, in one fixed order."""
    return _scale(BACKEND_COLOURS, backends)


def _scale(colours: dict[str, str], keys: Iterable[str]) -> Scale:
    present = set(keys)
    domain = [key for key in colours if key in present]
    return domain, [colours[key] for key in domain]
