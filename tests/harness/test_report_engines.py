"""Are several engines set side by side, the first one as the measure?"""

from __future__ import annotations

from dataclasses import replace

from estimates.summary import summarize
from harness.report.engines import lines
from tests.estimates.campaigns import campaign, trial

FIRST = campaign([trial("baseline", decode_ms=100.0), trial("spec", decode_ms=50.0)])
SECOND = campaign([trial("baseline", decode_ms=25.0), trial("spec", decode_ms=50.0)])


def test_baselines_are_compared_with_the_first_and_arms_with_their_own() -> None:
    second = replace(SECOND, engine=replace(SECOND.engine, backend="vulkan", version="10434"))

    said = "\n".join(lines({"old": (FIRST, summarize(FIRST)), "new": (second, summarize(second))}))

    assert "new: " in said
    assert "10434, vulkan" in said
    assert "baseline: 4.00 times the speed of old, over 1 prompt" in said
    assert "spec: 2.00 times its own baseline" in said
    assert "spec: 0.50 times its own baseline" in said
