"""Does the gate see twins, floods, strange histories, and who may replace whose result?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pipeline.intake import gate, git
from pipeline.intake.sending import Sending
from tests.pipeline.repositories import OTHER, SMALL, Repository, name_of
from tests.samples import sample_bytes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_folder_that_differs_in_case_is_not_ignored(repository: Repository) -> None:
    twin = repository.path / "results" / "Community" / name_of(SMALL)
    twin.parent.mkdir()
    twin.write_bytes(sample_bytes(SMALL))
    repository.commit()

    judgement = repository.judge()

    assert judgement.decision == "rejected"
    assert [found.rule for found in judgement.findings] == ["path-outside"]


def test_a_case_twin_of_a_result_that_is_there_is_named(repository: Repository) -> None:
    repository.write(sample_bytes(OTHER), repository.there.name.upper())
    repository.commit()

    (found,) = repository.judge().findings

    assert found.rule == "path-case-twin"
    assert repository.there.name in found.message


def test_two_new_files_that_differ_in_case_are_twins(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.write(sample_bytes(SMALL), name_of(SMALL).replace("rtx", "RTX"))
    repository.commit()

    assert {"path-case-twin"} in repository.rules().values()


def test_very_many_changes_beside_a_result_are_counted_not_listed(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    for number in range(50):
        (repository.path / f"note-{number:02}.txt").write_text("x", encoding="utf-8")
    repository.commit()

    found = repository.judge().findings

    assert len(found) == 20
    last = next(each.message for each in found if each.file == "note-19.txt")
    assert "and 30 more files" in last


def test_a_history_of_its_own_is_one_clear_line(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "--orphan", "alone")
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()

    with pytest.raises(git.GitError, match=r"^\w{12} shares no history with \w{12}; start"):
        gate.judge(repository.path, base="main", head="alone")


def test_a_merge_of_the_base_brings_nothing_that_is_blamed(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    (repository.path / "README.md").write_text("Moved on.\n", encoding="utf-8")
    repository.commit()
    repository.git("checkout", "--quiet", "pull-request")
    repository.git("merge", "--quiet", "--no-edit", "main")

    assert repository.judge().decision == "accepted"


def test_a_correction_by_the_same_contributor_is_accepted(repository: Repository) -> None:
    correction = replace(SMALL, supersedes=repository.there.name)
    repository.write(sample_bytes(correction), name_of(correction))
    repository.commit()

    judgement = repository.judge(Sending(author="ada"))

    assert judgement.decision == "accepted"


@pytest.mark.parametrize(
    ("author", "contributor", "rules"),
    [
        ("eve", "ada", ["contributor-author", "superseding-author"]),
        ("eve", "eve", ["superseding-contributor"]),
    ],
)
def test_nobody_replaces_the_result_of_another(
    repository: Repository, author: str, contributor: str, rules: list[str]
) -> None:
    correction = replace(SMALL, supersedes=repository.there.name, contributor=contributor)
    repository.write(sample_bytes(correction), name_of(correction))
    repository.commit()

    judgement = repository.judge(Sending(author=author))

    assert [each.rule for each in judgement.findings] == rules


def test_a_result_is_replaced_once(repository: Repository) -> None:
    first = replace(SMALL, supersedes=repository.there.name)
    repository.git("checkout", "--quiet", "main")
    repository.write(sample_bytes(first), name_of(first))
    repository.commit()
    repository.git("checkout", "--quiet", "-B", "pull-request")
    second = replace(first, notes="Once more")
    repository.write(sample_bytes(second), name_of(second))
    repository.commit()

    (found,) = repository.judge().findings

    assert found.rule == "superseding-twice"
    assert f"name {name_of(first)} instead" in found.message
