"""Several engines are compared side by side with the first one."""

from collections.abc import Mapping
from dataclasses import replace

from estimates.summary import summarize
from harness.run import run_reports
from schemas.submission import Submission
from tests.estimates.campaigns import campaign, trial

FIRST = campaign([trial("baseline", decode_ms=100.0), trial("spec", decode_ms=50.0)])
SECOND = campaign([trial("baseline", decode_ms=25.0), trial("spec", decode_ms=50.0)])


def test_baselines_are_compared_with_the_first_and_arms_with_their_own() -> None:
    second = replace(SECOND, engine=replace(SECOND.engine, backend="vulkan", version="10434"))

    said = compared(old=FIRST, new=second)

    assert "new: " in said
    assert "10434, vulkan" in said
    assert "baseline: 4.00× the speed of old, over 1 prompt" in said  # noqa: RUF001 - as printed
    assert "spec, code: 2.00× the speed of its own baseline" in said  # noqa: RUF001 - as printed
    assert "spec, code: 0.50× the speed of its own baseline" in said  # noqa: RUF001 - as printed


def test_a_failed_engine_is_listed_with_its_reason() -> None:
    said = compared({"broken": "the baseline cannot run: ended by signal 4"}, works=FIRST)

    assert "  broken: not measured\n    the baseline cannot run: ended by signal 4" in said


def test_a_single_pass_says_that_its_certainty_is_unknown() -> None:
    once = replace(FIRST, design=replace(FIRST.design, interleaved="block", blocks=1))

    assert "in a single pass, so its uncertainty is unknown" in compared(a=once, b=SECOND)


def compared(failed: Mapping[str, str] | None = None, /, **engines: Submission) -> str:
    measured = {name: (each, summarize(each)) for name, each in engines.items()}
    return "\n".join(run_reports.compared(measured, failed or {}))
