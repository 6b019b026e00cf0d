"""Who decides what a model is called, and which model a name means."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.data.database import open_database
from schemas.submission import Origin, Submission
from tests.pipeline.repositories import Repository
from tests.pipeline.tables import decide_on, put, rows
from tests.pipeline.test_strangers import EVE, SMALL, branch
from tests.samples import sample

# One name, two models; one model, two names.


def with_layers(contributor: str | None, layers: int, ram_mib: int = 32768) -> Submission:
    machine = replace(SMALL.machine, ram_mib=ram_mib)
    target = replace(SMALL.target, layers=layers, sha256=f"{layers:064x}")
    seed = layers + ram_mib + sum(map(ord, contributor or ""))
    times = sample(seed=seed, tasks=("code",), prompts_per_task=2, blocks=2).trials
    return replace(SMALL, contributor=contributor, machine=machine, target=target, trials=times)


@pytest.mark.parametrize("known", [(), ("ada",)])
@pytest.mark.parametrize("contributor", ["ada", None])
def test_one_account_cannot_redefine_the_model_of_a_name(
    contributor: str | None, known: tuple[str, ...]
) -> None:
    honest = [with_layers(contributor, 32, 1024 * at) for at in range(1, 4)]
    strange = [with_layers(EVE, 31, 1024 * at) for at in range(11, 18)]

    flags = list(flags_within(Corpus.of((*honest, *strange), frozenset(known))))

    serious = [flag.name for own in flags[:3] for flag in own if flag.severity == "serious"]
    assert serious == []
    if known and contributor:
        assert flags[:3] == [(), (), ()]
        assert {flag.severity for own in flags[3:] for flag in own} == {"serious"}


@pytest.mark.parametrize(
    ("known", "honest", "strange"),
    [
        # Unknown against unknown, whatever their number.
        ((), "caution", "caution"),
        # One known account against two, and two known accounts against three.
        (("ada",), None, "serious"),
        (("ada", "bob"), None, "serious"),
        # Known accounts disagree.
        (("ada", "eve"), "caution", "caution"),
    ],
)
@pytest.mark.parametrize("strangers", [1, 2, 3])
def test_only_known_accounts_outvote_others(
    known: tuple[str, ...], honest: str | None, strange: str, strangers: int
) -> None:
    ours = [with_layers(name, 32) for name in ("ada", "bob")[: max(1, len(known))]]
    theirs = [with_layers(name, 31) for name in (EVE, "mal", "zed")[:strangers]]
    if known == ("ada",) and strangers == 3:
        honest = strange = "caution"  # type: ignore[assignment]  # one against three that agree

    flags = [*flags_within(Corpus.of((*ours, *theirs), frozenset(known)))]

    found = [next((flag.severity for flag in own), None) for own in flags]
    assert found == [honest] * len(ours) + [strange] * len(theirs)


def trash(contributor: str = EVE) -> Submission:
    """Seven drafts with the digest of ada's target and another name."""
    named = [
        replace(
            SMALL.drafts[0],
            id=f"trash-{at}",
            name="Trash-1B (stolen weights)",
            quantisation="Q2_K",
            parameters=1_000_000_000,
            file_bytes=380_000_000,
            sha256=SMALL.target.sha256,
        )
        for at in range(7)
    ]
    made = sample(seed=5, tasks=("code",), prompts_per_task=2, blocks=2, parameters=1_000_000_000)
    return replace(made, contributor=contributor, drafts=(*made.drafts, *named))


@pytest.mark.parametrize("known", [(), ("ada",)])
def test_a_list_of_drafts_renames_no_model_of_another(
    tmp_path: Path, known: tuple[str, ...]
) -> None:
    decide_on(tmp_path, *known)
    put(tmp_path, SMALL)
    put(tmp_path, trash())

    names = rows(open_database(tmp_path), "select distinct target_label from identity order by all")

    assert names == [("Sample-1B",), ("Sample-7B",)]


def test_another_name_for_known_weights_is_a_question_and_no_refusal(
    repository: Repository,
) -> None:
    asked = branch_questions(repository, SMALL, trash())

    assert asked == {f"$.drafts[{at}].name" for at in range(1, 8)}
    assert branch_questions(repository, SMALL, replace(trash("ada"), drafts=SMALL.drafts)) == set()


def branch_questions(repository: Repository, there: Submission, new: Submission) -> set[str]:
    """The places of the questions about a new result, which the gate accepts."""
    assert branch(repository, there, new) == set()
    return {each.path for each in repository.judge().questions}


@pytest.mark.parametrize(
    ("importer", "original", "is_refused"),
    # The account that imported it may import more of it.
    [(None, "ab", True), ("ada", "ab", True), (EVE, "ab", False), (None, "cd", False)],
)
def test_the_gate_refuses_an_import_of_an_existing_original_by_others(
    repository: Repository, importer: str | None, original: str, *, is_refused: bool
) -> None:
    there = replace(
        SMALL, tier="imported", origin=Origin(format="inventivehq", sha256="ab" * 32),
        contributor=importer,
    )  # fmt: skip
    forged = replace(
        sample(seed=5, tasks=("code",), prompts_per_task=2, blocks=2), tier="imported",
        origin=Origin(format="draftbench", sha256=original * 32), contributor=EVE,
    )  # fmt: skip

    assert ("known-original" in branch(repository, there, forged)) == is_refused
