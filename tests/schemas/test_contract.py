"""Does the contract find every mistake, say it well, and never raise?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas import contract
from schemas.finding import MAX_FINDINGS, Finding
from schemas.submission import Submission
from tests.data.make_invalid import small, valid_files
from tests.leaves import general, leaves, with_value, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Document = dict[str, Any]

SMALL = small()
DOCUMENTS = [json.loads(data) for data in valid_files().values()]
# Without these the file says less, and is still true. Every other removal is found.
MAY_BE_MISSING = {
    "arms[].load_s",
    "contributor",
    "design.seed",
    *(f"drafts[].{name}" for name in ("layers", "parameters")),
    *(f"engine.{name}" for name in ("commit", "package_version")),
    *(f"machine.gpus[].{name}" for name in ("vendor", "vram_mib")),
    *("machine.cpu.physical_cores", "machine.os.version"),
    *("origin.licence", "origin.source"),
    *("settings.context_tokens", "settings.threads"),
    "suite.prompts[].tokens",
    *(f"target.{name}" for name in ("family", "layers", "parameters")),
    *(f"trials[].{name}_ms" for name in ("draft", "prompt", "verify", "wall")),
    *(f"trials[].{name}" for name in ("compared_tokens", "finish", "full_rounds", "output_sha256")),
}


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
            "$.trials[0].rounds: -1 is too small, expected at least 0 [schema-minimum]",
        ),
        (
            lambda d: d["trials"][0].update(decode_ms=1e300),
            (
                "$.trials[0].decode_ms: 1e+300 is too large, expected at most 100000000 "
                "[schema-maximum]"
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
            lambda d: d.update(version=1.0),
            (
                "$.version: 1.0 has the wrong type, expected integer; "
                "write it without a decimal point or exponent [schema-type]"
            ),
        ),
        (
            lambda d: d.update(measured_from="2026-02-30T00:00:00Z"),
            '$.measured_from: "2026-02-30T00:00:00Z" is no valid date-time [schema-format]',
        ),
        (
            lambda d: d["arms"][1]["method"].pop("type"),
            '$.arms[1].method: the field "type" is missing; add it [schema-required]',
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
                "expected ^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$ [schema-pattern]"
            ),
        ),
        (
            lambda d: d.update(notes="<img src=x onerror=alert(1)>"),
            (
                '$.notes: "<img src=x onerror=alert(1)>" has the wrong form, '
                r"expected ^[^\u0000-\u001f<>]+$ [schema-pattern]"
            ),
        ),
        (
            lambda d: d.update(arms=[]),
            "$.arms: a list (entries: 0) is too short, expected at least 1 [schema-minItems]",
        ),
    ],
)
def test_a_message_names_place_mistake_and_remedy(
    change: Callable[[Document], object], line: str
) -> None:
    document = small()
    change(document)

    lines = [finding.line("x.json") for finding in contract.findings(_bytes(document))]

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
    found = contract.published_findings(_bytes(SMALL))

    assert found
    assert all(finding.rule.startswith("schema-") for finding in found)


def test_a_published_file_is_loaded_strictly() -> None:
    (found,) = contract.published_findings(b"[NaN]")

    assert found.rule == "json"


def test_a_pattern_ends_where_the_text_ends() -> None:
    # Python's `$` would also match before a last newline; the loader refuses it earlier as well.
    document = small() | {"contributor": "ada\n"}

    found = contract.schema_findings(document, contract.SUBMISSION_SCHEMA)

    assert [finding.rule for finding in found] == ["schema-pattern"]


def test_another_type_is_found_at_every_leaf() -> None:
    accepted = {
        general(path)
        for document in DOCUMENTS
        for path, value in _fields(document)
        for other in _other_types(value)
        if not contract.findings(_bytes(with_value(document, path, other)))
    }

    assert accepted == set()


def test_another_sign_is_found_at_every_number() -> None:
    accepted = {
        general(path)
        for document in DOCUMENTS
        for path, value in _fields(document)
        if isinstance(value, int | float) and value > 0 and not isinstance(value, bool)
        if not contract.findings(_bytes(with_value(document, path, -value)))
    }

    assert accepted == set()


def test_only_what_may_be_missing_may_be_removed() -> None:
    accepted = {
        general(path)
        for document in DOCUMENTS
        for path, _ in _fields(document)
        if not contract.findings(_bytes(without(document, path)))
    }

    assert accepted == MAY_BE_MISSING


def test_an_extra_field_is_found_in_every_object() -> None:
    places = {path[:-1] for path, _ in leaves(SMALL) if isinstance(path[-1], str)}

    accepted = [
        place
        for place in places
        if not contract.findings(_bytes(with_value(SMALL, (*place, "extra"), 1)))
    ]

    assert accepted == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
places = st.sampled_from([path for path, _ in leaves(SMALL)])


@given(place=places, depth=st.integers(0, 3), value=json_values)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_value_at_any_place_makes_it_raise(place: Any, depth: int, value: object) -> None:  # noqa: ANN401 - keys and indices
    path = place[: max(1, len(place) - depth)]
    data = _bytes(with_value(SMALL, path, value))

    result = contract.read(data)

    assert isinstance(result, Submission) or all(isinstance(f, Finding) for f in result)
    assert all(f.line("x").isprintable() for f in contract.findings(data))


@given(
    position=st.floats(0, 1),
    length=st.integers(0, 40),
    inserted=st.binary(max_size=20) | st.text(max_size=20).map(str.encode),
)
@settings(max_examples=150, deadline=None)
def test_no_change_of_the_bytes_makes_it_raise(
    position: float, length: int, inserted: bytes
) -> None:
    data = _bytes(SMALL)
    start = int(position * len(data))

    result = contract.read(data[:start] + inserted + data[start + length :])

    assert isinstance(result, Submission) or result


def _fields(document: Document) -> Iterator[tuple[Any, object]]:
    """The first leaf of every field: a hundred trials have the same fields."""
    first = {general(path): (path, value) for path, value in reversed([*leaves(document)])}
    yield from first.values()


def _other_types(value: object) -> list[object]:
    """Values of every other JSON type; a whole number in a field for fractions is no mistake."""
    others: list[object] = [None, "x", {}, [value], str(value), True, 0.5, 7]
    if isinstance(value, bool):
        return [other for other in others if not isinstance(other, bool)]
    if isinstance(value, str):
        return [other for other in others if not isinstance(other, str)]
    numbers = (float,) if isinstance(value, int) else ()
    kept = [o for o in others if isinstance(o, bool) or not isinstance(o, int | float)]
    return [*kept, *(o for o in others if isinstance(o, numbers))]


def _bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()
