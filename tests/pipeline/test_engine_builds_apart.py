"""An engine that accepts fewer drafts with another backend or build makes nobody a forger.

The cases replay llama.cpp #26750: equal answers in 1.05 to 1.7 times the rounds.
"""

from dataclasses import replace

import pytest

from bench.strangers import Prepared, tables
from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.site.pages.feeds import feeds
from pipeline.site.pages.model import Site
from pipeline.site.pages.overviews import overviews
from schemas.submission import Submission
from tests.sample_trials import slower
from tests.samples import sample

KNOWN = frozenset({"ada", "bob"})
CPU, CUDA = ("cpu", 10261), ("cuda", 10532)
FACTORS = (1.05, 1.11, 1.3, 1.7)


def sent(account: str, seed: int, build: tuple[str, int] = CPU, rounds: float = 1.0) -> Submission:
    """A result with this backend and build, in `rounds` times the rounds of a sound engine."""
    made = sample(seed=seed, contributor=account, blocks=3)
    engine = replace(made.engine, backend=build[0], build_number=build[1])
    trials = (
        replace(slower(each, rounds), rounds=round((each.rounds or 0) * rounds))
        if each.drafted
        else each
        for each in made.trials
    )
    return replace(made, engine=engine, trials=tuple(trials))


def told(
    submissions: tuple[Submission, ...], known: frozenset[str] = KNOWN
) -> list[list[tuple[str, str]]]:
    """The names and severities of the flags of each submission of a collection."""
    return [
        [(flag.name, flag.severity) for flag in flags]
        for flags in flags_within(Corpus.of(submissions, known))
    ]


PEERS = sent("ada", 1), sent("bob", 2)
UNCONFIRMED = [("unconfirmed", "note")]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("build", [CUDA, ("vulkan", 10261), ("cpu", 10532)])
@pytest.mark.parametrize("known", [KNOWN, frozenset[str]()], ids=["known", "unknown"])
def test_another_backend_or_build_flags_nobody(
    factor: float, build: tuple[str, int], known: frozenset[str]
) -> None:
    newcomer = sent("cyd", 3, build, factor)

    # 8 rounds become 8, 9, 10 and 14: only the first is within 10 % of the others.
    assert told((*PEERS, newcomer), known) == [[], [], [] if factor == 1.05 else UNCONFIRMED]


def test_a_second_account_confirms_an_engine_build() -> None:
    newcomers = sent("cyd", 3, CUDA, 1.3), sent("dan", 4, CUDA, 1.3)

    assert told((*PEERS, *newcomers)) == [[], [], [], []]
    # The same person's second result is no second account.
    assert told((*PEERS, newcomers[0], sent("cyd", 5, CUDA, 1.3))) == [
        [], [], UNCONFIRMED, UNCONFIRMED,
    ]  # fmt: skip


@pytest.mark.parametrize("factor", [1.11, 1.7])
def test_a_forgery_with_the_same_backend_and_build_is_serious(factor: float) -> None:
    forged = sent("eve", 3, CPU, factor)

    assert told((*PEERS, forged)) == [[], [], [("unlike-peers", "serious")]]
    assert told((*PEERS, forged), frozenset())[2] == [("unlike-peers", "caution")]


def test_a_first_sender_with_a_faulty_build_harms_nobody() -> None:
    first = sent("eve", 3, CUDA, 1.5)

    assert told((first, sent("ada", 1))) == [UNCONFIRMED, []]
    assert told((first, *PEERS), frozenset()) == [UNCONFIRMED, [], []]
    # Without a known account or a second one, neither build is confirmed.
    assert told((first, sent("cyd", 1)), frozenset()) == [UNCONFIRMED, UNCONFIRMED]


def test_an_unknown_build_takes_no_verdict_from_a_known_account() -> None:
    strangers = tuple(sent(f"x{at}", 10 + at, ("cuda", 20_000 + at), 1.5) for at in range(2))

    assert told((sent("ada", 1), *strangers))[0] == []


