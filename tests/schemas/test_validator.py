"""The validator finds exactly what `jsonschema` alone finds, on the schema as it is written."""

import json
from collections.abc import Iterator
from functools import reduce
from itertools import groupby, zip_longest
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas.codec import Json
from schemas.finding import ROOT, child_path
from schemas.validator import SUBMISSION_SCHEMA, schema, schema_findings, strict_validator
from tests.leaves import general, leaves, with_value, without
from tools.examples import small, valid_files

pytestmark = pytest.mark.long
REFERENCE = Draft202012Validator(schema(SUBMISSION_SCHEMA))
# 1.0 as an integer and a last newline before the end are judged differently, on purpose.
REPLACEMENTS: tuple[Any, ...] = (None, True, -1, 0.5, 10**17, "", "x" * 2000, [], {})


def variants() -> Iterator[tuple[str, Any]]:
    """Documents with a field removed or changed, one at a time in each part of the document."""
    for turn in turns():
        names = ", ".join(map(general, turn))
        yield f"without {names}", reduce(without, turn, small())
        for value in REPLACEMENTS:
            changed = reduce(lambda doc, path: with_value(doc, path, value), turn, small())
            yield f"{names} = {value!r:.20}", changed


def turns() -> Iterator[tuple[tuple[str | int, ...], ...]]:
    """Groups of fields, one from each part of the document; fields that rules use come alone."""
    fields = {general(path): path for path, _ in leaves(small())}.values()
    alone = [path for path in fields if len(path) == 1]
    parts = [
        list(group)
        for _, group in groupby((p for p in fields if len(p) > 1), key=lambda path: path[0])
    ]
    yield from ((path,) for path in alone)
    yield from (tuple(filter(None, turn)) for turn in zip_longest(*parts))


def test_it_finds_what_the_reference_finds() -> None:
    differing = [
        name for name, changed in variants() if places(changed) != places_of_the_reference(changed)
    ]

    assert differing == []


def places(document: Json) -> set[tuple[str, str]]:
    # The reference checks no formats: that of date-time would need another package.
    found = schema_findings(document, SUBMISSION_SCHEMA)
    return {(each.path, each.rule) for each in found if each.rule != "schema-format"}


def places_of_the_reference(document: Json) -> set[tuple[str, str]]:
    return {
        (reduce(child_path, error.absolute_path, ROOT), f"schema-{error.validator}")
        for error in REFERENCE.iter_errors(document)
    }


def test_bounds_next_to_a_reference_apply_together_with_referenced_ones() -> None:
    strict = strict_validator(
        {
            "$ref": "#/$defs/count",
            "minimum": 5,
            "$defs": {"count": {"type": "integer", "minimum": 1, "maximum": 9}},
        }
    )

    assert [n for n in (0, 1, 5, 9, 10) if strict.is_valid(n)] == [5, 9]


@pytest.mark.parametrize("name", sorted(valid_files()))
def test_a_valid_file_is_valid_for_the_reference(name: str) -> None:
    assert list(REFERENCE.iter_errors(json.loads(valid_files()[name]))) == []


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ({"type": "integer"}, 7.0),
        ({"type": "string", "format": "date-time"}, "2026-02-30T00:00:00Z"),
        ({"type": "string", "pattern": "^ab$"}, "ab\n"),
    ],
)
def test_values_that_json_schema_leaves_open_are_refused_behind_references_too(
    definition: dict[str, str], value: object
) -> None:
    behind = {"$ref": "#/$defs/it", "$defs": {"it": definition}}

    assert not strict_validator(definition).is_valid(value)
    assert not strict_validator(behind).is_valid(value)


def test_ctrl_c_within_a_keyword_of_this_project_is_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_keyword: object, _instance: object) -> None:
        raise KeyboardInterrupt

    document = small()
    assert schema_findings(document, SUBMISSION_SCHEMA) == ()
    monkeypatch.setattr("schemas.validator._Whole.validate", interrupted)

    with pytest.raises(KeyboardInterrupt):
        schema_findings(document, SUBMISSION_SCHEMA)
