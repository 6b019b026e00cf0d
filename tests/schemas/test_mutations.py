"""The contract finds every relevant change of a valid file, and raises on none."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.generated import refusals
from bench.leaf_changes import (
    HARNESS_MAY_NOT_KNOW,
    MAY_BE_MISSING,
    first_leaves,
    is_optional,
    mutations,
    other_types,
)
from schemas import contract
from schemas.finding import Finding
from schemas.submission import Submission
from tests.generated import submission_bytes
from tests.leaves import general, leaves, with_value, without
from tools.examples import small, valid_files

Document = dict[str, Any]


pytestmark = pytest.mark.long
SMALL = small()
# Six trials have every field; the others would only cost time.
DOCUMENTS = [
    document | {"trials": document["trials"][:6]}
    for document in map(json.loads, valid_files().values())
]
# Every place once for each kind of file that has it, because types depend only on these.
PLACES = {
    (document["tier"], document["engine"]["runner"], general(path)): (document, path, value)
    for document in DOCUMENTS
    for path, value in first_leaves(document)
}.values()


def test_another_type_is_found_at_every_leaf() -> None:
    accepted = {
        general(path)
        for document, path, value in PLACES
        for other in other_types(value)
        if not contract.findings(_bytes(with_value(document, path, other)))
    }

    assert accepted == set()


def test_another_sign_is_found_at_every_number() -> None:
    accepted = {
        general(path)
        for document, path, value in PLACES
        if isinstance(value, int | float) and value > 0 and not isinstance(value, bool)
        if not contract.findings(_bytes(with_value(document, path, -value)))
    }

    assert accepted == set()


def test_only_optional_fields_may_be_removed() -> None:
    accepted_of = {
        (document["tier"], general(path))
        for document in DOCUMENTS
        for path, _ in first_leaves(document)
        if not contract.findings(_bytes(without(document, path)))
    }
    accepted = {place for _, place in accepted_of}

    assert {place for tier, place in accepted_of if tier == "measured"} <= HARNESS_MAY_NOT_KNOW
    # Listed by hand, in agreement with the schema: optional fields.
    assert accepted <= MAY_BE_MISSING
    assert {place for place in MAY_BE_MISSING if not is_optional(place)} == set()


def test_an_extra_field_is_found_in_every_object() -> None:
    places = {path[:-1] for path, _ in leaves(SMALL) if isinstance(path[-1], str)}

    accepted = [
        place
        for place in places
        if not contract.findings(_bytes(with_value(SMALL, (*place, "extra"), 1)))
    ]

    assert accepted == []


def test_doubled_keys_wrong_values_and_nulls_are_found() -> None:
    made = [m for m in mutations(DOCUMENTS[1]) if m.kind in ("duplication", "range", "null")]

    accepted = [(m.kind, m.place) for m in made if not contract.findings(m.data)]

    assert accepted == []
    assert len(made) > 200


@pytest.mark.parametrize("seed", range(60))
def test_no_generated_submission_is_rejected(seed: int) -> None:
    data = submission_bytes(seed)

    assert [each.line() for each in refusals(data)] == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
places = st.sampled_from([path for path, _ in leaves(SMALL)])


@given(place=places, depth=st.integers(0, 3), value=json_values)
@settings(max_examples=150)
def test_no_value_at_any_place_makes_it_raise(place: Any, depth: int, value: object) -> None:  # noqa: ANN401 - keys and indices
    path = place[: max(1, len(place) - depth)]
    data = _bytes(with_value(SMALL, path, value))

    result = contract.read(data)

    assert isinstance(result, Submission) or all(isinstance(f, Finding) for f in result)
    assert all(f.line().isprintable() for f in contract.findings(data))


@given(
    position=st.floats(0, 1),
    length=st.integers(0, 40),
    inserted=st.binary(max_size=20) | st.text(max_size=20).map(str.encode),
)
@settings(max_examples=150)
def test_no_change_of_the_bytes_makes_it_raise(
    position: float, length: int, inserted: bytes
) -> None:
    data = _bytes(SMALL)
    start = int(position * len(data))

    result = contract.read(data[:start] + inserted + data[start + length :])

    assert isinstance(result, Submission) or result


def _bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()
