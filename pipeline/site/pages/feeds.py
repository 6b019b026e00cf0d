"""Write Atom feeds of new results and of changes between builds.

Dates come from the data, so that the same results give the same bytes. The UUID of an entry is made
from the entry's subject; links are relative if the site's address is unknown.
"""

import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from operator import attrgetter
from typing import TypeAlias

import duckdb

from pipeline.site.pages import model
from pipeline.site.pages.template_environment import from_template
from pipeline.site.rows import Row, read
from schemas.vocabulary import VERDICTS, say

Item: TypeAlias = Mapping[str, str]

NAMESPACE = uuid.UUID("a3d0c0de-7b3c-5d7e-9a51-0d2af7ca9a01")  # fixed, so that ids never change
LONGEST = 50
EPOCH = "1980-01-01T00:00:00Z"


def feeds(connection: duckdb.DuckDBPyConnection, site: model.Site) -> Iterator[model.Asset]:
    """Three Atom feeds (RFC 4287)."""
    new = [_submission(row, site) for row in read(connection, "newest")[:LONGEST]]
    steps = [_step(row, site) for row in read(connection, "build_changes")[:LONGEST]]
    changes = (row for row in read(connection, "acceptance_step") if row.acceptance_step)
    newest = sorted(changes, key=attrgetter("measured_from", "series"), reverse=True)
    alarms = [_alarm(row, site) for row in newest[:LONGEST]]
    for path, title, items in (
        ("feed.xml", "Draftmap: new results", new),
        ("builds.xml", "Draftmap: steps between engine builds", steps),
        ("acceptance.xml", "Draftmap: same weights, same text, other acceptance", alarms),
    ):
        text = from_template(
            "atom.xml.jinja",
            id=_name(path),
            title=title,
            updated=max((item["updated"] for item in items), default=EPOCH),
            own=_link(path, site),
            items=items,
        )
        yield model.Asset(path=path, data=text.encode())


def _item(about: str, title: str, text: str, of: Row, moment: datetime, site: model.Site) -> Item:
    return {
        "id": _name(about),
        "url": _link(model.submission_address(of.submission), site),
        "title": title,
        "summary": text,
        "updated": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
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
    title = f"{row.step}: {row.engine_build} on {row.device_label}, {row.backend}"
    text = (
        f"{row.target_label} {row.quantisation}, {row.method_label}{_at(row)}: the speedup is"
        f" {say.times(row.speedup_change)} the speedup with {row.compared_with};"
        f" the plain rate is {say.times(row.baseline_change)} the plain rate with"
        f" {row.compared_with}."
    )
    about = f"{row.series}|{row.engine_build}"
    return _item(about, title, text, row, row.measured_from, site)


def _alarm(row: Row, site: model.Site) -> Item:
    title = f"{row.acceptance_step} tokens per round: {row.engine_build} on {row.backend}"
    text = (
        f"{row.target_label} {row.quantisation}, {row.method_label}{_at(row)}:"
        f" {say.number(row.tokens_per_round, 2)} tokens per round, but"
        f" {say.number(row.compared_tokens_per_round, 2)} with {row.compared_with} on"
        f" {row.compared_backend}, on {say.count(row.prompts, 'prompt')} with equal answers"
        f" ({say.count(row.people, 'person')})."
    )
    about = f"acceptance|{row.series}|{row.backend}|{row.engine_build}"
    return _item(about, title, text, row, row.measured_from, site)


def _at(row: Row) -> str:
    return "" if row.depth is None else f" at depth {row.depth}"


def _name(about: str) -> str:
    return f"urn:uuid:{uuid.uuid5(NAMESPACE, about)}"


def _link(address: str, site: model.Site) -> str:
    return f"{site.address or ''}{address}"
