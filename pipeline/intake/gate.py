"""Decide whether a pull request may add its results, from git objects, never from a checkout."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pipeline.collection import lifecycle
from pipeline.collection.discover import Kind, Source
from pipeline.collection.validate import Found, sources_document, validate
from pipeline.intake import git
from pipeline.intake.authorship import UNKNOWN, Sending, sending_findings, twin_findings
from pipeline.intake.claims import base_claims
from pipeline.intake.reference import Judged, compared
from pipeline.intake.withdrawals import FOLDER, LIFECYCLE, is_new, withdrawal_findings
from schemas import contract
from schemas.codec import FILE_NAME, dated_folder
from schemas.finding import ROOT, Finding, shown
from schemas.strict import MAX_BYTES
from schemas.submission import Submission

PUBLISHED = "results/published"
# Folders that maintainers curate, with the kind of their files.
CURATED: dict[str, Kind] = {LIFECYCLE: "lifecycle", PUBLISHED: "published"}
SOURCES = "results/sources.toml"
CURATION = "curation"  # the label of a maintainer that lets a pull request change them
MAX_RESULTS = 100
MAX_ARMS = 200  # of all results together: each is about 0.1 MB of the site, which may have 1 GB
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
    """Also as some systems read it: any case, full width, invisible letters, dots at the end."""
    shown = (each for each in path if unicodedata.category(each) != "Cf")
    parts = unicodedata.normalize("NFKC", "".join(shown)).casefold().split("/")
    folded = "/".join(part.rstrip(" .") for part in parts)
    return folded == folder or folded.startswith(f"{folder}/")


def outside_findings(changes: Iterable[git.Change]) -> Iterator[Finding]:
    """Findings about changes outside the results: the first few, then a count of the rest."""
    outside = [change.path for change in changes if not is_result(change.path)]
    message = "a pull request with results must change nothing else; move this to another one"
    more = len(outside) - MAX_OUTSIDE
    for number, path in enumerate(outside[:MAX_OUTSIDE], start=1):
        rest = f" (and {more} more files)" if number == MAX_OUTSIDE and more > 0 else ""
        yield _finding(path, "path-outside", message + rest)


def curated_findings(changes: Iterable[git.Change]) -> Found:
    """Data that only maintainers change, in a pull request without results or a label."""
    touched = [change.path for change in changes if is_data(change.path)]
    message = (
        "only maintainers change published figures and lifecycle entries; ask in an issue, or ask "
        f"a maintainer for the label {CURATION}"
    )
    return tuple(_finding(path, "path-curated", message) for path in touched[:MAX_OUTSIDE])


def posted_findings(changes: Sequence[git.Change]) -> Iterator[Finding]:
    """What a form's branch does beyond adding one file of published figures."""
    if len(changes) != 1:
        message = f"{len(changes)} files in the branch of a form, which adds one figure; send one"
        yield _finding(PUBLISHED, "path-count", message)
    for change in changes:
        path, (folder, _, name) = change.path, change.path.rpartition("/")
        if folder != PUBLISHED or not FILE_NAME.fullmatch(name):
            message = f"a form adds a file to {PUBLISHED}/ and changes nothing else"
            yield _finding(path, "path-outside", message)
        elif change.status != "A" or change.mode != REGULAR_FILE:
            message = "a form adds figures and changes none that are there; ask in an issue"
            yield _finding(path, "path-not-added", message)


def result_findings(results: Sequence[git.Change], taken: Iterable[str]) -> Iterator[Finding]:
    """The first thing that is wrong with each path."""
    there = {name.casefold(): name for name in taken}
    digests = {match[0] for name in there.values() if (match := _DIGEST.search(name))}
    # Of names that differ only in case, the one in small letters is right.
    for change in sorted(results, key=lambda change: change.path != change.path.casefold()):
        elsewhere = _elsewhere(change)
        finding = elsewhere or _finding_of(change, there, digests)
        if finding is not None:
            yield finding
        if change.status != "D" and elsewhere is None:
            name = change.path.rpartition("/")[2]
            there.setdefault(name.casefold(), name)


def size_findings(results: Iterable[git.Change], sizes: Mapping[str, int]) -> Iterator[Finding]:
    """The findings on files that are too large to be read; `sizes` are those of their blobs."""
    for each in results:
        if (size := sizes[each.blob]) > MAX_BYTES:
            message = f"{size} bytes, at most {MAX_BYTES} are accepted"
            yield _finding(each.path, "path-size", message)


def _elsewhere(change: git.Change) -> Finding | None:
    """The finding on a folder that is not the one of the results, or not that of their month."""
    if change.path.startswith(f"{FOLDER}/"):
        folder, _, name = change.path.rpartition("/")
        dated = dated_folder(name)
        if folder in {FOLDER, f"{FOLDER}/{dated}"}:
            return None
        expected = f"{FOLDER}/" + (f" or {FOLDER}/{dated}/" if dated else "")
        message = f"lies in {shown(folder)}, expected {expected}; move it"
        return _finding(change.path, "path-folder", message)
    if change.path == FOLDER:
        return None
    message = f"the folder is {FOLDER}/, in small letters; some systems ignore case"
    return _finding(change.path, "path-outside", message)


