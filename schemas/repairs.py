"""Repair faults of a result file that affect no measurement.

Such faults are unsorted keys, spaces, a byte-order mark, an older version of the format, a
different spelling of a known model or of a word of the format, 41.0 for 41, and invisible letters
in names. Everything else is still a finding, because measurements must not be edited.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from schemas import strict
from schemas.codec import Json, canonical_bytes, content_digest, rounded
from schemas.contract import findings, read
from schemas.finding import ROOT, Finding, child_path, in_file, shown
from schemas.migrations import migrated
from schemas.submission import Submission
from schemas.vocabulary import model_name

_OF_TEXTS = ("characters", "names-visible")
_OF_SPELLING = ("schema-type", "schema-enum", "schema-pattern")
# The texts at these places are settings and answers, so they are measured values, too.
_MEASURED = ("$.trials", "$.warmups", "$.probes", "$.suite", "$.arms")
_NAME_OF_MODEL = re.compile(r"\$\.(target|drafts\[\d+\])\.name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A file's canonical bytes after its repairs, with the digest of all measured values."""

    data: bytes
    submission: Submission
    repairs: tuple[Finding, ...]
    digest: str


def repaired(data: bytes, *, file: str = "") -> Repaired | tuple[Finding, ...]:
    """The file with harmless faults repaired, or the findings that remain. Never raises."""
    text = utf8(data)
    found = findings(text, file=file)
    loaded = strict.load(text)
    is_lost = isinstance(loaded, tuple) and any(each.rule not in _OF_TEXTS for each in loaded)
    if is_lost or not isinstance(before := orjson.loads(text), dict):
        return found
    document = migrated(_with_clean_texts(orjson.loads(text)))
    if isinstance(document, tuple):
        return in_file(document, file)
    for path, holder, key in list(_leaves(document)):
        if _NAME_OF_MODEL.fullmatch(path) and isinstance(holder[key], str):
            holder[key] = model_name(holder[key])
    fixed = canonical_bytes(document)
    submission = read(fixed)
    if isinstance(submission, tuple):
        return found
    after: Json = orjson.loads(fixed)
    values, kept = measured_values(before), measured_values(after)
    digest = content_digest(canonical_bytes(values))
    if digest != content_digest(canonical_bytes(kept)):
        path = min((path for path, _ in values.items() ^ kept.items()), default=ROOT)
        message = "a repair would change the measurements; measure or import the result again"
        return (Finding(file=file, path=path, message=message, rule="measured-values"),)
    repairs = in_file(_repairs(before, after, canonical=data == fixed), file)
    return Repaired(data=fixed, submission=submission, repairs=repairs, digest=digest)


def measured_values(document: Json) -> dict[str, Json]:
    """Every number and Boolean by its path, and the strings in settings and answers.

    Numbers are rounded to six decimals, as in the format. The format's version is not included.
    """
    return {
        path: _whole(rounded(holder[key]))
        for path, holder, key in _leaves(document)
        if (not isinstance(holder[key], str) or path.startswith(_MEASURED)) and path != "$.version"
    }


def utf8(data: bytes) -> bytes:
    """The bytes as UTF-8 without the byte-order mark that editors and PowerShell add."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _with_clean_texts(document: Json) -> Json:
    """Remove spelling faults in repeated passes, because findings list only a few at a time."""
    data, before = b"", canonical_bytes(document)
    while data != before:
        data = before
        wrong = {x.path: x.rule for x in findings(data) if x.rule in (*_OF_TEXTS, *_OF_SPELLING)}
        for path, holder, key in list(_leaves(document)):
            if path in wrong:
                holder[key] = _cleaned(holder[key], wrong[path])
        before = canonical_bytes(document)
    return document


def _cleaned(value: Json, rule: str) -> Json:
    """A leaf after repair: 41 for 41.0, a text without invisible letters, or a lower-case word."""
    if not isinstance(value, str):
        return _whole(value)
    kept = (x for x in unicodedata.normalize("NFC", value) if x.isspace() or not strict.refused(x))
    clean = unicodedata.normalize("NFC", " ".join("".join(kept).split()))
    return value.lower() if clean == value and rule in _OF_SPELLING else clean


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _repairs(before: Json, after: Json, *, canonical: bool) -> Iterator[Finding]:
    old = {path: holder[key] for path, holder, key in _leaves(before)}
    for path, holder, key in _leaves(after):
        if (type(holder[key]), holder[key]) != (type(old[path]), old[path]):  # 41.0 == 41
            message = f"{shown(old[path])} becomes {shown(holder[key])}"
            yield Finding(path=path, message=message, rule="repair")
    if not canonical:
        message = (
            "is written in canonical form: UTF-8, sorted keys, no spaces, one newline at the end"
        )
        yield Finding(path=ROOT, message=message, rule="repair")


def _leaves(value: Any, path: str = ROOT) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 - JSON of any shape
    """Every leaf below a container: its path, its own container and its key in that container."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, dict | list):
            yield from _leaves(each, child_path(path, key))
        else:
            yield child_path(path, key), value, key
