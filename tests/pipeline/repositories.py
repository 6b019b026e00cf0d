"""Small temporary repositories for tests of the gate."""

import os
import subprocess
from pathlib import Path

from estimates.identity import canonical_name
from pipeline.intake import gate
from pipeline.intake.authorship import UNKNOWN, Sending
from schemas.submission import Submission
from tests.samples import sample, sample_bytes

FOLDER = "results/community"
# The git configuration of people who run the tests may have signing, hooks or other names.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
SMALL = sample(tasks=("code",), prompts_per_task=1, blocks=1)
OTHER = sample(tasks=("math",), prompts_per_task=1, blocks=1, seed=3)


# The files of the first repository: writing them takes a tenth of the time of git's commands.
_FILES: dict[Path, bytes] = {}


class Repository:
    """A repository with one result on `main`, and a branch for hostile commits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.there = path / FOLDER / name_of(OTHER)
        if not _FILES:
            self._make()
            files = (each for each in path.rglob("*") if each.is_file())
            _FILES.update({each.relative_to(path): each.read_bytes() for each in files})
        for name, data in _FILES.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)

    def _make(self) -> None:
        self.git("init", "--quiet", "--template=", "--initial-branch=main")
        self.write(sample_bytes(OTHER), name_of(OTHER))
        (self.path / "README.md").write_text("A repository.\n", encoding="utf-8")
        self.commit()
        self.git("checkout", "--quiet", "-b", "pull-request")

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        done = subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
        return done.stdout.decode().strip()

    def write(self, data: bytes, name: str) -> Path:
        path = self.path / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def add(self, *results: Submission) -> None:
        """Commit results under their canonical names."""
        for each in results:
            self.write(sample_bytes(each), name_of(each))
        self.commit()

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A change")

    def judge(self, sent: Sending = UNKNOWN) -> gate.Judgement:
        return gate.judge(self.path, base="main", head="pull-request", sent=sent)

    def rules(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for each in self.judge().findings:
            found.setdefault(each.file.removeprefix(f"{FOLDER}/"), set()).add(each.rule)
        return found


def name_of(submission: Submission) -> str:
    return canonical_name(submission, sample_bytes(submission))
