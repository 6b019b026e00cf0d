"""Submit a result: commit it under its canonical name, push the commit, open a pull request.

The commit is made from git's objects, so no branch, file or index of the clone changes. A failure
therefore leaves nothing to undo, and the same command continues with the step that failed.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import metadata
from pathlib import Path

from estimates.identity import canonical_name
from harness.errors import BadInputError, MachineError, RefusedError
from harness.machine.command_line import pasted
from schemas.codec import canonical_bytes, encode, folder_of
from schemas.contract import read
from schemas.finding import Finding
from schemas.posted import MOST_CHARACTERS, to_text
from schemas.sending import findings_on_sending
from schemas.submission import Submission

COMMUNITY = "results/community"
_SIGN_OF_A_CHECKOUT = Path("schemas", "submission.v2.schema.json")
_TIMEOUT_S = 300
_BODY = "A measured result, made and checked by the harness. Licence of the data: CC BY 4.0."


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A clone of the project, and the id of the newest commit of the project that it knows."""

    folder: Path
    base: str

    def results(self) -> list[str]:
        """Return the paths of the project's results."""
        found = self.run("git", "ls-tree", "-r", "--name-only", self.base, f"{COMMUNITY}/")
        return found.stdout.splitlines()

    def run(
        self, *command: str, data: bytes = b"", index: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program with `data` as its input, and with this index instead of the clone's.

        Raises `MachineError` if the program fails.
        """
        done = _run(command, self.folder, data, index)
        if done.returncode != 0:
            printed = "\n".join(filter(None, (done.stdout.strip(), done.stderr.strip())))
            raise MachineError(
                f"{pasted(command[:2])} failed: {printed}\nNothing in your clone has changed; once "
                "this works, the same command continues"
            )
        return done


def accepted(data: bytes, name: str) -> Submission:
    """Return the valid submission in a file. Raises `RefusedError` for an invalid submission."""
    result = read(data, file=name)
    if not isinstance(result, Submission):
        raise _refused(name, result)
    return result


def signed(submission: Submission, contributor: str | None) -> Submission:
    """Return the submission with its contributor's name.

    Raises `BadInputError` if the submission already names somebody else.
    """
    if contributor is None or submission.contributor == contributor:
        return submission
    if submission.contributor is not None:
        raise BadInputError(f"the result names {submission.contributor}; leave out --contributor")
    return replace(submission, contributor=contributor)


def require_sendable(submission: Submission, name: str, *, login: str | None) -> None:
    """Raise `RefusedError` if the gate would refuse the submission from the account `login`."""
    now = datetime.now().astimezone()
    if found := [*findings_on_sending(submission, contributor=login, now=now)]:
        raise _refused(name, found)


def _refused(name: str, findings: Iterable[Finding]) -> RefusedError:
    lines = "\n".join(finding.line() for finding in findings)
    return RefusedError(f"{name} is not valid and would be rejected:\n{lines}")


def find_clone(start: Path) -> Clone:
    """Return the clone that contains `start`.

    Raises `BadInputError` if `start` is in no clone, and `MachineError` if git is not installed.
    """
    otherwise = "send the result through the issue form with --without-git"
    if shutil.which("git") is None:
        raise MachineError(f"git is not installed; install it, or {otherwise}")
    folders = (each for each in (start, *start.parents) if (each / _SIGN_OF_A_CHECKOUT).is_file())
    if (folder := next(folders, None)) is not None:
        for name in ("origin/HEAD", "main", "HEAD"):
            if commit := _run(("git", "rev-parse", "--verify", "--quiet", name), folder).stdout:
                return Clone(folder=folder, base=commit.strip())
    raise BadInputError(
        f"{start} is not in a clone of the project; run the command in your clone, name your "
        f"clone with --repository FOLDER, or {otherwise}"
    )


def place(submission: Submission, clone: Clone) -> str:
    """Return the path of a submission in the project, whether it is there yet or not."""
    name = canonical_name(submission, canonical_bytes(encode(submission)))
    there = clone.results()
    in_flat = sum(path.count("/") == COMMUNITY.count("/") + 1 for path in there)
    new = "/".join(filter(None, (COMMUNITY, folder_of(name, in_flat), name)))
    return next((path for path in there if path.endswith(f"/{name}")), new)


def as_text(submission: Submission) -> str:
    """Return the text for the issue form. Raises `BadInputError` if the text is too long."""
    text = to_text(canonical_bytes(encode(submission)))
    if len(text) > MOST_CHARACTERS:
        raise BadInputError(
            f"the text has {len(text):,} characters, more than the {MOST_CHARACTERS:,} that a "
            "form accepts; send the result with git, without --without-git"
        )
    return text


def form_address() -> str | None:
    """Return the URL of the issue form, if this installation's repository is known."""
    try:
        named = metadata.metadata("draftmap").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    repository = dict(each.split(", ", 1) for each in named).get("Repository")
    return repository and f"{repository.rstrip('/')}/issues/new?template=result.yml"


def login(clone: Clone) -> str | None:
    """Return the GitHub account that `gh` is logged in to; `None` without one, or without `gh`."""
    return _run(("gh", "api", "user", "--jq", ".login"), clone.folder).stdout.strip() or None


def send(submission: Submission, path: str, clone: Clone, author: str | None) -> Iterator[str]:
    """Push a branch with the result and open its pull request; yield each step and the URL.

    Each step is skipped if an earlier call did it. Without an `author` for `gh`, the last line says
    how to open the pull request. Raises `MachineError` if a step fails.
    """
    name = f"result/{Path(path).stem}"
    title = f"Result: {Path(path).stem}"
    if author:
        of_branch = ("--head", name, "--state", "all", "--json", "url", "--jq", ".[].url")
        if url := clone.run("gh", "pr", "list", *of_branch).stdout.strip():
            yield f"Already sent: {url}"
            return
    if not clone.run("git", "ls-remote", "origin", f"refs/heads/{name}").stdout:
        commit = _committed(canonical_bytes(encode(submission)), path, title, clone)
        push = ("git", "push", "origin", f"{commit}:refs/heads/{name}")
        yield pasted(push)
        yield clone.run(*push).stderr.strip()  # GitHub's has the address of its form
    if author is None:
        yield f"Now open the pull request on GitHub, for the branch {name}."
        return
    # In a fork, GitHub finds the branch by the fork's owner.
    head = ("--head", f"{author}:{name}")
    opening = ("gh", "pr", "create", "--title", title, "--body", _BODY, *head)
    yield pasted(opening)
    yield clone.run(*opening).stdout.strip()


def _committed(data: bytes, path: str, title: str, clone: Clone) -> str:
    """Add a file to the tree of the base, and return the id of the commit, which no branch has."""
    blob = clone.run("git", "hash-object", "-w", "--stdin", data=data).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        clone.run("git", "read-tree", clone.base, index=index)
        added = ("--add", "--cacheinfo", f"100644,{blob},{path}")
        clone.run("git", "update-index", *added, index=index)
        tree = clone.run("git", "write-tree", index=index).stdout.strip()
    return clone.run("git", "commit-tree", tree, "-p", clone.base, "-m", title).stdout.strip()


def _run(
    command: Sequence[str], folder: Path, data: bytes = b"", index: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program and return its result; a missing or hanging program counts as failed."""
    try:
        # git and gh with our own arguments and a file name in canonical form.
        done = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            env={**os.environ, "GIT_INDEX_FILE": str(index)} if index else None,
            input=data,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"no answer within {_TIMEOUT_S} s; is the command waiting for a password?"
    except OSError as error:
        reason = str(error)
    else:  # UTF-8, regardless of the console's code page
        out, err = (each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(command, done.returncode, out, err)
    return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr=reason)
