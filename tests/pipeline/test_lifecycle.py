"""A result is corrected, withdrawn or doubted without an edit, and the map shows it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.data.database import open_database
from pipeline.errors import RejectedError
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.submissions import submission_pages
from tests.pipeline.tables import decide_on, one, put, rows
from tests.samples import sample

OLD = sample(tasks=("code",), prompts_per_task=2, blocks=1)
OTHER = sample(tasks=("code",), prompts_per_task=2, blocks=1, seed=1, contributor="bob")
REASON = "Another program used the card during the campaign"


def decide(results: Path, file: str, status: str) -> Path:
    (results / "lifecycle").mkdir(exist_ok=True)
    entry = {"format": "draftmap-lifecycle", "version": 1, "status": status, "date": "2026-11-21"}
    path = results / "lifecycle" / file
    path.write_text(json.dumps({**entry, "reason": REASON}), encoding="utf-8")
    return path


def pages_of(results: Path) -> dict[str, str]:
    site = Site(bundle="vega.js")
    pages = submission_pages(open_database(results), site)
    return {page.path: page.text for page in pages if isinstance(page, Page)}


def test_a_correction_counts_once_the_older_file_is_withdrawn(tmp_path: Path) -> None:
    wrong = sample(tasks=("code", "math"), blocks=2)
    old = put(tmp_path, wrong)
    new = put(tmp_path, replace(wrong, notes="The right driver"))
    decide(tmp_path, old.name, "withdrawn")

    database = open_database(tmp_path)

    assert sorted(rows(database, "select file, standing from standing")) == sorted(
        [(old.name, "withdrawn"), (new.name, "counted")]
    )
    assert one(database, "select list(distinct submission) from pool_member") == ([new.stem],)


def test_a_copied_result_has_no_vote_and_its_page_says_why(tmp_path: Path) -> None:
    honest = sample(tasks=("code", "math"), blocks=2)
    first = put(tmp_path, honest)
    late = {"measured_from": "2026-11-21T11:00:00Z", "measured_until": "2026-11-21T12:00:00Z"}
    stolen = put(tmp_path, replace(honest, contributor="eve", **late))  # type: ignore[arg-type]
    decide_on(tmp_path, honest.contributor or "")

    database = open_database(tmp_path)

    assert sorted(rows(database, "select submission, standing from standing")) == sorted(
        [(first.stem, "counted"), (stolen.stem, "flagged")]
    )
    assert one(database, "select list(distinct submission_list) from cell") == ([[first.stem]],)
    page = pages_of(tmp_path)[f"submissions/{stolen.stem}.md"]
    assert "Its figures are impossible, were copied from another result" in page


def test_a_result_that_no_longer_counts_casts_no_doubt_on_others(tmp_path: Path) -> None:
    honest = sample(tasks=("code", "math"), blocks=2)
    put(tmp_path, honest)
    stolen = put(tmp_path, replace(honest, contributor="eve"))
    flagged = "select count(*) from flag where flag = 'copied-times'"
    assert one(open_database(tmp_path), flagged) == (2,)

    decide(tmp_path, stolen.name, "quarantined")

    assert one(open_database(tmp_path), flagged) == (0,)


def test_a_result_in_quarantine_leaves_every_aggregate(tmp_path: Path) -> None:
    doubted, sound = put(tmp_path, OLD), put(tmp_path, OTHER)
    decide(tmp_path, doubted.name, "quarantined")

    database = open_database(tmp_path)

    for table in ("pool_member", "newest", "verification_curve"):
        assert one(database, f"select list(distinct submission) from {table}") == ([sound.stem],)  # noqa: S608 - names of our own tables
    for table in ("device", "target"):
        assert one(database, f"select sum(submissions) from {table}") == (1,)  # noqa: S608 - names of our own tables


def test_its_page_says_why(tmp_path: Path) -> None:
    doubted = put(tmp_path, OLD)
    decide(tmp_path, doubted.name, "quarantined")

    pages = pages_of(tmp_path)

    assert f"maintainers doubt it: {REASON}." in pages[f"submissions/{doubted.stem}.md"]


def test_markup_in_a_reason_is_refused(tmp_path: Path) -> None:
    doubted = put(tmp_path, OLD)
    path = decide(tmp_path, doubted.name, "withdrawn")
    path.write_text(path.read_text().replace("Another", "<b>Another"), encoding="utf-8")

    with pytest.raises(RejectedError, match=r"\$\.reason: .* has the wrong form"):
        open_database(tmp_path)


def test_an_entry_about_a_missing_result_is_ignored_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    decide(tmp_path, "some--result--20261121-00112233.json", "withdrawn")

    open_database(tmp_path)

    assert "left out: " in caplog.text
    assert "there is no result with this name" in caplog.text


def test_the_same_content_that_was_merged_twice_counts_once_with_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = put(tmp_path, OLD)
    path.with_name(f"zzz{path.name}").write_bytes(path.read_bytes())

    database = open_database(tmp_path)

    assert one(database, "select submission from submission") == (path.stem,)
    assert f"{path.name} already has the same content" in caplog.text
