"""A release has the same version everywhere, and its privileged job runs no project code."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.test_workflows import GITHUB, read
from tools.release import words
from tools.release.check import checksums

DAY = "2026-12-01"
RELEASED = words.Words(
    version="1.2.3", cited="1.2.3", cited_day=DAY, noted="1.2.3", day=DAY, notes="What changed.\n"
)
OPEN = replace(RELEASED, day="unreleased", cited_day=None)


def test_version_citation_and_changelog_agree() -> None:
    assert words.problems(words.read(GITHUB.parent)) == []


def test_the_notes_are_the_first_section_of_the_changelog(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', "utf-8")
    (tmp_path / "CITATION.cff").write_text(f"version: 1.2.3\ndate-released: {DAY}\n", "utf-8")
    sections = f"## 1.2.3 ({DAY})\n\nWhat changed.\n\n## 1.2.2 (2026-11-01)\n\nOld.\n"
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{sections}", "utf-8")

    assert words.read(tmp_path) == RELEASED


@pytest.mark.parametrize(
    ("said", "tag", "wrong"),
    [
        (OPEN, "v1.2.3", "CHANGELOG.md still says unreleased; write the date"),
        (RELEASED, "1.2.3", "the tag is 1.2.3, expected v1.2.3"),
        (replace(RELEASED, cited="1.2.2"), None, "CITATION.cff says version 1.2.2, expected 1.2.3"),
        (replace(RELEASED, cited_day=None), None, "CITATION.cff says date-released: None"),
        (
            replace(OPEN, day="soon", cited_day="soon"),
            None,
            "CHANGELOG.md dates the version soon, expected",
        ),
    ],
)
def test_each_disagreement_is_named(said: words.Words, tag: str | None, wrong: str) -> None:
    (found,) = words.problems(said, tag)

    assert found.startswith(wrong)
    assert words.problems(RELEASED, "v1.2.3") == words.problems(OPEN) == []


def test_the_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"abc")
    (tmp_path / "SHA256SUMS").write_bytes(b"of an earlier call")

    # The first example of the standard (FIPS 180-4).
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert checksums(tmp_path) == f"{digest}  b.whl\n"


def test_the_job_with_rights_builds_nothing_and_the_index_is_off_until_the_owner_agrees() -> None:
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    runs = {name: [s["run"] for s in job["steps"] if "run" in s] for name, job in jobs.items()}

    rights = [step.get("uses", step.get("run", "")) for step in jobs["publish"]["steps"]]
    assert runs["index"] == []
    assert [each.partition("@")[0].split()[0] for each in rights] == [
        "actions/download-artifact", "actions/attest-build-provenance", "gh",
    ]  # fmt: skip
    assert {"make check", "make test test-nightly"} < set(runs["build"])
    assert [jobs[name].get("needs") for name in jobs] == [None, "build", "publish"]
    assert jobs["index"]["if"] == "vars.PUBLISH_TO_INDEX == 'true'"
