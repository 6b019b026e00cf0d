"""A single unknown account decides nothing about other people's results."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.data.database import open_database
from pipeline.intake.authorship import Sending
from pipeline.site.rows import read
from schemas.submission import Origin, Submission
from tests.nightly import few
from tests.pipeline.corpus_examples import VICTIM, copied
from tests.pipeline.repositories import Repository, name_of
from tests.pipeline.tables import (
    Example,
    campaign,
    canonical_name,
    database,
    decide_on,
    entry,
    entry_on,
    one,
    put,
    rows,
)
from tests.samples import sample, sample_bytes

KNOWN = ("ada", "bob", "cyd")
EVE = "eve"
SMALL = sample(tasks=("code",), prompts_per_task=2, blocks=2)
HIDDEN = "\ufe0f\u034f\u3164\uffa0\u2800\u17b4\u180b\U000e0100\ufe00\u00a0"
SIGN = "select verdict, confirmed, mark from cell"


def slower_in_all(contributor: str) -> Example:
    """Tokens come 1.26 times as fast, but the stated request takes longer."""
    return campaign(
        1.26,
        within=(1.24, 1.28),
        request=0.8,
        request_within=(0.79, 0.81),
        contributor=contributor,
    )


def faster(contributor: str | None, speedup: float = 1.24, **more: object) -> Example:
    return campaign(
        speedup, within=(speedup / 1.01, speedup * 1.01), contributor=contributor, **more
    )


def with_build(number: int, made: Example) -> Example:
    engine = replace(made.submission.engine, build_number=number)
    return entry(replace(made.submission, engine=engine), made.summary)


# Votes on the whole request.


def test_an_unknown_account_cannot_turn_slower_in_all_into_a_gain() -> None:
    honest = [*map(slower_in_all, KNOWN)]
    stranger = campaign(
        1.26, within=(1.24, 1.28), request=1.2, request_within=(1.19, 1.21), contributor=EVE
    )

    assert one(database(*honest), SIGN)[0] == "slower-in-all"
    assert one(database(*honest, stranger, new=(EVE,)), SIGN) == one(database(*honest), SIGN)


def test_the_whole_request_is_decided_by_more_than_half_of_the_voters() -> None:
    # The requests of two are slower, that of one is not: by files it would be two of seven.
    many = [faster("cyd", day=f"2026-11-{day:02}", request=1.2) for day in range(1, 6)]
    quick = [entry(each.submission, each.summary) for each in many]
    slow = [*map(slower_in_all, ("ada", "bob"))]

    assert one(database(*slow, *quick), "select slower_request from pool") == (True,)
    assert one(database(slow[0], *quick), "select slower_request from pool") == (False,)


# Votes on builds.


@pytest.mark.parametrize("speedup", [2.2, 0.9])
@pytest.mark.parametrize("contributor", [EVE, None])
def test_a_stranger_with_another_build_takes_no_sign_off(
    contributor: str | None, speedup: float
) -> None:
    honest = [with_build(100, faster(name)) for name in KNOWN]
    strange = [
        with_build(100 + at, faster(contributor, speedup**at, day=f"2026-11-{10 + at}"))
        for at in range(2)
    ]

    found = database(*honest, *strange, new=(EVE,))

    assert one(found, SIGN) == ("helps", True, "helps-confirmed")


def test_builds_of_an_unknown_account_count_as_one_vote_among_unknown_people() -> None:
    honest = [with_build(100, faster(name)) for name in KNOWN]
    strange = [
        with_build(at, faster(EVE, speedup, day=f"2026-11-{10 + at}"))
        for at, speedup in ((1, 1.0), (2, 1.6))
    ]

    found = database(*honest, *strange, new=(*KNOWN, EVE))

    assert one(found, "select verdict from cell") != ("differs-by-build",)


# Accounts whose votes count.


@pytest.mark.parametrize("verdict", ["never-drafted", "uncertain", "too-few-prompts"])
def test_an_unknown_account_gives_no_verdict_where_known_people_have_none(verdict: str) -> None:
    honest = [campaign(1.3, verdict=verdict, contributor=name) for name in KNOWN]  # type: ignore[arg-type]

    found = database(*honest, faster(EVE, 2.5), new=(EVE,))

    assert one(found, "select verdict, submissions, votes from cell")[:2] == (verdict, 4)


@pytest.mark.parametrize("known", [("ada",), KNOWN])
def test_an_outlier_elsewhere_widens_no_interval_of_known_people(known: tuple[str, ...]) -> None:
    honest = [faster(name, 1.2) for name in known]
    wild = [faster(name, figure, depth=8) for name, figure in ((EVE, 0.2), ("dan", 5.0))]
    query = "select interval_low, interval_high from cell where depth = 4"

    alone, beside = database(*honest), database(*honest, *wild, new=(EVE, "dan"))

    assert one(beside, query) == one(alone, query)


# Copies.


def later(submission: Submission) -> Submission:
    """The submission with an earlier date."""
    return replace(
        submission, measured_from="2026-11-01T09:00:00Z", measured_until="2026-11-01T10:00:00Z"
    )


def put_all(folder: Path, submissions: Iterable[Submission]) -> dict[str, str]:
    """Write the submissions; return their standings by contributor."""
    for each in submissions:
        put(folder, each)
    query = "select contributor, standing from standing join submission using (submission)"
    return dict(rows(open_database(folder), query))


def test_a_copy_with_an_earlier_date_ends_no_result_of_a_known_account(tmp_path: Path) -> None:
    theft = replace(later(SMALL), contributor=EVE)
    decide_on(tmp_path, "ada")

    assert put_all(tmp_path, (SMALL, theft)) == {"ada": "counted", EVE: "flagged"}


def test_if_the_copier_is_unknown_both_files_are_serious() -> None:
    early = later(copied())
    severities = [
        [flag.severity for flag in flags if flag.name == "copied-times"]
        for flags in flags_within(Corpus.of((VICTIM, early)))
    ]

    assert severities == [["serious"], ["serious"]]


def branch(repository: Repository, there: Submission, new: Submission, *known: str) -> set[str]:
    """The rules that a new result breaks on a base with another result."""
    repository.git("checkout", "--quiet", "main")
    repository.write(sample_bytes(there), name_of(there))
    decide_on(repository.path / "results", *known)
    repository.commit()
    repository.git("checkout", "--quiet", "-B", "pull-request")
    repository.add(new)
    return repository.rules().get(name_of(new), set())


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize("contributor", [EVE, None])
def test_the_gate_refuses_the_times_of_another_whatever_date_is_stated(
    repository: Repository, contributor: str | None, share: float
) -> None:
    other = sample(seed=9, tasks=("code",), prompts_per_task=9, blocks=2)
    victim = sample(tasks=("code",), prompts_per_task=9, blocks=2)
    theirs = {(each.arm, each.prompt, each.block): each for each in victim.trials}
    taken = int(len(victim.trials) * share)
    trials = (
        *(replace(theirs[t.arm, t.prompt, t.block], order=t.order) for t in other.trials[:taken]),
        *other.trials[taken:],
    )
    theft = replace(later(other), contributor=contributor, trials=trials)

    assert "copied-times" in branch(repository, victim, theft)
    assert "copied-times" not in branch(repository, victim, replace(theft, contributor="Ada"))


# Imports from an original that the table of sources lists.


LISTED = "cd" * 32
IMPORTED = replace(
    sample(seed=5, tasks=("code",), prompts_per_task=2, blocks=2), tier="imported",
    origin=Origin(format="draftbench", sha256=LISTED, licence="MIT"), contributor=EVE,
)  # fmt: skip
SOURCES = f"""
[[source]]
id = "draftbench"
use = "imported"
title = "A bench"
author = "Ada"
url = "https://example.org"
licence = "MIT"
licence_url = "https://example.org/licence"
attribution = "Ada"
commit = "{"ab" * 20}"
format = "draftbench"
taken = ["All."]
left_out = ["Nothing else."]

