"""Check the paths of changed files: results, curated data, and figures from issue forms."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipeline.collection.discover import Kind
from pipeline.collection.validation import Found
from pipeline.intake import git
from schemas.codec import FILE_NAME, dated_folder
from schemas.finding import ROOT, Finding, shown
from schemas.strict import MAX_BYTES

FOLDER = "results/community"
LIFECYCLE = "results/lifecycle"
PUBLISHED = "results/published"
# Folders that maintainers curate, with the kind of their files.
CURATED: dict[str, Kind] = {LIFECYCLE: "lifecycle", PUBLISHED: "published"}
SOURCES = "results/sources.toml"
CURATION = "curation"  # the maintainers' label that permits a pull request to change these folders
MAX_OUTSIDE = 20
REGULAR_FILE = "100644"
_SORTS = {"120000": "a symbolic link", "160000": "a submodule", "100755": "an executable file"}
_ACTIONS = {"M": "changes", "D": "removes", "T": "changes the kind of"}
_RESERVED_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_DIGEST = re.compile(r"-[0-9a-f]{8}\.json")


def is_result(path: str) -> bool:
    """Whether a path is in the results folder, in any spelling that some systems treat as equal."""
    return _is_below(FOLDER, path)


def is_data(path: str) -> bool:
    """Whether a path is in the data folder, which also has lifecycle entries and publications."""
    return _is_below(FOLDER.partition("/")[0], path)


def _is_below(folder: str, path: str) -> bool:
    """Whether a path is below a folder, ignoring case, width, invisible letters and final dots."""
    shown = (each for each in path if unicodedata.category(each) != "Cf")
    parts = unicodedata.normalize("NFKC", "".join(shown)).casefold().split("/")
    folded = "/".join(part.rstrip(" .") for part in parts)
    return folded == folder or folded.startswith(f"{folder}/")


def outside_findings(changes: Iterable[git.Change]) -> Iterator[Finding]:
    """Findings on changes outside the results: the first few, then a count of the rest."""
    outside = [change.path for change in changes if not is_result(change.path)]
    message = (
        "a pull request with results must change nothing else; move this file to a separate pull "
        "request"
    )
    more = len(outside) - MAX_OUTSIDE
    for number, path in enumerate(outside[:MAX_OUTSIDE], start=1):
        rest = f" (and {more} more files)" if number == MAX_OUTSIDE and more > 0 else ""
        yield path_finding(path, "path-outside", message + rest)


def curated_findings(changes: Iterable[git.Change]) -> Found:
    """Findings on changes to curated data in a pull request without the maintainers' label."""
    touched = [change.path for change in changes if is_data(change.path)]
    message = (
        "only maintainers change published figures and lifecycle entries; open an issue, or ask "
        f"a maintainer for the label {CURATION}"
    )
    return tuple(path_finding(path, "path-curated", message) for path in touched[:MAX_OUTSIDE])


def posted_findings(changes: Sequence[git.Change]) -> Iterator[Finding]:
    """Findings on a form's branch, which may only add one file of published figures."""
    if len(changes) != 1:
        message = (
            f"the form's branch changes {len(changes)} files, but a form adds exactly one file; "
            "send a single file"
        )
        yield path_finding(PUBLISHED, "path-count", message)
    for change in changes:
        path, (folder, _, name) = change.path, change.path.rpartition("/")
        if folder != PUBLISHED or not FILE_NAME.fullmatch(name):
            message = f"a form must add a file to {PUBLISHED}/ and change nothing else"
            yield path_finding(path, "path-outside", message)
        elif change.status != "A" or change.mode != REGULAR_FILE:
            message = "a form can add figures, but not change existing figures; open an issue"
            yield path_finding(path, "path-not-added", message)


