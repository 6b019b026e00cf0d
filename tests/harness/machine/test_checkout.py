"""A result says which commit of Draftmap measured it."""

import subprocess
from pathlib import Path

from harness.machine.checkout import commit


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_checkout_names_its_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")

    assert commit(tmp_path) == git(tmp_path, "rev-parse", "HEAD")


def test_an_installed_package_has_no_commit(tmp_path: Path) -> None:
    assert commit(tmp_path) is None


def test_a_checkout_without_commits_has_no_commit_id(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")

    assert commit(tmp_path) is None
