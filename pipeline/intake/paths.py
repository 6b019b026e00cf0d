"""Check the paths of a pull request: only new regular files with a canonical name."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from pipeline.collection.discover import Kind
from pipeline.intake.git import Change
from schemas.canonical import FILE_NAME
from schemas.finding import ROOT, Finding
from schemas.strict import MAX_BYTES

FOLDER = "results/community"
LIFECYCLE = "results/lifecycle"
# Folders that maintainers curate, with the kind of their files.
CURATED: dict[str, Kind] = {LIFECYCLE: "lifecycle", "results/published": "published"}
CURATION = "curation"  # the label of a maintainer that lets a pull request change them
MAX_RESULTS = 100
MAX_OUTSIDE = 20
REGULAR_FILE = "100644"
_SORTS = {"120000": "a symbolic link", "160000": "a submodule", "100755": "an executable file"}
_ACTIONS = {"M": "changes", "D": "removes", "T": "changes the kind of"}
_RESERVED_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_DIGEST = re.compile(r"-[0-9a-f]{8}\.json")


def is_result(path: str) -> bool:
    """Whether a path is in the folder of results, or one that some systems take for it."""
    return _is_below(FOLDER, path)


def is_data(path: str) -> bool:
    """Whether a path is below the folder of all data: results, lifecycle entries, publications."""
    return _is_below(FOLDER.partition("/")[0], path)


def _is_below(folder: str, path: str) -> bool:
    """Also by letters that some systems take for others: of any case, or full width."""
    folded = unicodedata.normalize("NFKC", path).casefold()
    return folded == folder or folded.startswith(f"{folder}/")


def too_many(results: Sequence[Change]) -> Finding | None:
    """The finding on more files than one pull request may add; then none of them is read."""
    if len(results) <= MAX_RESULTS:
        return None
    message = f"{len(results)} files in one pull request, at most {MAX_RESULTS}; split it"
    return _finding("path-count", message)


def outside_findings(changes: Iterable[Change]) -> dict[str, Finding]:
    """Everything that is changed besides results: the first few, and the number of the rest."""
    outside = [change.path for change in changes if not is_result(change.path)]
    message = "a pull request with results must change nothing else; move this to another one"
    found = dict.fromkeys(outside[:MAX_OUTSIDE], _finding("path-outside", message))
    more = len(outside) - MAX_OUTSIDE
    if more > 0:
        message = f"{message} (and {more} more files)"
        found[outside[MAX_OUTSIDE - 1]] = _finding("path-outside", message)
    return found


def curated_findings(changes: Iterable[Change]) -> dict[str, tuple[Finding, ...]]:
    """Data that only maintainers change, in a pull request without results or a label."""
    touched = [change.path for change in changes if is_data(change.path)]
    message = (
        "only maintainers change published figures and lifecycle entries; ask in an issue, or ask "
        f"a maintainer for the label {CURATION}"
    )
    return dict.fromkeys(touched[:MAX_OUTSIDE], (_finding("path-curated", message),))


def result_findings(results: Sequence[Change], taken: Iterable[str]) -> dict[str, Finding]:
    """The first thing that is wrong with each path."""
    there = {path.casefold(): path for path in (f"{FOLDER}/{name}" for name in taken)}
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


def size_findings(results: Iterable[Change], sizes: Mapping[str, int]) -> dict[str, Finding]:
    """The findings on files that are too large to be read; `sizes` are those of their blobs."""
    large = {each.path: sizes[each.blob] for each in results if sizes[each.blob] > MAX_BYTES}
    return {
        path: _finding("path-size", f"{size} bytes, at most {MAX_BYTES} are accepted")
        for path, size in large.items()
    }


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
    if change.mode != REGULAR_FILE:
        sort = _SORTS.get(change.mode, f"an entry of mode {change.mode}")
        return _finding("path-mode", f"is {sort}; add a regular file (mode {REGULAR_FILE})")
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
