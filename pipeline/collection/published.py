"""Check a document of published figures by itself: its rows, numbers, days, names and texts."""

from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, TypeAlias

from schemas import private
from schemas.finding import Finding

Row: TypeAlias = Mapping[str, Any]  # of a published document, as its schema defines it
_found = lru_cache(maxsize=1 << 14)(private.found)  # a fifth of all texts differ

ROUNDING = 0.02  # the tolerance between a printed ratio and the ratio of the printed rates
_RATIOS = (0.05, 20.0)  # as in the schema
_FIRST = "2022-11"  # the first paper on speculative decoding (arXiv 2211.17192)


def published_findings(document: Row) -> Iterator[Finding]:
    """All faults in a document that already matches its schema."""
    rigs = {rig["id"] for rig in document["rigs"]}
    rows = {row["id"]: row for row in document["rows"]}
    if len(rigs) < len(document["rigs"]) or len(rows) < len(document["rows"]):
        yield Finding(
            path="$",
            message="two rows or two rigs have the same id; give each a different id",
            rule="published-id",
        )
    for number, row in enumerate(document["rows"]):
        path = f"$.rows[{number}]"
        if row.get("rig", None) not in {None, *rigs}:
            message = f"there is no rig {row['rig']!a}; name a rig from this file"
            yield Finding(path=f"{path}.rig", message=message, rule="published-rig")
        if row["kind"] == "speculation":
            yield from _of_pair(path, row, rows.get(row.get("baseline_row")))
    found = [*texts(document)]
    yield from _of_days(found, document["transcribed_on"])
    yield from _private(found)


def texts(value: object, path: str = "$") -> Iterator[tuple[str, str]]:
    """All texts in a JSON value, with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from texts(each, f"{path}.{name}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from texts(each, f"{path}[{index}]")


def _of_pair(path: str, row: Row, base: Row | None) -> Iterator[Finding]:
    own = _values(row)
    crashed = row.get("outcome") == "crashed"
    if base is None and ("baseline_row" in row or not (crashed or "speedup" in own)):
        message = (
            "the row has neither a baseline row nor a speedup; add the rate without "
            "speculation or the speedup"
        )
        yield Finding(path=path, message=message, rule="published-baseline")
    if base is None:
        return
    if any(base.get(name) != row.get(name) for name in ("rig", "target")):
        message = (
            "the baseline has a different rig or target; name a row with the same rig and target"
        )
        yield Finding(path=f"{path}.baseline_row", message=message, rule="published-baseline")
    before = _values(base).get("decode_tps")
    if not before or "decode_tps" not in own:
        return
    ratio = own["decode_tps"] / before
    if not _RATIOS[0] <= ratio <= _RATIOS[1]:
        message = f"the rates give a speedup of {ratio:.3g}, outside {_RATIOS[0]} to {_RATIOS[1]}"
        yield Finding(path=f"{path}.figures", message=message, rule="published-bounds")
    elif "speedup" in own and "note" not in row and abs(own["speedup"] / ratio - 1) > ROUNDING:
        message = (
            f"the speedup is {own['speedup']:g}, but the rates give {ratio:.3g}; correct the "
            "wrong figure, or leave it out"
        )
        yield Finding(path=f"{path}.figures", message=message, rule="published-ratio")


def _of_days(found: list[tuple[str, str]], last: str) -> Iterator[Finding]:
    """A day exists, and is neither after the day of the report nor before the first paper."""
    for path, text in found:
        if path.rpartition(".")[2] not in {"date", "published_on", "transcribed_on"}:
            continue
        try:
            date.fromisoformat(f"{text}-01"[:10])
        except ValueError:
            message = f"there is no day {text}; correct it"
        else:
            if _FIRST <= text <= last:
                continue
            message = f"{text} is after {last} or before {_FIRST}; is the year right?"
        yield Finding(path=path, message=message, rule="published-day")


def _private(found: list[tuple[str, str]]) -> Iterator[Finding]:
    """No text has a secret or personal data; a maintainer cannot unpublish it."""
    wrong = {path: kind for path, text in found if (kind := _found(text, path.rpartition(".")[2]))}
    if not wrong and (kind := private.secret("\n".join(text for _, text in found))):
        wrong = {"$": kind}
    for path, kind in wrong.items():
        yield Finding(path=path, message=f"contains {kind}; remove it", rule="published-private")


def _values(row: Row) -> dict[str, float]:
    return {figure["quantity"]: figure["value"] for figure in row["figures"]}
