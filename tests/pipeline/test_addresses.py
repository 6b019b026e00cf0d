"""The repository's address comes from a setting, from pyproject.toml, or from the git remote."""

import subprocess
from pathlib import Path

import pytest

from pipeline.site.addresses import REPOSITORY, repository_address

DECLARED = """[project]
name = "x"
[project.urls]
Repository = "https://declared.example/a/b"
"""


@pytest.mark.parametrize(
    ("setting", "project", "found"),
    [
        ("https://set.example/a/b", DECLARED, "https://set.example/a/b"),
        ("", DECLARED, "https://declared.example/a/b"),
        ("", "[project]", "https://remote.example/a/b"),
    ],
)
def test_a_setting_comes_before_the_project_and_the_project_before_the_remote(
    setting: str, project: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REPOSITORY, setting)
    (tmp_path / "pyproject.toml").write_text(project, "utf-8")
    for words in (["init", "-q"], ["remote", "add", "origin", "git@remote.example:a/b.git"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)  # noqa: S607

    assert repository_address(tmp_path) == found


def test_a_copy_without_a_known_address_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REPOSITORY, raising=False)
    (tmp_path / "pyproject.toml").write_text("[project]", "utf-8")

    assert repository_address(tmp_path) is None
