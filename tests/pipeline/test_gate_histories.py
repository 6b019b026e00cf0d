"""Very many changes next to a result, and the right to replace a result."""

from dataclasses import replace

import pytest

from pipeline.intake.authorship import Sending
from tests.pipeline.repositories import SMALL, Repository, name_of
from tests.samples import sample_bytes


def test_many_changes_next_to_a_result_are_counted_and_not_listed(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    for number in range(50):
        (repository.path / f"note-{number:02}.txt").write_text("x", encoding="utf-8")
    repository.commit()

    found = repository.judge().findings

    assert len(found) == 20
    last = next(each.message for each in found if each.file == "note-19.txt")
    assert "and 30 more files" in last


def test_a_correction_by_the_same_contributor_is_accepted(repository: Repository) -> None:
    correction = replace(SMALL, supersedes=repository.there.name)
    repository.add(correction)

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
    repository.add(correction)

    judgement = repository.judge(Sending(author=author))

    assert [each.rule for each in judgement.findings] == rules


def test_a_result_is_replaced_once(repository: Repository) -> None:
    first = replace(SMALL, supersedes=repository.there.name)
    repository.git("checkout", "--quiet", "main")
    repository.add(first)
    repository.git("checkout", "--quiet", "-B", "pull-request")
    second = replace(first, notes="Once more")
    repository.add(second)

    (found,) = repository.judge().findings

    assert found.rule == "superseding-twice"
    assert f"name {name_of(first)} instead" in found.message
