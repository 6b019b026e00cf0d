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

Scheme = Literal["light", "dark"]
Scale: TypeAlias = "tuple[list[str], list[str]]"  # domain and range
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

FONT = "sans-serif"
STATIC_WIDTH_PX = 720
BAND_PX = 30
NEUTRAL = "#808A99"
METHOD = "method_label:N"

# After Okabe & Ito's palette for colour-blind readers, evened out in lightness for both grounds.
METHOD_COLOURS = {
    "draft-model": "#0A7BBF",
    "prompt-lookup": "#C77F00",
    "ngram-simple": "#A08000",
    "ngram-map-k": "#9A6A4F",
    "ngram-map-k4v": "#B0607A",
    "ngram-mod": "#8C7AC6",
    "ngram-cache": "#4F8F8B",
    "suffix": "#3A93C9",
    "mtp": "#CC79A7",
    "eagle3": "#009E73",
    "dflash": "#D55E00",
    "dspark": "#BE6FA0",
    "other": NEUTRAL,
}
STAR = "M0,-1L.3,-.4L1,-.3L.5,.1L.6,.8L0,.5L-.6,.8L-.5,.1L-1,-.3L-.3,-.4Z"
HEXAGON = "M0.87,0.5L0,1L-0.87,0.5L-0.87,-0.5L0,-1L0.87,-0.5Z"
HOURGLASS = "M-0.9,-1L0.9,-1L0,0L0.9,1L-0.9,1L0,0Z"
CHEVRON = "M-1,-0.5L0,-1L1,-0.5L1,0.7L0,0.2L-1,0.7Z"
SALTIRE = "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z"
METHOD_SHAPES = {
    "draft-model": "circle",
    "prompt-lookup": "square",
    "ngram-simple": "triangle-left",
    "ngram-map-k": STAR,
    "ngram-map-k4v": HEXAGON,
    "ngram-mod": HOURGLASS,
    "ngram-cache": CHEVRON,
    "suffix": "diamond",
    "mtp": "triangle-up",
    "eagle3": "triangle-down",
    "dflash": "cross",
    "dspark": "triangle-right",
}
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
SIZE_CLASSES = ("<1B", "1–3B", "3–8B", "8–16B", "16–40B", ">40B", "unknown size")  # noqa: RUF001 - en dash

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
    return (domain, colours), (domain, [METHOD_SHAPES.get(each, SALTIRE) for each in methods])


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
