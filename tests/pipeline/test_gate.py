"""Does the gate let in new results and nothing else? On small repositories with hostile commits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pipeline.intake import gate, git, reply
from tests.pipeline.repositories import FOLDER, OTHER, SMALL, Repository, name_of
from tests.samples import sample_bytes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_new_result_is_accepted(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()

    judgement = repository.judge()

    assert judgement.decision == "accepted"
    assert judgement.results == (f"{FOLDER}/{name_of(SMALL)}",)
    assert judgement.findings == ()


def test_a_pull_request_without_a_result_is_none_of_its_business(repository: Repository) -> None:
    (repository.path / "README.md").write_text("Better words.\n", encoding="utf-8")
    repository.commit()

    judgement = repository.judge()

    assert judgement.decision == "no-result"
    assert reply.note(judgement, reply.reply(judgement, ())).startswith(
        "This pull request changes no results"
    )


def test_what_the_base_gained_meanwhile_is_not_blamed_on_the_pull_request(
    repository: Repository,
) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    (repository.path / "README.md").write_text("Moved on.\n", encoding="utf-8")
    repository.commit()

    assert repository.judge().decision == "accepted"


def test_a_symbolic_link_is_refused(repository: Repository) -> None:
    (repository.path / FOLDER / name_of(SMALL)).symlink_to("/etc/passwd")
    repository.commit()

    assert repository.rules() == {name_of(SMALL): {"path-mode"}}


def test_an_executable_file_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL)).chmod(0o755)
    repository.commit()

    assert repository.rules() == {name_of(SMALL): {"path-mode"}}


def test_a_submodule_is_refused(repository: Repository) -> None:
    entry = f"160000,{'1' * 40},{FOLDER}/module.json"
    repository.git("update-index", "--add", "--cacheinfo", entry)
    repository.git("commit", "--quiet", "--message", "A submodule")

    assert repository.rules() == {"module.json": {"path-mode"}}


def test_an_edit_of_a_result_is_refused(repository: Repository) -> None:
    repository.there.write_bytes(sample_bytes(SMALL))
    repository.commit()

    assert repository.rules() == {repository.there.name: {"path-not-added"}}


def test_a_removal_is_refused(repository: Repository) -> None:
    repository.there.unlink()
    repository.commit()

    assert repository.rules() == {repository.there.name: {"path-not-added"}}


def test_a_rename_is_a_removal_and_a_copy(repository: Repository) -> None:
    renamed = repository.there.name.replace("rtx-4060", "rtx-5090")
    repository.there.rename(repository.there.with_name(renamed))
    repository.commit()

    assert repository.rules() == {
        repository.there.name: {"path-not-added"},
        renamed: {"path-duplicate"},
    }


def test_a_result_that_becomes_a_link_is_refused(repository: Repository) -> None:
    repository.there.unlink()
    repository.there.symlink_to("../../README.md")
    repository.commit()

    assert repository.rules() == {repository.there.name: {"path-not-added"}}


def test_the_whole_folder_cannot_become_a_file(repository: Repository) -> None:
    repository.there.unlink()
    repository.there.parent.rmdir()
    (repository.path / FOLDER).write_text("no folder", encoding="utf-8")
    repository.commit()

    rules = repository.rules()

    assert rules[FOLDER] == {"path-name"}
    assert rules[repository.there.name] == {"path-not-added"}


@pytest.mark.parametrize(
    "name",
    [
        "Result.json",
        "result.JSON",
        "result.txt",
        ".gitattributes",
        "con.json",
        "lpt1.x.json",
        "a b.json",
        "r\u00e9sultat.json",
        "::error::x.json",
        "x" * 102 + ".json",
    ],
)
def test_a_name_that_is_not_canonical_is_refused(repository: Repository, name: str) -> None:
    repository.write(sample_bytes(SMALL), name)
    repository.commit()

    assert repository.rules() == {name: {"path-name"}}


def test_a_result_may_lie_in_the_folder_of_its_month(repository: Repository) -> None:
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


def test_a_name_that_does_not_fit_the_content_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), "rtx-4060--sample-7b--20261121-00000000.json")
    repository.commit()

    assert repository.rules() == {"rtx-4060--sample-7b--20261121-00000000.json": {"canonical-name"}}


def test_bytes_that_are_not_canonical_are_refused(repository: Repository) -> None:
    pretty = json.dumps(json.loads(sample_bytes(SMALL)), indent=2).encode()
    repository.write(pretty, name_of(SMALL))
    repository.commit()

    assert "canonical-form" in repository.rules()[name_of(SMALL)]


def test_malformed_json_is_refused_with_its_place(repository: Repository) -> None:
    repository.write(b'{"format": NaN}', "rtx-4060--sample-7b--20261121-0011aabb.json")
    repository.commit()

    assert repository.rules() == {"rtx-4060--sample-7b--20261121-0011aabb.json": {"json"}}


def test_too_many_bytes_are_refused_without_reading_them(repository: Repository) -> None:
    repository.write(b" " * (512 * 1024 + 1), "big--result--20261121-0011aabb.json")
    repository.commit()

    assert repository.rules() == {"big--result--20261121-0011aabb.json": {"path-size"}}


def test_another_change_beside_a_result_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    (repository.path / "Makefile").write_text("test:\n\ttrue\n", encoding="utf-8")
    (repository.path / ".gitattributes").write_text("*.json filter=x\n", encoding="utf-8")
    repository.commit()

    assert repository.rules() == {".gitattributes": {"path-outside"}, "Makefile": {"path-outside"}}


def test_a_result_that_is_there_already_is_refused(repository: Repository) -> None:
    copy = f"rx-7900{name_of(OTHER).removeprefix('rtx-4060')}"
    repository.write(sample_bytes(OTHER), copy)
    repository.commit()

    assert repository.rules() == {copy: {"path-duplicate"}}


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


def test_a_flood_of_files_is_cut(repository: Repository) -> None:
    for number in range(gate.MAX_RESULTS + 5):
        repository.write(b"{}", f"flood-{number:03}.json")
    repository.commit()

    judgement = repository.judge()

    assert [(each.file, each.rule) for each in judgement.findings] == [(FOLDER, "path-count")]
    assert judgement.submissions == {}


def test_an_unknown_revision_is_a_fault_of_the_environment(repository: Repository) -> None:
    with pytest.raises(git.GitError, match="names no commit of this clone"):
        gate.judge(repository.path, base="main", head="--upload-pack=evil")