def test_an_unconfirmed_result_has_a_figure_but_no_verdict() -> None:
    files = (
        *PEERS,
        sent("cyd", 3, ("vulkan", 10261), 1.3),
        sent("dan", 4, CUDA),
        sent("bob", 5, CUDA),
    )
    opened = tables([*map(Prepared.of, files)], [*KNOWN, "cyd", "dan"])
    cells = opened.execute(
        "select backend, verdict, doubt, confirmed from cell where tier = 'measured'"
        " and method = 'draft-model' and task = 'all' order by backend"
    ).fetchall()

    assert cells == [
        ("cpu", "helps", None, True),
        ("cuda", "helps", None, True),
        ("vulkan", "uncertain", "unconfirmed", False),
    ]


def changes(*files: Submission) -> list[tuple[object, ...]]:
    """For each compared build: its backend and build, what it is compared with, and the alarm."""
    opened = tables([*map(Prepared.of, files)], KNOWN)
    query = (
        "select backend, engine_build, compared_backend, compared_with, prompts, people,"
        " round(acceptance_change, 2), acceptance_step from acceptance_step"
        " where method = 'draft-model' and prompts is not null order by all"
    )
    return opened.execute(query).fetchall()


def test_one_alarm_names_both_builds_and_how_many_people_and_prompts() -> None:
    found = changes(*PEERS, sent("cyd", 3, CUDA, 1.5))

    # 8 rounds become 12.
    build, other = "llama.cpp b10532", "llama.cpp b10261"
    assert found == [("cuda", build, "cpu", other, 24, 1, 0.67, "fewer")]


@pytest.mark.parametrize(("factor", "alarm"), [(1.0, None), (1.3, "fewer"), (0.7, "more")])
def test_a_build_is_compared_with_the_build_before_it(factor: float, alarm: str | None) -> None:
    files = [
        sent("ada", 1, ("cuda", 10261)),
        sent("bob", 2, ("cuda", 10532), factor),
        sent("bob", 4, ("cuda", 10600), factor),
    ]

    found = changes(*files)

    assert [(row[1][-6:], row[3][-6:], row[-1]) for row in found] == [  # type: ignore[index]
        ("b10532", "b10261", alarm),
        ("b10600", "b10532", None),
    ]


def test_a_change_within_the_repeatability_of_a_build_is_no_alarm() -> None:
    # With one person 8 rounds, with another 10 on the same build: the counters do not repeat.
    found = changes(*PEERS, sent("dan", 4, CPU, 1.3), sent("cyd", 3, CUDA, 1.2))

    assert [row[-1] for row in found] == [None]


def test_other_answers_other_weights_and_sampling_are_not_compared() -> None:
    other = sent("cyd", 3, CUDA, 1.5)
    target = replace(other.target, sha256="ef" * 32)
    settings = replace(other.settings, sampling="other", temperature=0.7)
    trials = tuple(replace(each, output_sha256="ab" * 8) for each in other.trials)

    for apart in (
        replace(other, target=target),
        replace(other, settings=settings),
        replace(other, trials=trials),
    ):
        assert changes(*PEERS, apart) == []


def test_the_page_and_the_feed_name_the_alarm() -> None:
    opened = tables([*map(Prepared.of, (*PEERS, sent("cyd", 3, CUDA, 1.5)))], KNOWN)
    site = Site(bundle="")
    (feed,) = [each.data for each in feeds(opened, site) if each.path == "acceptance.xml"]
    (page,) = [each.text for each in overviews(opened, site) if each.path == "builds.md"]

    assert b"fewer tokens per round: llama.cpp b10532 on cuda" in feed
    assert b"Sample-7B Q4_K_M, Draft model at depth 4: 2.05 tokens per round, but 3.08" in feed
    assert "fewer tokens per round since llama.cpp b10532 on cuda" in page
    assert "on 24 prompts with equal answers, 1 person" in page