def _finding_of(change: git.Change, there: dict[str, str], digests: set[str]) -> Finding | None:
    path, name = change.path, change.path.rpartition("/")[2]
    twin = there.get(name.casefold())
    if change.status != "A":
        message = (
            f"{_ACTIONS.get(change.status, 'touches')} an existing result; results are only ever "
            "added: restore it, and add a new file whose field `supersedes` names this one, or ask "
            "in an issue to have it withdrawn"
        )
        return _finding(path, "path-not-added", message)
    if change.mode != REGULAR_FILE:
        return _wrong_mode(change)
    if twin not in {None, name}:
        message = f"differs from {twin!a} only in the case of letters; leave one of the two out"
        return _finding(path, "path-case-twin", message)
    if not FILE_NAME.fullmatch(name) or _RESERVED_ON_WINDOWS.fullmatch(name):
        message = "the name is not canonical; let `python -m harness submit` put the file in place"
        return _finding(path, "path-name", message)
    ending = _DIGEST.search(name)
    if twin or (ending and ending[0] in digests):
        message = "the same content is in the results already; remove it"
        return _finding(path, "path-duplicate", message)
    return None


def _finding(file: str, rule: str, message: str) -> Finding:
    return Finding(file=file, path=ROOT, message=message, rule=rule)


Decision = Literal["accepted", "rejected", "no-result"]

