"""Does the contract find every mistake, say it well, and never raise?"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from schemas import authority, contract, validator
from schemas.finding import MAX_FINDINGS
from schemas.submission import Submission
from tools.examples import small

if TYPE_CHECKING:
    from collections.abc import Callable

    Document = dict[str, Any]

SMALL = small()


def test_a_valid_file_becomes_a_submission() -> None:
    read = contract.read(_bytes(SMALL))

    assert isinstance(read, Submission)
    assert read.arms[1].method.type == "prompt-lookup"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda d: d["trials"][0].update(decode_ms="fast"),
            '$.trials[0].decode_ms: "fast" has the wrong type, expected number [schema-type]',
        ),
        (
            lambda d: d["trials"][0].update(rounds=40.0),
            (
                "$.trials[0].rounds: 40.0 has the wrong type, expected integer; "
                "write it without a decimal point or exponent [schema-type]"
            ),
        ),
        (
            lambda d: d["trials"][0].update(rounds=True),
            "$.trials[0].rounds: true has the wrong type, expected integer [schema-type]",
        ),
        (
            lambda d: d["trials"][0].update(rounds=-1),
            (
                "$.trials[0].rounds: -1 is too small, expected at least 0; "
                "check the number and its unit [schema-minimum]"
            ),
        ),
        (
            lambda d: d["trials"][0].update(decode_ms=1e300),
            (
                "$.trials[0].decode_ms: 1e+300 is too large, expected at most 100000000; "
                "check the number and its unit [schema-maximum]"
            ),
        ),
        (
            lambda d: d["trials"][0].pop("outcome"),
            '$.trials[0]: the field "outcome" is missing; add it [schema-required]',
        ),
        (
            lambda d: d["trials"][0].update(outcome="failed"),
            '$.trials[0]: the field "reason" is missing; add it [schema-required]',
        ),
        (
            lambda d: d["trials"][0].update(speedup=2),
            '$.trials[0]: unknown field "speedup"; remove it [schema-additionalProperties]',
        ),
        (
            lambda d: d["trials"].__setitem__(0, []),
            "$.trials[0]: a list (entries: 0) has the wrong type, expected object [schema-type]",
        ),
        (
            lambda d: d.update(tier="published"),
            (
                '$.tier: "published" is not accepted, expected one of "measured", "imported" '
                "[schema-enum]"
            ),
        ),
        (
            lambda d: d.update(licence="MIT"),
            '$.licence: "MIT" is not accepted, expected "CC-BY-4.0" [schema-const]',
        ),
        (
            lambda d: d.update(measured_from="2026-02-30T00:00:00Z"),
            (
                '$.measured_from: "2026-02-30T00:00:00Z" is not a valid date-time; '
                "give one that exists in the calendar [schema-format]"
            ),
        ),
        (
            lambda d: d["arms"][1]["method"].update(draft="tiny-q8-0"),
            '$.arms[1].method: unknown field "draft"; remove it [schema-additionalProperties]',
        ),
        (
            lambda d: d["arms"][1]["method"].pop("n_max"),
            '$.arms[1].method: the field "n_max" is missing; add it [schema-required]',
        ),
        (
            lambda d: d["target"].update(id="Big Model"),
            (
                '$.target.id: "Big Model" has the wrong form, '
                "expected an id: lower-case letters, digits, dots, hyphens and underscores, "
                "such as q4-k-m [schema-pattern]"
            ),
        ),
        (
            lambda d: d["suite"].update(version="one"),
            (
                '$.suite.version: "one" has the wrong form, expected a version such as 1.0.0 '
                "[schema-pattern]"
            ),
        ),
        (
            lambda d: d["target"].update(sha256="X"),
            (
                '$.target.sha256: "X" has the wrong form, expected a SHA-256: 64 hex digits in '
                "lower case [schema-pattern]"
            ),
        ),
        (
            lambda d: d["target"].update(name="<img src=x onerror=alert(1)>"),
            (
                '$.target.name: "<img src=x onerror=alert(1)>" has the wrong form, '
                "expected plain text without < and > on one line [schema-pattern]"
            ),
        ),
        (
            lambda d: d.update(arms=[]),
            (
                "$.arms: a list (entries: 0) is too short, expected at least 1; add the rest "
                "[schema-minItems]"
            ),
        ),
        (
            lambda d: d["trials"][0].update(round=d["trials"][0].pop("rounds")),
            (
                '$.trials[0]: unknown field "round" (did you mean "rounds"?); '
                "rename or remove it [schema-additionalProperties]"
            ),
        ),
        (
            lambda d: d["machine"]["os"].update(family="Linux"),
            (
                '$.machine.os.family: "Linux" is not accepted (did you mean "linux"?), expected '
                'one of "linux", "macos", "windows", "freebsd", "other" [schema-enum]'
            ),
        ),
        (
            lambda d: d["trials"][1].update(arm="prompt-lookup-n5"),
            (
                '$.trials[1].arm: "prompt-lookup-n5" is not a listed arm (did you mean '
                '"prompt-lookup-n4"?); expected one of "baseline", "draft-model-n4", '
                '"prompt-lookup-n4" [trial-arm-known]'
            ),
        ),
    ],
)
def test_a_message_names_place_mistake_and_remedy(
    change: Callable[[Document], object], line: str
) -> None:
    document = small()
    change(document)

    lines = [each.line() for each in contract.findings(_bytes(document), file="x.json")]

    assert lines == [f"x.json: {line}"]


def test_all_mistakes_are_told_at_once() -> None:
    document = small()
    document["trials"][0]["rounds"] = -1
    document["trials"][2]["speedup"] = 3
    document["machine"].pop("os")

    places = [finding.path for finding in contract.findings(_bytes(document))]

    assert places == ["$.machine", "$.trials[0].rounds", "$.trials[2]"]


def test_a_hostile_number_of_mistakes_is_cut() -> None:
    document = small() | {f"field_{n}": n for n in range(MAX_FINDINGS + 100)}

    found = contract.findings(_bytes(document))

    assert len(found) == MAX_FINDINGS + 1
    assert found[-1].rule == "many-findings"


@pytest.mark.parametrize("data", [b"null", b"[]", b"1", b'"x"', b"true", b"{}"])
def test_a_document_that_is_no_submission_has_findings(data: bytes) -> None:
    assert contract.findings(data)


def test_a_published_file_is_judged_by_its_own_schema() -> None:
    found = contract.document_findings(_bytes(SMALL), validator.PUBLISHED_SCHEMA)

    assert found
    assert all(finding.rule.startswith("schema-") for finding in found)


def test_a_published_file_is_loaded_strictly() -> None:
    (found,) = contract.document_findings(b"[NaN]", validator.PUBLISHED_SCHEMA)

    assert found.rule == "json"


def test_a_pattern_ends_where_the_text_ends() -> None:
    # Python's `$` would also match before a last newline; the loader refuses it earlier as well.
    document = small() | {"contributor": "ada\n"}

    found = authority.schema_findings(document, validator.SUBMISSION_SCHEMA)

    assert [finding.rule for finding in found] == ["schema-pattern"]


def _bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()


@pytest.mark.parametrize(
    "place",
    [("machine", "os"), ("machine", "ram_mib"), ("machine", "cpu", "name"), ("engine", "version")],
)
def test_what_an_imported_campaign_may_lack_a_measured_one_must_have(
    place: tuple[str, ...],
) -> None:
    document = copy.deepcopy(SMALL)
    *parents, last = place
    inner = document
    for step in parents:
        inner = inner[step]
    del inner[last]
    imported = {**document, "tier": "imported", "origin": {"format": "x", "sha256": "0" * 64}}
    imported["engine"] = {**document["engine"], "runner": "imported"}

    found = contract.findings(_bytes(document))

    assert contract.findings(_bytes(imported)) == ()
    assert [(each.path, each.rule) for each in found] == [
        (".".join(("$", *place[:-1])), "schema-required")
    ]
