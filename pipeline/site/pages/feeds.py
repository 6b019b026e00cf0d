"""Write Atom and JSON feeds of new results, and badges for a README.

Dates come from the data, so that the same results give the same bytes. The UUID of an entry is made
from the entry's subject; links are relative if the site's address is unknown.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

import duckdb
import orjson

from pipeline.site.pages import model
from pipeline.site.pages.template_environment import from_template
from pipeline.site.rows import Row, read
from schemas.vocabulary import VERDICTS, say

Item: TypeAlias = Mapping[str, str]

NAMESPACE = uuid.UUID("a3d0c0de-7b3c-5d7e-9a51-0d2af7ca9a01")  # fixed, so that ids never change
LONGEST = 50
EPOCH = "1980-01-01T00:00:00Z"


def feeds(connection: duckdb.DuckDBPyConnection, site: model.Site) -> Iterator[model.Asset]:
    new = [_submission(row, site) for row in read(connection, "newest")[:LONGEST]]
    yield atom("feed.xml", "Draftmap: new results", new, site)
    value: dict[str, object] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Draftmap: new results",
        "authors": [{"name": "Draftmap contributors"}],
        "items": new,
    }
    if site.address:
        value |= {"home_page_url": site.address, "feed_url": f"{site.address}feed.json"}
    feed = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    yield model.Asset(path="feed.json", data=feed)
    steps = [_step(row, site) for row in read(connection, "build_changes")[:LONGEST]]
    yield atom("builds.xml", "Draftmap: steps between engine builds", steps, site)
    yield from badges(connection)


def atom(path: str, title: str, items: Sequence[Item], site: model.Site) -> model.Asset:
    """An Atom feed (RFC 4287) with these items."""
    text = from_template(
        "atom.xml.jinja",
        id=_name(path),
        title=title,
        updated=max((item["date_published"] for item in items), default=EPOCH),
        own=_link(path, site),
        items=items,
    )
    return model.Asset(path=path, data=text.encode())


def badges(connection: duckdb.DuckDBPyConnection) -> Iterator[model.Asset]:
    """One badge for the whole collection, one per device and one per target, for shields.io.

    Badges use only confirmed cells, because anybody can send a result.
    """
    overall = _gains(connection, "overall").get("all")
    yield badge("overall", "Draftmap", overall, read(connection, "device_tally"))
    for kind in ("device", "target"):
        gains = _gains(connection, kind)
        for row in read(connection, f"{kind}_tally"):
            name, label = getattr(row, kind), getattr(row, f"{kind}_label")
            path = model.ADDRESSES[kind](name).rstrip("/")
            yield badge(path, label, gains.get(name), (row,))


def _gains(connection: duckdb.DuckDBPyConnection, kind: str) -> dict[str, float]:
    """Map each scope (e.g. a device) to the lower bound of its best gain, if it is confirmed."""
    found = read(connection, "surest_gain", kind=kind)
    return {
        row.scope: row.interval_low for row in found if row.tier == "measured" and row.confirmed
    }


def badge(name: str, label: str, at_least: float | None, tallies: Sequence[Row]) -> model.Asset:
    """A badge with text; blue for a clear gain, else orange for confirmed losses, else grey."""
    losing = sum(each.confirmed_losses for each in tallies)
    confirmed = sum(each.confirmed for each in tallies)
    gain = f"at least {say.times(at_least)}" if at_least else "no clear gain"
    nothing = "not confirmed yet" if any(each.cells for each in tallies) else "not measured"
    value = {
        "schemaVersion": 1,
        "label": label,
        "message": f"{gain}, {losing} of {confirmed} confirmed lose" if confirmed else nothing,
        "color": "blue" if at_least else "orange" if losing else "lightgrey",
    }
    return model.Asset(path=f"badges/{name}.json", data=orjson.dumps(value) + b"\n")


def _item(about: str, title: str, text: str, of: Row, moment: datetime, site: model.Site) -> Item:
    return {
        "id": _name(about),
        "url": _link(model.submission_address(of.submission), site),
        "title": title,
        "content_text": text,
        "date_published": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
    }


def _submission(row: Row, site: model.Site) -> Item:
    title = f"{row.target_label} {row.quantisation} on {row.device_label}, {row.backend}"
    text = f"{_best(row)}. Measured by {row.contributor or 'anonymous'} ({row.tier})."
    return _item(row.submission, title, text, row, row.measured_until, site)


def _best(row: Row) -> str:
    """Describe the gain of a submission's best setting, corrected for choosing the best."""
    if row.best_speedup is None:
        return "no speedup over all tasks"
    chosen = say.best_of(row.choices)
    if row.best_verdict == "helps":
        gain = f"at least {say.times(row.best_interval_low)}"
        return f"{row.best_method_label}: {gain} over all tasks, {chosen}"
    found = say.speedup(row.best_speedup, row.best_interval_low, row.best_interval_high)
    verdict = VERDICTS[row.best_verdict].word
    return f"{row.best_method_label}: {found} over all tasks, {verdict}, {chosen}"


def _step(row: Row, site: model.Site) -> Item:
    depth = "" if row.depth is None else f" at depth {row.depth}"
    title = f"{row.step}: {row.engine_build} on {row.device_label}, {row.backend}"
    text = (
        f"{row.target_label} {row.quantisation}, {row.method_label}{depth}: the speedup is"
        f" {say.times(row.speedup_change)} the speedup with {row.compared_with};"
        f" the plain rate is {say.times(row.baseline_change)} the plain rate with"
        f" {row.compared_with}."
    )
    about = f"{row.series}|{row.engine_build}"
    return _item(about, title, text, row, row.measured_from, site)


def _name(about: str) -> str:
    return f"urn:uuid:{uuid.uuid5(NAMESPACE, about)}"


def _link(address: str, site: model.Site) -> str:
    return f"{site.address or ''}{address}"
