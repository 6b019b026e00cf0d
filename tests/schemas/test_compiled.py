"""Does the quick validator judge exactly as jsonschema does on the schema as it is written?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from schemas.messages import findings_of

from schemas import compiled
from schemas.contract import PUBLISHED_SCHEMA, SUBMISSION_SCHEMA, schema
from tests.data.make_invalid import small, valid_files
from tests.leaves import general, leaves, with_value, without

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long
QUICK = compiled.validator(schema(SUBMISSION_SCHEMA))
REFERENCE = Draft202012Validator(schema(SUBMISSION_SCHEMA))
# 1.0 as an integer and a last newline before the end are judged differently, on purpose.
REPLACEMENTS: tuple[Any, ...] = (None, True, -1, 0.5, 10**17, "", "x" * 2000, [], {})


def variants() -> Iterator[tuple[str, Any]]:
    document = small()
    fields = {general(path): path for path, _ in leaves(document)}
    for name, path in fields.items():
        yield f"without {name}", without(document, path)
        for value in REPLACEMENTS:
            yield f"{name} = {value!r:.20}", with_value(document, path, value)


def test_it_finds_what_the_reference_finds() -> None:
    differing = [
        name for name, changed in variants() if places(QUICK, changed) != places(REFERENCE, changed)
    ]

    assert differing == []


def places(validator: Any, document: object) -> set[tuple[str, str]]:  # noqa: ANN401 - two classes of validators
    # The reference checks no format: that of a date-time would need another package.
    errors = [e for e in validator.iter_errors(document) if e.validator != "format"]
    return {(f.path, f.rule) for error in errors for f in findings_of(error)}


@pytest.mark.parametrize("name", [SUBMISSION_SCHEMA, PUBLISHED_SCHEMA])
def test_no_reference_and_no_prose_is_left(name: str) -> None:
    text = json.dumps(compiled.validator(schema(name)).schema)

    assert '"$ref"' not in text
    assert '"examples"' not in text


def test_bounds_beside_a_reference_hold_together_with_those_behind_it() -> None:
    validator = compiled.validator(
        {
            "$ref": "#/$defs/count",
            "minimum": 5,
            "$defs": {"count": {"type": "integer", "minimum": 1, "maximum": 9}},
        }
    )

    assert [n for n in (0, 1, 5, 9, 10) if validator.is_valid(n)] == [5, 9]


@pytest.mark.parametrize("name", sorted(valid_files()))
def test_a_valid_file_is_valid_for_the_reference(name: str) -> None:
    assert list(REFERENCE.iter_errors(json.loads(valid_files()[name]))) == []