[[source.files]]
path = "a.json"
sha256 = "{LISTED}"
"""


def test_an_import_is_unknown_once_one_from_its_original_is_withdrawn(tmp_path: Path) -> None:
    (tmp_path / "sources.toml").write_text(SOURCES, "utf-8")
    first = put(tmp_path, replace(SMALL, tier="imported", origin=IMPORTED.origin))
    put(tmp_path, IMPORTED)
    query = "select contributor, known from setup order by contributor"

    assert rows(open_database(tmp_path), query) == [("ada", True), ("eve", True)]
    (tmp_path / "lifecycle").mkdir()
    ended = entry_on("any", "withdrawn").text
    (tmp_path / "lifecycle" / first.name).write_text(ended, "utf-8")
    assert rows(open_database(tmp_path), query) == [("ada", False), ("eve", False)]


# Statements of pages about a place.


def test_an_unknown_account_changes_neither_facts_nor_evidence_of_known_results() -> None:
    # Named earlier and measured later than what ada measured, with other facts.
    own = faster("ada", day="2026-11-21").submission
    strange = faster(EVE, 1.3, day="2026-11-25").submission
    target = replace(
        strange.target, name="SAMPLE-7B", parameters=9 * 10**9, layers=99, repository="eve/sample"
    )
    summaries = faster("ada").summary, faster(EVE, 1.3).summary
    honest = entry(replace(own, contributor="ada"), summaries[0])
    forged = entry(replace(strange, target=target), summaries[1])
    facts = "select target_label, parameters, layers, repository from target"
    evidence = "select submission, submissions from explore"

    alone, beside = database(honest), database(honest, forged, new=(EVE,))

    assert one(beside, facts) == one(alone, facts) == ("Sample-7B", 7 * 10**9, 32, None)
    assert one(alone, evidence) == (canonical_name(honest.submission).removesuffix(".json"), 1)
    assert one(beside, evidence) == (one(alone, evidence)[0], 2)


@pytest.mark.parametrize("query", ["page_cells", "explore_cells", "best_settings"])
def test_the_first_row_of_a_list_rests_on_somebody_known(query: str) -> None:
    beside = database(
        faster("ada", 1.2), faster(EVE, 9.0, depth=8), faster(EVE, 9.0, task="math"), new=(EVE,)
    )
    page = {} if query == "explore_cells" else {"kind": "device"}

    first, *rest = read(beside, query, **page)

    assert (first.backing, round(first.speedup, 1)) == (0, 1.2)
    assert {each.backing for each in rest} == {2}


@pytest.mark.parametrize(
    "name",
    few([
        "   ", "\u00a0", "\u3164", "\ufe0f", "-", "Sample  7B", " Sample-7B",
        *(f"Sample{letter}-7B" for letter in HIDDEN),
    ], 8),
    ids=ascii,
)  # fmt: skip
def test_names_that_nobody_can_see_are_refused(repository: Repository, name: str) -> None:
    new = replace(SMALL, target=replace(SMALL.target, name=name))

    rules = branch(repository, sample(seed=4), new)

    assert rules & {"characters", "names-visible"}


# A letter of each kind that looks like another one: raised, small capital, dotless, Cyrillic, Lisu,
# wide, a sign; no list of them would be complete.
@pytest.mark.parametrize("letter", "\u00b2\u0299\u0131\u0430\ua4d0\uff17\u2212\u0501\u13b6\u24e9")
def test_names_have_ascii_letters_unless_maintainers_agree(
    repository: Repository, letter: str
) -> None:
    new = sample(seed=8, tasks=("code",), prompts_per_task=2, blocks=2)
    new = replace(new, target=replace(new.target, name=f"Sample{letter}"))

    assert "name-letters" in branch(repository, sample(seed=4), new)
    assert repository.judge(Sending(labels=frozenset({"letters"}))).decision == "accepted"


@pytest.mark.parametrize(
    ("known", "figures", "verdict"),
    [
        (("ada",), (0.9, 0.9), "helps"),
        (("ada",), (0.9, 0.9, 1.8), "helps"),
        (("ada",), (0.9, 0.9, 0.92), "uncertain"),
        (("ada", "bob"), (0.9, 0.9, 0.92, 0.9), "helps"),
    ],
)
def test_three_unknown_accounts_that_agree_take_the_sign_of_one_known_account(
    known: tuple[str, ...], figures: tuple[float, ...], verdict: str
) -> None:
    ours = [faster(name) for name in known]
    names = [f"new{at}" for at in range(len(figures))]
    theirs = [faster(name, figure) for name, figure in zip(names, figures, strict=True)]

    found = database(*ours, *theirs, new=tuple(names))

    assert one(found, "select verdict, round(speedup, 2) from cell") == (verdict, 1.24)
