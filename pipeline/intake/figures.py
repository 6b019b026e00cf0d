"""Check new published figures against the base: who sent and checked them, and doubles."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path

from estimates.roofline import normalised
from pipeline.collection.published import Row
from pipeline.intake import git
from pipeline.intake.authorship import Sending
from pipeline.intake.paths import PUBLISHED
from planner.names import read_model
from schemas.finding import Finding, in_file


def figure_findings(
    repository: Path, base: str, new: Mapping[str, Row], sent: Sending
) -> Iterator[Finding]:
    """Findings on new published documents by path. Raises `GitError` if git cannot answer."""
    if not new:
        return
    there = {
        key: name
        for name, data in git.contents(repository, git.files(repository, base, PUBLISHED))
        if f"{PUBLISHED}/{name}" not in new
        for key in keys(json.loads(data))
    }
    for path, document in new.items():
        if sent.of_form:
            yield from in_file(_sender_findings(document, sent), path)
        day = document["transcribed_on"]
        if sent.now is not None and day > sent.now.astimezone(UTC).date().isoformat():
            message = f"{day} is in the future; correct the day"
            yield from in_file([_finding("$.transcribed_on", message, "published-day")], path)
        if twins := {there[key] for key in keys(document) if key in there}:
            message = f"{min(twins)} already has this figure; each figure counts once"
            yield from in_file([_finding("$.rows", message, "published-double")], path)
        there |= dict.fromkeys(keys(document), path.rpartition("/")[2])


def keys(document: Row) -> Iterator[str]:
    """Texts that are equal for two reports of the same measurement.

    Equal rates are the same measurement, whoever reports them. An equal ratio is, if it has the
    same person or the same address; a query or a fragment makes no other address.
    """
    gpus = {rig["id"]: normalised(rig.get("gpu", "")) for rig in document["rigs"]}
    rates = {
        row["id"]: {each["quantity"]: float(each["value"]) for each in row["figures"]}
        for row in document["rows"]
    }
    for row in document["rows"]:
        if row["kind"] == "speculation":
            own, base = rates[row["id"]], rates.get(row.get("baseline_row"), {})
            figures = [base.get("decode_tps"), own.get("decode_tps"), own.get("speedup")]
            fields = [row.get(name) for name in ("method", "n_max", "task", "outcome")]
            fields += [
                read_model(row["target"]["name"]).slug,
                row.get("settings", {}).get("concurrency"),
            ]
            for by in [None] if base else [row.get("contributor"), address_of(document, row)]:
                yield json.dumps([gpus.get(row.get("rig")), by, *fields, *figures])


def address_of(document: Row, row: Row) -> str | None:
    """The address of a row's page without query and fragment."""
    address: str | None = row.get("url", document["source"].get("url"))
    return address and address.partition("#")[0].partition("?")[0].rstrip("/").lower()


def _sender_findings(document: Row, sent: Sending) -> Iterator[Finding]:
    if document.get("reported_by") != sent.author:
        message = f"the form is by {sent.author}; a form's file names its account"
        yield _finding("$.reported_by", message, "contributor-author")
    if document.get("checked_by") != sent.checker:
        message = (
            "a figure is unchecked until a maintainer ticks the box in the pull request; leave "
            "the field out"
        )
        yield _finding("$.checked_by", message, "published-checked")


def _finding(path: str, message: str, rule: str) -> Finding:
    return Finding(path=path, message=message, rule=rule)
