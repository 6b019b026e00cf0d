"""The gate accepts new results and corrections by the same person, and judges each file."""

import pytest

from pipeline.intake import gate, reply
from tests.pipeline.repositories import FOLDER, OTHER, SMALL, Repository, name_of
from tests.samples import sample, sample_bytes


def test_a_new_result_is_accepted(repository: Repository) -> None:
    repository.add(SMALL)

    judgement = repository.judge()

    assert judgement.decision == "accepted"
    assert judgement.results == (f"{FOLDER}/{name_of(SMALL)}",)
    assert judgement.findings == ()


def test_a_pull_request_without_a_result_is_ignored(repository: Repository) -> None:
    (repository.path / "README.md").write_text("Better words.\n", encoding="utf-8")
    repository.commit()

    judgement = repository.judge()

    assert judgement.decision == "no-result"
    assert reply.note(reply.reply(judgement)).startswith("This pull request changes no results")


def test_later_commits_of_the_base_are_not_blamed_on_the_pull_request(
    repository: Repository,
) -> None:
    repository.add(SMALL)
    repository.git("checkout", "--quiet", "main")
    (repository.path / "README.md").write_text("Moved on.\n", encoding="utf-8")
    repository.commit()

    assert repository.judge().decision == "accepted"


def test_a_result_may_be_in_the_folder_of_its_month(repository: Repository) -> None:
    name = name_of(SMALL)  # measured on 2026-11-21
    repository.write(sample_bytes(SMALL), f"2026/11/{name}")
    repository.commit()

    judgement = repository.judge()

    assert (judgement.decision, judgement.results) == ("accepted", (f"{FOLDER}/2026/11/{name}",))


@pytest.mark.parametrize("folder", ["2026/12", "2026", "11", "deeper", "2026/11/21"])
def test_a_result_in_another_folder_is_refused(repository: Repository, folder: str) -> None:
    repository.write(sample_bytes(SMALL), f"{folder}/{name_of(SMALL)}")
    repository.commit()

    assert repository.rules() == {f"{folder}/{name_of(SMALL)}": {"path-folder"}}


def test_one_name_in_two_folders_is_a_duplicate(repository: Repository) -> None:
    for folder in ("", "2026/11/"):
        repository.write(sample_bytes(SMALL), f"{folder}{name_of(SMALL)}")
    repository.write(sample_bytes(OTHER), f"2026/11/{name_of(OTHER)}")
    repository.commit()

    assert repository.rules() == {
        name_of(SMALL): {"path-duplicate"},
        f"2026/11/{name_of(OTHER)}": {"path-duplicate"},
    }


def test_a_result_in_the_folder_of_a_month_cannot_be_edited(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), f"2026/11/{name_of(SMALL)}")
    repository.commit()
    repository.git("branch", "--force", "main", "pull-request")
    path = repository.path / FOLDER / "2026" / "11" / name_of(SMALL)
    path.write_bytes(sample_bytes(OTHER))
    repository.commit()

    assert repository.rules() == {f"2026/11/{name_of(SMALL)}": {"path-not-added"}}


def test_one_wrong_file_does_not_hide_the_findings_of_another(repository: Repository) -> None:
    repository.write(b"[]", "one--result--20261121-0011aabb.json")
    repository.write(b"{", "two--result--20261121-0011aabc.json")
    repository.write(b"{}", "Three.json")
    repository.commit()

    assert repository.rules() == {
        "one--result--20261121-0011aabb.json": {"schema-type"},
        "two--result--20261121-0011aabc.json": {"json"},
        "Three.json": {"path-name"},
    }


@pytest.mark.parametrize(("most", "rules"), [(6, {}), (5, {FOLDER: {"path-count"}})])
def test_a_pull_request_has_a_bounded_number_of_arms(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, most: int, rules: dict[str, set[str]]
) -> None:
    monkeypatch.setattr(gate, "MAX_ARMS", most)
    for seed in (4, 5):  # three arms each
        repository.add(sample(tasks=("code",), prompts_per_task=1, blocks=1, seed=seed))

    assert repository.rules() == rules


def test_many_changes_next_to_a_result_are_counted_and_not_listed(repository: Repository) -> None:
    for number in range(50):
        (repository.path / f"note-{number:02}.txt").write_text("x", encoding="utf-8")
    repository.add(SMALL)

    found = repository.judge().findings

    assert len(found) == 20
    last = next(each.message for each in found if each.file == "note-19.txt")
    assert "and 30 more files" in last
