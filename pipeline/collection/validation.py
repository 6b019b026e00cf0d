"""Validate files: bytes in, accepted documents and findings out."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson

from estimates.identity import canonical_name
from pipeline.collection.discover import Source
from pipeline.collection.published import published_findings
from schemas import contract, strict
from schemas.codec import FILE_NAME, canonical_bytes, content_digest, dated_folder
from schemas.finding import ROOT, Finding, bounded, in_file, shown
from schemas.migrations import migrated
from schemas.submission import Submission
from schemas.validator import LIFECYCLE_SCHEMA, PUBLISHED_SCHEMA, SOURCES_SCHEMA, schema_findings

Found: TypeAlias = tuple[Finding, ...]

# A GitHub user name in lower case; old user names may have double hyphens or a final hyphen. Names
# of results end with day and digest.
_CONTRIBUTOR_ENTRY = re.compile(
    r"contributor--(?!.*--20[0-9]{6}-[0-9a-f]{8}\.json)([a-z0-9][a-z0-9-]{0,38})\.json"
)
_DATE_PART = re.compile(r"20[0-9]{2}|[0-9]{2}")
# The schema of each document that is not a result, and the field that names its file.
_OTHERS = {"lifecycle": (LIFECYCLE_SCHEMA, "result"), "published": (PUBLISHED_SCHEMA, "source")}
DUPLICATE = "duplicate"  # the rule about files with the same content


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A submission that was accepted; `digest` is the digest of its canonical bytes."""

    source: Source
    submission: Submission
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedText:
    """An accepted published document or lifecycle entry, as the text of its file."""

    source: Source
    text: str


Checked: TypeAlias = Accepted | AcceptedText | Found


@dataclass(slots=True, kw_only=True)
class Validated:
    """The accepted files, and the findings on every other file."""

    submissions: list[Accepted] = field(default_factory=list)
    published: list[AcceptedText] = field(default_factory=list)
    lifecycle: list[AcceptedText] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def combined(results: Iterable[tuple[Source, Checked]]) -> Validated:
    """Combine the results of single files; if files have equal content, only the first counts."""
    validated = Validated()
    for source, result in _without_twins(results):
        if isinstance(result, Accepted):
            validated.submissions.append(result)
        elif isinstance(result, AcceptedText):
            (validated.published if source.kind == "published" else validated.lifecycle).append(
                result
            )
        else:
            validated.findings.extend(result)
    return validated


def _without_twins(
    results: Iterable[tuple[Source, Checked]],
) -> Iterator[tuple[Source, Checked]]:
    """Replace each submission whose content an earlier one has: by nothing if it is a preview."""
    first_by_digest: dict[str, Source] = {}
    for source, result in results:
        if isinstance(result, Accepted):
            twin = first_by_digest.setdefault(result.digest, source)
            if twin != source:
                message = f"{twin.path.name} already has the same content; remove one of the two"
                preview = source.place == "preview"
                yield source, () if preview else (_finding(source, DUPLICATE, message),)
                continue
        yield source, result


def checked(source: Source, data: bytes | None = None) -> Checked:
    """Check one file by itself: return the accepted file, or all its faults.

    `data` are the file's bytes if they have been read already.
    """
    file = str(source.path)
    if data is None:
        found = read_bytes(source)
        if isinstance(found, Finding):
            return (found,)
        data = found
    if source.kind != "submission":
        return _document_findings(source, data) or AcceptedText(source=source, text=data.decode())
    submission = contract.read(data, file=file)
    if not isinstance(submission, Submission):
        return submission
    canonical = canonical_bytes(orjson.loads(data))
    accepted = Accepted(source=source, submission=submission, digest=content_digest(canonical))
    if source.place == "preview":
        return accepted
    return _corpus_findings(accepted, data, canonical) or accepted


