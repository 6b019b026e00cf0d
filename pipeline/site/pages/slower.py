"""Write the page "Why is it slower?", which reads a visitor's log or numbers in the browser."""

from typing import Any

from estimates.intervals import t_reach
from estimates.reasons import RARELY_FIRES
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from schemas import vocabulary
from schemas.vocabulary import documents

MOST_PAIRS = 60  # the interval is exact up to this many requests; for more, t hardly changes


def slower(site: Site) -> Page:
    document = reasons()
    return render(
        "slower.md.jinja",
        path="slower.md",
        site=site,
        examples=document["captured"],
        credit=document["capture_credit"],
        listed=document["reason"],
        known=knowledge(document),
    )


def reasons() -> dict[str, Any]:
    return documents.document("slower", "pipeline.site")


def knowledge(document: dict[str, Any]) -> dict[str, Any]:
    """The patterns, bounds and words that the page's scripts use."""
    return {
        "patterns": documents.document("server_log"),
        "kinds": _drafters(),
        "quantiles": [round(t_reach(freedom), 6) for freedom in range(1, MOST_PAIRS + 1)],
        "helps_above": vocabulary.HELPS_ABOVE,
        "hurts_below": vocabulary.HURTS_BELOW,
        "clear_of_one": vocabulary.CLEAR_OF_ONE,
        "bounds": document["bounds"] | {"rarely_fires": RARELY_FIRES},
        "verdicts": {
            name: {"label": verdict.label, "tile": verdict.tile}
            for name, verdict in vocabulary.VERDICTS.items()
        },
        "reasons": {
            name: {key: reason[key] for key in ("title", "says", "bare") if key in reason}
            for name, reason in document["reason"].items()
        },
    }


def _drafters() -> dict[str, str]:
    """The draft source (model, head or look-up) for each type in llama-server's statistics."""
    found: dict[str, str] = {}
    for method in vocabulary.METHODS.values():
        if method.instrument or not (method.llama_cpp or method.ik_llama_cpp):
            continue
        kind = "lookup" if method.free else "head" if method.architectures else "model"
        own = [method.ik_llama_cpp.type] if method.ik_llama_cpp else []
        for name in (*(method.llama_cpp.types if method.llama_cpp else ()), *own):
            found.setdefault(name, kind)
    return found
