"""Votes, confirmations, and the withdrawal of all results of a contributor."""

from dataclasses import replace
from pathlib import Path

import pytest

from estimates.model import Flag
from pipeline.data.database import open_database
from pipeline.errors import RejectedError
from tests.pipeline.tables import Example, campaign, database, decide_on, one, put, rows
from tests.samples import sample

pytestmark = pytest.mark.long

CLEAR = (1.29, 1.31)
SMALL = sample(tasks=("code",), prompts_per_task=1, blocks=1)
DOUBT = Flag(name="not-interleaved", severity="serious", message="m", remedy="r")


def helping(contributor: str | None, day: str = "2026-11-21") -> Example:
    return campaign(1.3, within=CLEAR, contributor=contributor, day=day)


@pytest.mark.parametrize(
    ("contributors", "new", "votes", "confirmed"),
    [
        (("ada", "bob"), (), 2, True),
        (("ada", "bob"), ("bob",), 1, False),
        (("ada", "bob"), ("ada", "bob"), 2, False),
        (("ada", "bob", "cyd"), ("cyd",), 2, True),
        (("ada", "bob", "cyd"), ("bob", "cyd"), 1, False),
        (("ada", "anonymous"), (), 1, False),
        (("ada", "Ada"), (), 1, False),  # one account, however its name is written
    ],
)
def test_only_contributors_whom_maintainers_know_confirm(
    contributors: tuple[str | None, ...], new: tuple[str, ...], votes: int, *, confirmed: bool
) -> None:
    connection = database(*map(helping, contributors), new=new)

    assert one(connection, "select votes, confirmed from cell") == (votes, confirmed)
    mark = "helps-confirmed" if confirmed else "helps"
    assert one(connection, "select mark from cell") == (mark,)
    best = "select distinct mark from pair"
    assert one(connection, best) == (mark,)


def test_twelve_files_of_a_new_contributor_are_one_vote_that_confirms_nothing() -> None:
    made = [helping("eve", f"2026-11-{day:02}") for day in range(1, 13)]

    connection = database(helping("ada"), *made, new=("eve",))

    assert one(connection, "select votes, submissions, confirmed from cell") == (1, 13, False)
    standings = "select contributor, contributor_standing, submissions from contributor"
    assert rows(connection, standings) == [("ada", "known", 1), ("eve", "new", 12)]


def test_evidence_under_a_serious_flag_takes_part_in_no_vote() -> None:
    few = campaign(1.1, verdict="uncertain", contributor="ada")
    flagged = _doubted(campaign(3.0, verdict="uncertain", contributor="bob"))

    beside = database(few, flagged)
    alone = database(flagged, _doubted(campaign(3.0, verdict="uncertain", contributor="ada")))

    assert one(beside, "select speedup, votes from cell") == (pytest.approx(1.1), 1)
    assert one(alone, "select verdict, confirmed from cell") == ("uncertain", False)


def _doubted(made: Example) -> Example:
    """The example with a serious flag on every arm."""
    estimates = tuple(replace(each, doubt=DOUBT.name) for each in made.summary.estimates)
    return replace(made, summary=replace(made.summary, estimates=estimates, flags=(DOUBT,)))


def test_one_entry_ends_all_results_of_a_contributor(tmp_path: Path) -> None:
    sound = put(tmp_path, SMALL)
    others = [replace(SMALL, contributor=name) for name in ("eve", "Eve")]
    ended = [put(tmp_path, each) for each in others]
    decide_on(tmp_path, "eve", status="quarantined")

    database = open_database(tmp_path)

    assert sorted(rows(database, "select submission, standing from standing")) == sorted(
        [(sound.stem, "counted"), *((path.stem, "quarantined") for path in ended)]
    )
    assert one(database, "select list(distinct submission) from pool_member") == ([sound.stem],)
    reason = "select distinct standing_reason from standing where not counted"
    assert one(database, reason) == ("A maintainer looked at this account",)


def test_only_contributors_can_be_known(tmp_path: Path) -> None:
    there = put(tmp_path, SMALL)
    decide_on(tmp_path, "ada")
    entry_file = tmp_path / "lifecycle" / "contributor--ada.json"
    assert one(open_database(tmp_path), "select counted from standing") == (True,)
    entry_file.rename(entry_file.with_name(there.name))

    with pytest.raises(RejectedError, match="only a contributor can be `known`"):
        open_database(tmp_path)
