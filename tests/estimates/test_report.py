"""A summary as JSON has documented fields and round figures."""

import pytest

from estimates.summary import summarize
from schemas.codec import encode
from tests.estimates.campaigns import campaign, failed, table, trial


def test_json_has_the_field_names_of_the_model() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (80.0, 10.0)}

    document = encode(summarize(campaign(table(rows), prompts=tuple(rows))))

    assert isinstance(document, dict)
    assert set(document) == {
        "estimator", "estimates", "prompts", "flags", "repeatability", "controls", "throughput",
    }  # fmt: skip
    first = document["estimates"][0]  # type: ignore[index,call-overload]
    # 180 / 60: the times of both prompts, added up.
    assert first["speedup"] == pytest.approx(3.0)  # type: ignore[index,call-overload]
    assert set(first["interval"]) == {"low", "high"}  # type: ignore[index,call-overload,arg-type]


def test_unknown_fields_are_left_out_and_never_zero() -> None:
    document = encode(summarize(campaign([trial("baseline"), failed("spec")])))

    first = document["estimates"][0]  # type: ignore[index,call-overload]
    assert set(first) == {  # type: ignore[arg-type]
        "arm", "baseline", "task", "verdict", "prompts", "trials", "failed_trials",
        "own_tasks", "at_most",
    }  # fmt: skip