def result_findings(results: Sequence[git.Change], taken: Iterable[str]) -> Iterator[Finding]:
    """Findings on the paths of results, at most one for each path."""
    there = {name.casefold(): name for name in taken}
    digests = {match[0] for name in there.values() if (match := _DIGEST.search(name))}
    # If names differ only in case, the lower-case name is right.
    for change in sorted(results, key=lambda change: change.path != change.path.casefold()):
        elsewhere = _elsewhere(change)
        finding = elsewhere or _finding_of(change, there, digests)
        if finding is not None:
            yield finding
        if change.status != "D" and elsewhere is None:
            name = change.path.rpartition("/")[2]
            there.setdefault(name.casefold(), name)


def size_findings(results: Iterable[git.Change], sizes: Mapping[str, int]) -> Iterator[Finding]:
    """Findings on files that are too large to read; `sizes` has the size of each blob."""
    for each in results:
        if (size := sizes[each.blob]) > MAX_BYTES:
            message = f"the file has {size} bytes, but at most {MAX_BYTES} are accepted"
            yield path_finding(each.path, "path-size", message)


def _elsewhere(change: git.Change) -> Finding | None:
    """The finding on a result neither directly in the results folder nor in its month's folder."""
    if change.path.startswith(f"{FOLDER}/"):
        folder, _, name = change.path.rpartition("/")
        dated = dated_folder(name)
        if folder in {FOLDER, f"{FOLDER}/{dated}"}:
            return None
        expected = f"{FOLDER}/" + (f" or {FOLDER}/{dated}/" if dated else "")
        message = f"is in {shown(folder)}, expected {expected}; move the file"
        return path_finding(change.path, "path-folder", message)
    if change.path == FOLDER:
        return None
    message = f"the folder must be named {FOLDER}/ in lower case, because some systems ignore case"
    return path_finding(change.path, "path-outside", message)


def _finding_of(change: git.Change, there: dict[str, str], digests: set[str]) -> Finding | None:
    path, name = change.path, change.path.rpartition("/")[2]
    twin = there.get(name.casefold())
    if change.status != "A":
        message = (
            f"{_ACTIONS.get(change.status, 'touches')} an existing result, but a pull request "
            "can only add results: restore the file, add a corrected one, and open an issue to "
            "have the old result withdrawn"
        )
        return path_finding(path, "path-not-added", message)
    if change.mode != REGULAR_FILE:
        return _wrong_mode(change)
    if twin not in {None, name}:
        message = f"differs from {twin!a} only in upper and lower case; remove one of the two files"
        return path_finding(path, "path-case-twin", message)
    if not FILE_NAME.fullmatch(name) or _RESERVED_ON_WINDOWS.fullmatch(name):
        message = "the name is not canonical; let `python -m harness submit` put the file in place"
        return path_finding(path, "path-name", message)
    ending = _DIGEST.search(name)
    if twin or (ending and ending[0] in digests):
        message = "an existing result already has the same content; remove this file"
        return path_finding(path, "path-duplicate", message)
    return None


def path_finding(file: str, rule: str, message: str) -> Finding:
    return Finding(file=file, path=ROOT, message=message, rule=rule)


def curated_path_findings(changes: Iterable[git.Change]) -> Iterator[Finding]:
    """Findings on curated data whose paths would stop a build."""
    for change in changes:
        folder, _, name = change.path.rpartition("/")
        if change.mode != REGULAR_FILE:
            yield _wrong_mode(change)
        elif change.path != SOURCES and (folder not in CURATED or not FILE_NAME.fullmatch(name)):
            message = (
                f"is neither <name>.json in {' or '.join(f'{each}/' for each in CURATED)}, nor "
                f"{SOURCES}; rename or move it"
            )
            yield path_finding(change.path, "path-curated", message)


def _wrong_mode(change: git.Change) -> Finding:
    sort = _SORTS.get(change.mode, f"an entry with mode {change.mode}")
    message = f"is {sort}; add a regular file (mode {REGULAR_FILE})"
    return path_finding(change.path, "path-mode", message)
