"""Submit a result: copy it into a clone under its canonical name and open a pull request."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from estimates.identity import canonical_name
from harness import files
from harness.errors import BadInputError, MachineError, RefusedError
from harness.machine.command_line import pasted
from schemas.codec import canonical_bytes, dated_folder, encode, folder_of
from schemas.contract import read
from schemas.posted import MOST_CHARACTERS, to_text
from schemas.submission import Submission

COMMUNITY = Path("results", "community")
_SIGN_OF_A_CHECKOUT = Path("schemas", "submission.v2.schema.json")
_GATE = Path("pipeline", "intake", "cli.py")
_TIMEOUT_S = 300


def accepted(path: Path) -> Submission:
    """Return the valid submission in a file. Raises `RefusedError` for an invalid submission."""
    result = read(files.result_bytes(path), file=path.name)
    if not isinstance(result, Submission):
        lines = "\n".join(finding.line() for finding in result)
        raise RefusedError(f"{path.name} is not valid and would be rejected:\n{lines}")
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


def find_checkout(start: Path) -> Path:
    """Return the clone that contains `start`. Raises `BadInputError` if `start` is in no clone."""
    for folder in (start, *start.parents):
        if (folder / _SIGN_OF_A_CHECKOUT).is_file():
            return folder
    raise BadInputError(
        f"{start} is not in a clone of the project; run the command in your clone, name your "
        "clone with --repository FOLDER, or send the result through the issue form with "
        "--without-git"
    )


def replacing(submission: Submission, name: str, checkout: Path) -> Submission:
    """Return the submission marked as replacing an earlier result.

    Raises `BadInputError` if it must not replace that result.
    """
    there = next((each for each in _places(name, checkout) if each.is_file()), None)
    if there is None:
        raise BadInputError(
            f"{COMMUNITY.as_posix()} has no file {name}; name an existing file (is git pull "
            "needed?)"
        )
    old = accepted(there)
    if old.contributor is None:
        raise BadInputError(
            f"{name} is anonymous, so it cannot be replaced; leave out --supersedes, and request "
            "the withdrawal of that file with the form *Withdraw or doubt a result*"
        )
    if (submission.contributor or "").lower() != old.contributor.lower():
        raise BadInputError(
            f"{name} is by {old.contributor}, and only {old.contributor} can replace it; if that "
            f"is you, add --contributor {old.contributor}"
        )
    return replace(submission, supersedes=name)


def write_result(submission: Submission, checkout: Path) -> Path:
    """Write a submission into the clone and return its path; an existing file is kept unchanged."""
    data = canonical_bytes(encode(submission))
    flat, dated = _places(canonical_name(submission, data), checkout)
    for path in (dated, flat):
        if path.exists():
            return path
    in_flat = sum(1 for _ in flat.parent.glob("*.json"))
    path = flat.parent / folder_of(flat.name, in_flat) / flat.name
    try:
        with files.written(path) as part:
            part.write_bytes(data)
    except OSError as error:
        raise MachineError(f"{path} cannot be written ({error.strerror})") from error
    return path


def as_text(submission: Submission) -> str:
    """Return the text for the issue form. Raises `BadInputError` if the text is too long."""
    text = to_text(canonical_bytes(encode(submission)))
    if len(text) > MOST_CHARACTERS:
        raise BadInputError(
            f"the text has {len(text):,} characters, more than the {MOST_CHARACTERS:,} that a "
            "form accepts; drag the file itself into the form instead (as FILE.json.txt if the "
            "form refuses .json)"
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


def _places(name: str, checkout: Path) -> tuple[Path, Path]:
    """Return the possible paths of a result: in the community folder, or in its month's folder."""
    folder = checkout / COMMUNITY
    return folder / name, folder / (dated_folder(name) or "") / name


def branch(path: Path) -> str:
    """Return the name of the branch that submits a result file."""
    return f"result/{path.stem}"


def was_submitted(path: Path, checkout: Path) -> bool:
    """Whether the clone already has the submission's branch, even if sending was interrupted."""
    return _has(f"refs/heads/{branch(path)}", checkout)


def accepted_since(path: Path, checkout: Path) -> str | None:
    """Return the day on which the project accepted a result file; `None` if it has not."""
    main = next((each for each in ("origin/HEAD", "main") if _has(each, checkout)), "HEAD")
    place = path.relative_to(checkout).as_posix()
    return (
        _run(("git", "log", "-1", "--format=%cs", main, "--", place), checkout).stdout.strip()
        or None
    )


def login(checkout: Path) -> str | None:
    """Return the GitHub account that `gh` is logged in to; `None` if unknown."""
    answer = _run(("gh", "api", "user", "--jq", ".login"), checkout)
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def steps(path: Path, checkout: Path, author: str | None = None) -> tuple[tuple[str, ...], ...]:
    """Return the commands with which `author` opens a pull request for a result file."""
    title = f"Result: {path.stem}"
    # In a fork, GitHub finds the branch by the fork's owner.
    head = branch(path) if author is None else f"{author}:{branch(path)}"
    # The pull request's check, run from the clone's code as a separate process, since this package
    # must not import the pipeline. The base is the remote's default branch, else the previous
    # branch.
    base = "origin/HEAD" if _has("origin/HEAD", checkout) else "@{-1}"
    gate = (sys.executable, "-m", "pipeline.intake", "gate", "--base", base, "--head", "HEAD")
    sender = () if author is None else ("--author", author)
    return (
        ("git", "switch", "-c", branch(path)),
        ("git", "add", path.relative_to(checkout).as_posix()),
        ("git", "commit", "-m", title),
        *([(*gate, *sender)] if (checkout / _GATE).is_file() else []),
        ("git", "push", "-u", "origin", branch(path)),
        ("gh", "pr", "create", "--title", title, "--body", _BODY, "--head", head),
        # Switch back, so that the next branch is not based on this one.
        ("git", "switch", "-"),
    )


_BODY = "A measured result, made and checked by the harness. Licence of the data: CC BY 4.0."


def obstacle(checkout: Path) -> str | None:
    """Return why this clone cannot open a pull request, with a remedy; `None` if it can."""
    for program in ("git", "gh"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if _run(("gh", "auth", "status"), checkout).returncode != 0:
        return "gh is not logged in: gh auth login"
    return None


def open_pull_request(commands: Sequence[Sequence[str]], checkout: Path) -> Iterator[str]:
    """Run the commands; yield each of them, then the pull request's URL.

    Raises `MachineError`, which lists the commands that remain, if a command fails.
    """
    for number, command in enumerate(commands):
        yield pasted(command)
        done = _run(command, checkout)
        if done.returncode != 0:
            left = "\n".join(pasted(step) for step in commands[number:])
            printed = "\n".join(filter(None, (done.stdout.strip(), done.stderr.strip())))
            raise MachineError(f"{command[0]} failed: {printed}\nCommands not run:\n{left}")
        if command[0] == "gh" and done.stdout.strip():
            yield done.stdout.strip()


def _has(reference: str, checkout: Path) -> bool:
    """Whether a clone has a branch, local or remote."""
    command = ("git", "rev-parse", "--verify", "--quiet", reference)
    return _run(command, checkout).returncode == 0


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program and return its result; a missing or hanging program counts as failed."""
    try:
        # git and gh with our own arguments and a file name in canonical form.
        return subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",  # regardless of the console's code page
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"no answer within {_TIMEOUT_S} s; is the command waiting for a password?"
    except OSError as error:
        reason = str(error)
    return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr=reason)
