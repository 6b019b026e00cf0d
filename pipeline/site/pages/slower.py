"""Write the page "Why is it slower?", which reads a visitor's log or numbers in the browser."""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

import duckdb
import orjson

from estimates.intervals import t_reach
from estimates.reasons import RARELY_FIRES
from pipeline.site.pages.model import Asset, Page, Site, submission_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import Row, grouped, read
from schemas import vocabulary
from schemas.vocabulary import documents

FOLDER = "assets/examples"
MOST_PAIRS = 60  # the interval is exact up to this many requests; for more, t hardly changes
TIMES = ("predicted_n", "predicted_ms", "draft_n", "draft_n_accepted")


def slower(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """Yield the page, and the log files of those examples that were made from results."""
    document = reasons()
    examples = grouped(read(connection, "slower_examples"), attrgetter("example"))
    for name, trials in examples.items():
        for plain in (True, False):
            # A line for each answer, with the server's names of times and counts.
            lines = [
                orjson.dumps(
                    {"timings": {n: v for n in TIMES if (v := getattr(trial, n)) is not None}},
                    option=orjson.OPT_APPEND_NEWLINE,
                )
                for trial in trials
                if trial.plain is plain
            ]
            yield Asset(path=_path(name, plain=plain), data=b"".join(lines))
    yield render(
        "slower.md.jinja",
        path="slower.md",
        site=site,
        examples=(
            *({**each, "credit": document["capture_credit"]} for each in document["captured"]),
            *(_of_results(name, rows[0]) for name, rows in examples.items()),
        ),
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


def _path(name: str, *, plain: bool) -> str:
    return f"{FOLDER}/{name}-{'without' if plain else 'with'}.jsonl"


def _of_results(name: str, row: Row) -> Mapping[str, str]:
    """An example that a button loads: the addresses of its two log files, and its source."""
    return {
        "label": f"{row.device_label}, {row.target_label}: the {name}",
        "without": _path(name, plain=True),
        "with_": _path(name, plain=False),
        "credit": (
            f"{row.method_label}{f' at depth {row.depth}' if row.depth else ''} through"
            f" {row.backend}, {row.quantisation}: a single pass, the {name} on this site"
            f" ({row.tier})."
        ),
        "address": submission_address(row.submission),
    }
