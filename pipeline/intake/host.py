"""Ask GitHub about a pull request and write its comment, through `gh`.

`gh` reads its token from the environment; this module never sees the token.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
import orjson

from pipeline.errors import PipelineError
from pipeline.intake.authorship import ROBOT
from schemas.codec import UNREADABLE

T = TypeVar("T")
_TIMEOUT_S = 60
_PER_PAGE = 100
_MAX_PAGES = 30
REQUIRED_CHECK = "Gate"  # the job of the workflow Submission
REMOTE = "DRAFTMAP_REMOTE"  # the target of pushes; tests replace it


class _HostError(PipelineError):
    """GitHub could not be reached, or refused the request."""

    exit_code = 3


class Account(msgspec.Struct, frozen=True):
    """An account in an event that GitHub wrote to a file."""

    login: str
    id: int

    @property
    def author(self) -> str:
        """The author of a commit, as `NAME <EMAIL>`."""
        return f"{self.login} <{self.id}+{self.login}@users.noreply.github.com>"


def event_of(kind: type[T], path: Path) -> T:
    """The event in a file. Raises `PipelineError` for anything else."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, *UNREADABLE) as error:
        raise PipelineError(f"{path} is not the expected event ({error})") from error


def pull_requests(repository: str, state: str, branch: str) -> dict[str, int]:
    """The pull requests in a `state` from a branch `OWNER:NAME`: numbers by their newest commits.

    GitHub cannot look up pull requests by a commit in a fork, so this looks them up by branch.
    """
    found = _pages(f"repos/{repository}/pulls", {"state": state, "head": branch})
    return {each["head"]["sha"]: int(each["number"]) for each in reversed(found)}


def changed_paths(repository: str, number: int) -> frozenset[str] | None:
    """Every path that a pull request changes, old names included; `None` if the list is cut off."""
    files = _pages(f"repos/{repository}/pulls/{number}/files", {})
    if len(files) >= _PER_PAGE * _MAX_PAGES:
        return None
    names = {each["filename"] for each in files}
    return frozenset(names | {each.get("previous_filename", each["filename"]) for each in files})


def comment_of_ours(repository: str, number: int, marker: str) -> int | None:
    """The id of our earlier comment; its author is checked, because anyone can write the marker."""
    there = _pages(f"repos/{repository}/issues/{number}/comments", {})
    ours = (each for each in there if each["user"]["login"] == ROBOT)
    return next((int(each["id"]) for each in ours if each["body"].startswith(marker)), None)


def put_comment(repository: str, number: int, comment: int | None, body: str) -> None:
    if comment is None:
        _ask("POST", f"repos/{repository}/issues/{number}/comments", {"body": body})
    else:
        _ask("PATCH", f"repos/{repository}/issues/comments/{comment}", {"body": body})


def issue_text(repository: str, number: int) -> str:
    return str(_ask("GET", f"repos/{repository}/issues/{number}")["body"] or "")


def may_write(repository: str, account: str) -> bool:
    """Whether an account may push to the repository."""
    found = _ask("GET", f"repos/{repository}/collaborators/{account}/permission")
    return found["permission"] in {"admin", "write"}


def push(clone: Path, repository: str, sha: str, branch: str, *, before: str = "") -> None:
    """Push a commit to a branch that is at `before`, by default to a new branch.

    Raises `_HostError` if the branch is elsewhere.
    """
    helper = "credential.helper=!gh auth git-credential"
    address = os.environ.get(REMOTE) or f"https://github.com/{repository}.git"
    git = ("git", "-C", str(clone), "-c", helper)
    made, if_new = f"{sha}:refs/heads/{branch}", f"--force-with-lease={branch}:{before}"
    _run([*git, "push", "--quiet", address, made, if_new])


def open_pull_request(repository: str, branch: str, base: str, title: str, body: str) -> int:
    """Open a pull request, and return its number."""
    asked = {"head": branch, "base": base, "title": title, "body": body}
    return int(_ask("POST", f"repos/{repository}/pulls", asked)["number"])


def set_status(repository: str, sha: str, description: str) -> None:
    """Set the status that a merge requires, because our own pull requests start no workflow."""
    asked = {"state": "success", "context": REQUIRED_CHECK, "description": description}
    _ask("POST", f"repos/{repository}/statuses/{sha}", asked)


def _pages(path: str, query: dict[str, str]) -> list[dict[str, Any]]:  # `Any` is JSON from GitHub
    found: list[dict[str, Any]] = []
    for page in range(1, _MAX_PAGES + 1):
        words = urlencode({**query, "per_page": _PER_PAGE, "page": page})
        entries = _ask("GET", f"{path}?{words}")
        found += entries
        if len(entries) < _PER_PAGE:
            break
    return found


def _ask(method: str, path: str, value: object = None) -> Any:  # noqa: ANN401 - JSON of any shape
    data = None if value is None else orjson.dumps(value)
    words = () if data is None else ("--input", "-")
    answer = _run(["gh", "api", "--method", method, path, *words], data)
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        raise _HostError(f"the answer from gh api is not JSON ({error})") from error


def _run(command: Sequence[str], data: bytes | None = None) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - fixed programs with words that were checked
            command, input=data, capture_output=True, timeout=_TIMEOUT_S, check=True
        )
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode("utf-8", "replace").strip() or "no reason given"
        raise _HostError(f"{command[0]} failed: {reason}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _HostError(
            f"{command[0]} could not be run ({error}). Is it installed, and is GH_TOKEN set?"
        ) from error
    return done.stdout