# In canonical JSON a quotation mark within a text is escaped, so this can only be the field.
_SUPERSEDES = re.compile(rb'"supersedes":"([A-Za-z0-9._-]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The gate's decision about the commits from `base` to `head`.

    `results` are the paths that would be added; `findings` are in the order of their files;
    `submissions` are the results that could be read, by path. `is_new`: no entry of
    maintainers is about the author yet. `late`: the files that the reference validator had no time
    for.
    """

    base: str
    head: str
    decision: Decision
    results: tuple[str, ...]
    findings: Found
    submissions: Mapping[str, Submission] = field(default_factory=dict)
    author: str | None = None
    is_new: bool = False
    late: tuple[str, ...] = ()


def judge(repository: Path, *, base: str, head: str, sent: Sending = UNKNOWN) -> Judgement:
    """The judgement on a pull request. Raises `GitError` when git cannot answer."""
    base, head = git.commit(repository, base), git.commit(repository, head)
    changes = git.changes(repository, base, head)
    results = tuple(change for change in changes if is_result(change.path))
    is_new_author = bool(results) and is_new(repository, base, sent.author)
    read = _Contents()
    if results:
        findings, read = _examined(repository, base, changes, sent)
    elif sent.of_form:
        results, findings = tuple(changes), tuple(posted_findings(changes))
        if not findings:
            read = _contents(repository, changes, "published")
            findings = read.findings
    elif CURATION in sent.labels:
        findings, read = _curated(repository, head, changes)
    else:
        findings = curated_findings(changes)
    decision: Decision = "accepted" if results else "no-result"
    return Judgement(
        base=base,
        head=head,
        decision="rejected" if findings else decision,
        results=tuple(change.path for change in results),
        findings=tuple(sorted(findings, key=attrgetter("file"))),
        submissions=read.submissions,
        author=sent.author,
        is_new=is_new_author,
        late=read.late,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """What blobs hold, by path: submissions, what is wrong with the others, and `late` as above."""

    submissions: Mapping[str, Submission] = field(default_factory=dict)
    findings: Found = ()
    late: tuple[str, ...] = ()


def _examined(
    repository: Path, base: str, changes: Sequence[git.Change], sent: Sending
) -> tuple[Found, _Contents]:
    """All findings, and what could be read."""
    results = [change for change in changes if is_result(change.path)]
    if len(results) > MAX_RESULTS:  # then none of them is read
        message = f"{len(results)} files in one pull request, at most {MAX_RESULTS}; split it"
        return (_finding(FOLDER, "path-count", message),), _Contents()
    there = git.files(repository, base, FOLDER)
    findings = [*outside_findings(changes), *result_findings(results, there)]
    sound = _without(findings, results)
    findings += size_findings(sound, git.sizes(repository, {file.blob for file in sound}))
    read = _contents(repository, _without(findings, sound), "submission")
    submissions = read.submissions
    findings += read.findings
    if (arms := sum(len(each.arms) for each in submissions.values())) > MAX_ARMS:
        message = f"{arms} arms in one pull request, at most {MAX_ARMS}; split it"
        findings.append(_finding(FOLDER, "path-count", message))
    for path, submission in submissions.items():
        findings += sending_findings(path, submission, sent)
    findings += twin_findings(submissions, there)
    findings += _superseding(repository, there, submissions, sent)
    findings += withdrawal_findings(repository, base, submissions, sent.contributor)
    findings += base_claims(repository, base, submissions)
    return tuple(findings), read


def _without(found: Iterable[Finding], changes: Iterable[git.Change]) -> list[git.Change]:
    """The changes that no finding is about."""
    wrong = {finding.file for finding in found}
    return [change for change in changes if change.path not in wrong]


def _contents(repository: Path, changes: Sequence[git.Change], kind: Kind) -> _Contents:
    """What blobs of one kind hold, judged by both validators."""
    with TemporaryDirectory() as folder:
        copies = {str(Path(folder) / Path(change.path).name): change.path for change in changes}
        blobs = list(git.contents(repository, [change.blob for change in changes]))
        for copy, data in zip(copies, blobs, strict=True):
            Path(copy).write_bytes(data)
        validated = validate(Source(path=Path(copy), kind=kind, place="corpus") for copy in copies)
    submissions = {copies[str(each.source.path)]: each.submission for each in validated.submissions}
    wrong = [replace(each, file=copies[each.file]) for each in validated.findings]
    reference = compared(
        Judged(file=file, data=data, kind=kind, findings=[e for e in wrong if e.file == file])
        for file, data in zip(copies.values(), blobs, strict=True)
    )
    refused = {each.file for each in reference.findings}
    return _Contents(
        submissions={path: each for path, each in submissions.items() if path not in refused},
        findings=(*wrong, *reference.findings),
        late=reference.late,
    )


def _curated(repository: Path, head: str, changes: Sequence[git.Change]) -> tuple[Found, _Contents]:
    """What is wrong with lifecycle entries and published documents, which a maintainer merges."""
    results = git.files(repository, head, FOLDER)
    there = [each for each in changes if is_data(each.path) and each.status != "D"]
    found: list[Finding] = [*_curated_paths(there)]
    late: list[str] = []
    sound = _without(found, there)
    found += size_findings(sound, git.sizes(repository, {each.blob for each in sound}))
    sound = _without(found, sound)
    for data in git.contents(repository, [each.blob for each in sound if each.path == SOURCES]):
        document = sources_document(data, SOURCES)
        found += document if isinstance(document, tuple) else ()
    for folder, kind in CURATED.items():
        added = [each for each in sound if each.path.startswith(f"{folder}/")]
        read = _contents(repository, added, kind)
        found += read.findings
        late += read.late
        if kind == "lifecycle":
            rest = [each.path for each in _without(found, added)]
            found += lifecycle.misnamed_entries(rest, results)
    return tuple(found), _Contents(late=tuple(late))


def _curated_paths(changes: Iterable[git.Change]) -> Iterator[Finding]:
    """What is wrong with the paths of curated data, which a build would stop at."""
    for change in changes:
        folder, _, name = change.path.rpartition("/")
        if change.mode != REGULAR_FILE:
            yield _wrong_mode(change)
        elif change.path != SOURCES and (folder not in CURATED or not FILE_NAME.fullmatch(name)):
            message = (
                f"is no <name>.json in {' or '.join(f'{each}/' for each in CURATED)}, and not "
                f"{SOURCES}; rename or move it"
            )
            yield _finding(change.path, "path-curated", message)


def _wrong_mode(change: git.Change) -> Finding:
    sort = _SORTS.get(change.mode, f"an entry of mode {change.mode}")
    message = f"is {sort}; add a regular file (mode {REGULAR_FILE})"
    return _finding(change.path, "path-mode", message)


def _superseding(
    repository: Path,
    there: Mapping[str, str],
    submissions: Mapping[str, Submission],
    sent: Sending,
) -> Iterator[Finding]:
    """What is wrong with the results that replace others; `there` maps the base's to blobs."""
    replacing = {path: new for path, new in submissions.items() if new.supersedes}
    if not replacing:
        return
    replaced = {new.supersedes for new in replacing.values()}
    names = [name for name, blob in there.items() if blob and name in replaced]
    read = map(contract.read, git.contents(repository, [there[name] for name in names]))
    # One that today's rules would refuse cannot be replaced.
    old = {n: past for n, past in zip(names, read, strict=True) if isinstance(past, Submission)}
    for path, new in replacing.items():
        if finding := lifecycle.superseding_finding(path, new, old, sent.contributor):
            yield finding
    blobs = {name: blob for name, blob in there.items() if blob}
    contents = git.contents(repository, list(blobs.values()))
    replaced_by = {
        match[1].decode(): name
        for name, data in zip(blobs, contents, strict=True)
        if (match := _SUPERSEDES.search(data))
    }
    yield from lifecycle.twice_superseded(replacing, replaced_by)
