"""The words of the project are complete, and their ids are those of the format."""

import json
import re
from typing import Any, get_args

import pytest

from estimates.model import Verdict
from harness.runners import CONNECT
from pipeline.data.column_meanings import metrics
from schemas import validator
from schemas.submission import Task
from schemas.vocabulary import (
    DEFAULT_RUNNER,
    METHODS,
    RUNNERS,
    SIZES,
    TASKS,
    VERDICTS,
    SizeClass,
    VerdictEntry,
    as_json,
    size_class,
)
from schemas.vocabulary.documents import read_entry


def defined(schema: str, *path: str) -> Any:  # noqa: ANN401 - a part of a JSON document
    part: Any = validator.schema(schema)["$defs"]
    for step in path:
        part = part[step]
    return part


def test_methods_are_those_of_the_format() -> None:
    kinds = defined(validator.SUBMISSION_SCHEMA, "method", "properties", "type", "enum")

    assert set(METHODS) == set(kinds)


def test_tasks_are_those_of_the_format_in_its_order() -> None:
    assert tuple(TASKS) == get_args(Task)


def test_verdicts_except_those_for_cells_are_those_of_an_estimate() -> None:
    of_cells = re.compile(r".*-confirmed|differs-by-build")
    single = tuple(name for name in VERDICTS if not of_cells.fullmatch(name))

    assert single == get_args(Verdict)


def test_a_sign_points_up_or_down_only_if_the_whole_interval_does() -> None:
    pointing = {name: entry.sign for name, entry in VERDICTS.items() if entry.sign in "▲▼△▽"}

    assert pointing == {
        "helps": "△",
        "hurts": "▽",
        "helps-confirmed": "▲",
        "hurts-confirmed": "▼",
    }


def test_runners_are_those_of_the_harness() -> None:
    assert tuple(RUNNERS) == tuple(CONNECT)
    assert DEFAULT_RUNNER in RUNNERS


def test_runners_are_those_of_the_format_which_knows_imports_too() -> None:
    engine = validator.schema(validator.SUBMISSION_SCHEMA)["$defs"]["engine"]["properties"]

    assert {*RUNNERS, "imported"} == set(engine["runner"]["enum"])


def test_published_rows_name_methods_of_the_vocabulary() -> None:
    row = validator.schema(validator.PUBLISHED_SCHEMA)["$defs"]["row"]
    named = set(row["properties"]["method"]["enum"])
    speculating = next(
        rule["then"]["properties"]["method"]["enum"]
        for rule in row["allOf"]
        if "with speculation" in rule.get("description", "")
    )

    assert named <= METHODS.keys()
    assert named == {*speculating, "none"}


def test_references_between_entries_resolve() -> None:
    for method in METHODS.values():
        assert set(method.runners) <= set(RUNNERS)
        assert method.nearest is None or method.nearest in METHODS
    for runner in RUNNERS.values():
        for name in runner.default_methods:
            assert runner.id in METHODS[name].runners


def test_each_method_of_a_chart_has_its_own_colour_and_shape() -> None:
    drawn = [method for method in METHODS.values() if method.colour]

    assert len({method.colour for method in drawn}) == len(drawn) > 0
    assert len({method.shape for method in drawn}) == len(drawn)


@pytest.mark.parametrize(
    ("parameters", "label"),
    [
        (None, "unknown size"),
        (1, "<1B"),
        (999_999_999, "<1B"),
        (1_000_000_000, "1–3B"),  # noqa: RUF001 - en dash
        (2_999_999_999, "1–3B"),  # noqa: RUF001 - en dash
        (3_000_000_000, "3–8B"),  # noqa: RUF001 - en dash
        (8_000_000_000, "8–16B"),  # noqa: RUF001 - en dash
        (16_000_000_000, "16–40B"),  # noqa: RUF001 - en dash
        (39_999_999_999, "16–40B"),  # noqa: RUF001 - en dash
        (40_000_000_000, ">40B"),
    ],
)
def test_a_size_class_begins_at_its_lower_bound(parameters: int | None, label: str) -> None:
    assert size_class(parameters).label == label


def test_size_classes_ascend_and_end_with_the_unbounded_and_the_unknown() -> None:
    *bounded, largest, unknown = SIZES.values()
    bounds = [each.below or 0 for each in bounded]

    assert bounds == sorted(set(bounds))
    assert largest.below is None
    assert unknown.unknown


def test_a_metric_has_label_unit_and_direction() -> None:
    assert metrics()["speedup"].label == "Speedup"
    assert {metric.direction for metric in metrics().values()} == {"higher", "lower", "none"}
    assert all(metric.label and metric.unit for metric in metrics().values())


def test_an_unknown_key_and_a_missing_one_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sizes\.x: .*unknown field `above`"):
        read_entry(SizeClass, "sizes.x", {"id": "x", "label": "x", "above": 1})
    with pytest.raises(ValueError, match=r"verdicts\.x: .*missing required field `short`"):
        read_entry(VerdictEntry, "verdicts.x", {"id": "x", "word": "x"})


def test_pages_get_all_words_as_one_json() -> None:
    words = json.loads(json.dumps(as_json()))

    assert words["helps_above"] == 1.02
    assert words["hurts_below"] == 0.98
    assert words["verdicts"]["helps"]["word"] == "helps"
    assert words["methods"]["draft-model"]["llama_cpp"]["types"] == ["draft-simple", "draft"]
