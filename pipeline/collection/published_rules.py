"""Check what a published document's schema cannot: names, baselines, ratios of rates."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from schemas.finding import Finding

Row: TypeAlias = Mapping[str, Any]  # a row as the schema defines it

ROUNDING = 0.02  # the tolerance between a printed ratio and the ratio of the printed rates


def published_findings(document: Row) -> Iterator[Finding]:
    """All faults in a document that already matches its schema."""
    rigs = {rig["id"] for rig in document["rigs"]}
    rows = {row["id"]: row for row in document["rows"]}
    if len(rigs) < len(document["rigs"]) or len(rows) < len(document["rows"]):
        yield _finding(
            "$", "two rows or two rigs have the same id; give each a different id", "published-id"
        )
    for number, row in enumerate(document["rows"]):
        path = f"$.rows[{number}]"
        if row.get("rig", None) not in {None, *rigs}:
            message = f"there is no rig {row['rig']!a}; name a rig from this file"
            yield _finding(f"{path}.rig", message, "published-rig")
        if row["kind"] == "speculation":
            yield from _of_pair(path, row, rows.get(row.get("baseline_row")))


def _of_pair(path: str, row: Row, base: Row | None) -> Iterator[Finding]:
    own = _values(row)
    if base is None and ("baseline_row" in row or "speedup" not in own):
        message = (
            "the row has neither a baseline row nor a speedup; add the rate without "
            "speculation or the speedup"
        )
        yield _finding(path, message, "published-baseline")
    if base is None:
        return
    if any(base.get(name) != row.get(name) for name in ("rig", "target")):
        message = (
            "the baseline has a different rig or target; name a row with the same rig and target"
        )
        yield _finding(f"{path}.baseline_row", message, "published-baseline")
    before = _values(base).get("decode_tps")
    if before and {"decode_tps", "speedup"} <= own.keys() and "note" not in row:
        ratio = own["decode_tps"] / before
        if abs(own["speedup"] / ratio - 1) > ROUNDING:
            message = (
                f"the speedup is {own['speedup']:g}, but the rates give {ratio:.3g}; correct the "
                "wrong figure, or leave it out"
            )
            yield _finding(f"{path}.figures", message, "published-ratio")


def _values(row: Row) -> dict[str, float]:
    return {figure["quantity"]: figure["value"] for figure in row["figures"]}


def _finding(path: str, message: str, rule: str) -> Finding:
    return Finding(path=path, message=message, rule=rule)
