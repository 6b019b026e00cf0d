"""Does the contract find every change of a valid file that matters, and survive all others?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas import contract
from schemas.finding import Finding
from schemas.submission import Submission
from tests.data.make_invalid import small, valid_files
from tests.leaves import general, leaves, with_value, without

if TYPE_CHECKING:
    from collections.abc import Iterator

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
