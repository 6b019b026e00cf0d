"""Check the paths of a pull request: only new regular files with a canonical name."""

import re
from collections.abc import Iterable, Sequence

from pipeline.intake.git import Change
from schemas.canonical import FILE_NAME
from schemas.finding import ROOT, Finding
from schemas.strict import MAX_BYTES

FOLDER = "results/community"
LIFECYCLE = "results/lifecycle"
MAX_RESULTS = 100
MAX_OUTSIDE = 20
_REGULAR_FILE = "100644"
_SORTS = {"120000": "a symbolic link", "160000": "a submodule", "100755": "an executable file"}
_ACTIONS = {"M": "changes", "D": "removes", "T": "changes the kind of"}
_RESERVED_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_DIGEST = re.compile(r"-[0-9a-f]{8}\.json")


def is_result(change: Change) -> bool:
    """Whether a change is in the folder of results, or one that some systems take for it."""
    return is_result_path(change.path)


def is_result_path(path: str) -> bool:
    """The same of a path alone."""
    folded = path.casefold()
    return folded == FOLDER or folded.startswith(f"{FOLDER}/")


def too_many(results: Sequence[Change]) -> Finding | None:
    """The finding on more files than one pull request may add; then none of them is read."""
    if len(results) <= MAX_RESULTS:
        return None
    message = f"{len(results)} files in one pull request, at most {MAX_RESULTS}; split it"
    return _finding("path-count", message)


def outside_findings(changes: Iterable[Change]) -> dict[str, Finding]:
    """Everything that is changed besides results: the first few, and the number of the rest."""
    outside = [change.path for change in changes if not is_result(change)]
    message = "a pull request with results must change nothing else; move this to another one"
    found = dict.fromkeys(outside[:MAX_OUTSIDE], _finding("path-outside", message))
    more = len(outside) - MAX_OUTSIDE
    if more > 0:
        message = f"{message} (and {more} more files)"
        found[outside[MAX_OUTSIDE - 1]] = _finding("path-outside", message)
    return found


def result_findings(results: Sequence[Change], taken: Iterable[str]) -> dict[str, Finding]:
    """The first thing that is wrong with each path."""
    there = {path.casefold(): path for path in taken}
    digests = {match[0] for path in there.values() if (match := _DIGEST.search(path))}
    found: dict[str, Finding] = {}
    # Of names that differ only in case, the one in small letters is right.
    for change in sorted(results, key=lambda change: change.path != change.path.casefold()):
        finding = _elsewhere(change) or _finding_of(change, there, digests)
        if finding is not None:
            found[change.path] = finding
        if change.status != "D":
            there.setdefault(change.path.casefold(), change.path)
    return found


def size_finding(size: int) -> Finding | None:
    """The finding on a file that is too large to be read."""
    if size <= MAX_BYTES:
        return None
    return _finding("path-size", f"{size} bytes, at most {MAX_BYTES} are accepted")


def _elsewhere(change: Change) -> Finding | None:
    """The finding on a folder that only some systems treat as the one of the results."""
    if change.path == FOLDER or change.path.startswith(f"{FOLDER}/"):
        return None
    message = f"the folder is {FOLDER}/, in small letters; some systems ignore case"
    return _finding("path-outside", message)


def _finding_of(change: Change, there: dict[str, str], digests: set[str]) -> Finding | None:
    name = change.path.removeprefix(f"{FOLDER}/")
    twin = there.get(change.path.casefold(), change.path)
    if change.status != "A":
        return _finding("path-not-added", _edited(_ACTIONS.get(change.status, "touches")))
    if change.mode != _REGULAR_FILE:
        sort = _SORTS.get(change.mode, f"an entry of mode {change.mode}")
        return _finding("path-mode", f"is {sort}; add a regular file (mode {_REGULAR_FILE})")
    if twin != change.path:
        message = f"differs from {twin!a} only in the case of letters; leave one of the two out"
        return _finding("path-case-twin", message)
    if not FILE_NAME.fullmatch(name) or _RESERVED_ON_WINDOWS.fullmatch(name):
        message = "the name is not canonical; let `python -m harness submit` put the file in place"
        return _finding("path-name", message)
    ending = _DIGEST.search(name)
    if ending and ending[0] in digests:
        return _finding("path-duplicate", "the same content is in the results already; remove it")
    return None


def _edited(action: str) -> str:
    return (
        f"{action} an existing result; results are only ever added: restore it, and add a new file "
        "whose field `supersedes` names this one, or ask in an issue to have it withdrawn"
    )


def _finding(rule: str, message: str) -> Finding:
    return Finding(path=ROOT, message=message, rule=rule)
