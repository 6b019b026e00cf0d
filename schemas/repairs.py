"""Repair faults of a result file that affect no measurement.

Such faults are unsorted keys, spaces, a byte-order mark, an older version of the format, a
different spelling of a known model or of a word of the format, 41.0 for 41, and invisible letters
in names. Everything else is still a finding, because measurements must not be edited.
"""

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import orjson

from schemas import strict
from schemas.codec import Json, canonical_bytes, content_digest, rounded
from schemas.contract import findings, read
from schemas.finding import ROOT, Finding, child_path, in_file, shown
from schemas.migrations import migrated
from schemas.strict import refused
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
    loaded = strict.load(text)
    if isinstance(loaded, tuple) and any(each.rule not in _OF_TEXTS for each in loaded):
        return in_file(loaded, file)
    before: Json = orjson.loads(text)
    document = migrated(_with_clean_texts(before))
    if isinstance(document, tuple):
        return in_file(document, file)
    fixed = canonical_bytes(_changed(ROOT, document, _with_model_name))
    submission = read(fixed, file=file)
    if isinstance(submission, tuple):
        return findings(text, file=file)  # of the original file, without repairs
    after: Json = orjson.loads(fixed)
    values, kept = measured_values(before), measured_values(after)
    digest = content_digest(canonical_bytes(values))
    if digest != content_digest(canonical_bytes(kept)):
        path = min((path for path, _ in values.items() ^ kept.items()), default=ROOT)
        message = "a repair would change the measurements; measure or import the result again"
        return (Finding(file=file, path=path, message=message, rule="measured-values"),)
    repairs = tuple(_repairs(dict(_leaves(ROOT, before)), after, canonical=data == fixed))
    return Repaired(
        data=fixed, submission=submission, repairs=in_file(repairs, file), digest=digest
    )


def measured_values(document: Json) -> dict[str, Json]:
    """Every number and Boolean by its path, and the strings in settings and answers.

    Numbers are rounded to six decimals, as in the format. The format's version is not included.
    """
    return {
        path: _whole(rounded(value))
        for path, value in _leaves(ROOT, document)
        if (not isinstance(value, str) or path.startswith(_MEASURED)) and path != "$.version"
    }


def utf8(data: bytes) -> bytes:
    """The bytes as UTF-8 without the byte-order mark that editors and PowerShell add."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _with_clean_texts(document: Json) -> Json:
    """Remove spelling faults in repeated passes, because findings list only a few at a time."""
    data = canonical_bytes(document)
    wrong = {x.path: x.rule for x in findings(data) if x.rule in (*_OF_TEXTS, *_OF_SPELLING)}
    cleaned = _changed(
        ROOT, document, lambda path, leaf: _cleaned(leaf, wrong[path]) if path in wrong else leaf
    )
    return document if canonical_bytes(cleaned) == data else _with_clean_texts(cleaned)


def _changed(path: str, value: Json, change: Callable[[str, Json], Json]) -> Json:
    """The value with every leaf replaced by `change(path, leaf)`."""
    if isinstance(value, list):
        return [_changed(child_path(path, at), each, change) for at, each in enumerate(value)]
    if isinstance(value, dict):
        return {key: _changed(child_path(path, key), each, change) for key, each in value.items()}
    return change(path, value)


def _cleaned(value: Json, rule: str) -> Json:
    """A leaf after repair: 41 for 41.0, a text without invisible letters, or a lower-case word."""
    if not isinstance(value, str):
        return _whole(value)
    kept = (x for x in unicodedata.normalize("NFC", value) if x.isspace() or not refused(x))
    clean = unicodedata.normalize("NFC", " ".join("".join(kept).split()))
    return value.lower() if clean == value and rule in _OF_SPELLING else clean


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _with_model_name(path: str, leaf: Json) -> Json:
    if isinstance(leaf, str) and _NAME_OF_MODEL.fullmatch(path):
        return model_name(leaf)
    return leaf


def _repairs(before: dict[str, Json], after: Json, *, canonical: bool) -> Iterator[Finding]:
    for path, value in _leaves(ROOT, after):
        if (type(value), value) != (type(before[path]), before[path]):  # 41.0 == 41
            message = f"{shown(before[path])} becomes {shown(value)}"
            yield Finding(path=path, message=message, rule="repair")
    if not canonical:
        message = (
            "is written in canonical form: UTF-8, sorted keys, no spaces, one newline at the end"
        )
        yield Finding(path=ROOT, message=message, rule="repair")


def _leaves(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Every leaf, with its path."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(child_path(path, key), each)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _leaves(child_path(path, at), each)
    else:
        yield path, value