def _document_findings(source: Source, data: bytes) -> Found:
    """All faults of a published document or a lifecycle entry."""
    file = str(source.path)
    schema, stem = _OTHERS[source.kind]
    findings = contract.document_findings(data, schema, file=file)
    if not FILE_NAME.fullmatch(source.path.name):
        named = f"the file is named {shown(source.path.name)}"
        message = f"{named}, expected lower-case <{stem}>.json; rename it"
        findings = (*findings, _finding(source, "canonical-name", message))
    findings = findings or _status_findings(source, data)
    if source.kind == "lifecycle" or findings:
        return findings
    document = orjson.loads(data)
    findings = in_file(bounded(published_findings(document)), file)
    if document["source"]["id"] == source.path.stem:
        return findings
    message = f"the source's id must be {shown(source.path.stem)}, as the file's name"
    return (*findings, _finding(source, "canonical-name", message, "$.source.id"))


def sources_document(data: bytes, file: str) -> dict[str, Any] | Found:
    """Parse the table of sources from a file's bytes; return all faults if it is invalid."""
    try:
        document = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        message = f"is not TOML in UTF-8 ({error}); correct it"
        return (Finding(file=file, path=ROOT, message=message, rule="toml"),)
    return in_file(schema_findings(document, SOURCES_SCHEMA), file) or document


def current_text(data: bytes) -> str:
    """The text of an accepted submission, migrated to the current format version."""
    document = orjson.loads(data)
    current = migrated(document, is_valid=True)
    return (data if current is document else orjson.dumps(current)).decode()


def read_bytes(source: Source) -> bytes | Finding:
    """A file's bytes, or the finding if there is no such regular file.

    At most one byte more than allowed is read, so that the loader refuses a larger file.
    """
    if not (source.path.is_symlink() or source.path.exists()):
        message = "no such file; name a result file or a folder of result files"
        return _finding(source, "file-exists", message)
    if source.path.is_symlink() or not source.path.is_file():
        message = "this is not a regular file; replace it with the result itself"
        return _finding(source, "regular-file", message)
    with source.path.open("rb") as stream:
        return stream.read(strict.MAX_BYTES + 1)


def _corpus_findings(accepted: Accepted, data: bytes, canonical: bytes) -> Found:
    found: list[Finding] = []
    if data != canonical:
        message = (
            "the bytes are not in canonical form (sorted keys, no spaces, one newline at the end);"
            " `python -m harness submit FILE` sends it in that form"
        )
        found.append(_finding(accepted.source, "canonical-form", message))
    found += _name_findings(accepted, canonical)
    folder, dated = accepted.source.path.parent, dated_folder(accepted.source.path.name)
    in_date = _DATE_PART.fullmatch(folder.name)
    if in_date and dated != f"{folder.parent.name}/{folder.name}":
        named = f"is in {shown(folder.name)}, but its date requires the folder {dated}/"
        found.append(_finding(accepted.source, "canonical-folder", f"{named}; move it"))
    return tuple(found)


def _name_findings(accepted: Accepted, canonical: bytes) -> Found:
    """Check that a file is named `<machine>--<target>--<yyyymmdd>-<digest>.json`.

    The date and the digest must be those of the content.
    """
    name = accepted.source.path.name
    day = accepted.submission.measured_from[:10].replace("-", "")
    ending = f"--{day}-{accepted.digest}.json"
    parts = name.removesuffix(ending).split("--")
    fits = len(parts) == 2 and all(parts)  # noqa: PLR2004 - machine and target
    if FILE_NAME.fullmatch(name) and name.endswith(ending) and fits:
        return ()
    expected = canonical_name(accepted.submission, canonical)
    message = f"the file is named {shown(name)}, expected {expected};"
    message += " `python -m harness submit FILE` sends it under that name"
    return (_finding(accepted.source, "canonical-name", message),)


def contributor_of(name: str) -> str | None:
    """The contributor named by a lifecycle file's name; `None` if the entry is about a result."""
    about = _CONTRIBUTOR_ENTRY.fullmatch(name)
    return about and about[1]


def _status_findings(source: Source, data: bytes) -> Found:
    status = orjson.loads(data).get("status")  # only lifecycle entries have a contributor
    if status != "known" or contributor_of(source.path.name):
        return ()
    message = "only a contributor can be `known`: name the file contributor--<user name>.json"
    return (_finding(source, "lifecycle-status", message, "$.status"),)


def _finding(source: Source, rule: str, message: str, path: str = ROOT) -> Finding:
    return Finding(file=str(source.path), path=path, message=message, rule=rule)
