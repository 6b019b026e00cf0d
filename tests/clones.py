"""A bare repository in the place of GitHub's, and a person's clone of it."""

import os
import subprocess
from pathlib import Path

from estimates.identity import canonical_name
from schemas.codec import canonical_bytes, encode
from schemas.submission import Submission

COMMUNITY = "results/community"
_PERSON = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "ada"), ("EMAIL", "ada@example.org"))
}


def git(folder: Path, *words: str) -> str:
    """Run git in a folder and return what it prints."""
    environment = {**os.environ, **_PERSON}
    command = ["git", *words]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return done.stdout.decode()


def clone(folder: Path, *results: Submission) -> Path:
    """Make `origin.git` with these results in a folder, and return a clone of it."""
    (made := folder / "clone").mkdir()
    files = {"schemas/submission.v2.schema.json": b"{}"}
    for each in results:
        data = canonical_bytes(encode(each))
        files[f"{COMMUNITY}/{canonical_name(each, data)}"] = data
    git(folder, "init", "--quiet", "--bare", "-b", "main", "origin.git")
    git(made, "init", "--quiet", "-b", "main")
    for name, value in (("user.name", "ada"), ("user.email", "ada@example.org")):
        git(made, "config", name, value)
    for path, data in files.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_bytes(data)
    git(made, "add", ".")
    git(made, "commit", "--quiet", "-m", "first")
    git(made, "remote", "add", "origin", str(folder / "origin.git"))
    git(made, "push", "--quiet", "origin", "main")
    return made


def state(made: Path) -> tuple[str, ...]:
    """The branches of a clone, the current one, and all changes of files."""
    return (git(made, "branch"), git(made, "status", "--short"), git(made, "diff", "--cached"))


def sent(made: Path) -> dict[str, str]:
    """The branches of the clone's origin besides main, each with the changes that it brings."""
    origin = made.parent / "origin.git"
    names = git(origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/").split()
    return {
        name: git(origin, "diff", "--name-status", f"main...{name}").strip()
        for name in names
        if name != "main"
    }
