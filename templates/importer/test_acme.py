"""What Acme writes becomes a result with the speedup that its times give."""

import pytest

from estimates.summary import summarize
from harness.imports.source_files import Given, given
from schemas.contract import value_findings
from tests.harness.imports.samples import FACTS, SAMPLES, run

MTP = b"""{"prompt": "sort", "tokens": 101, "seconds": 2.0, "drafted": 100, "accepted": 50}
{"prompt": "poem", "tokens": 101, "seconds": 2.0, "drafted": 100, "accepted": 50}"""


def test_the_speedup_is_the_ratio_of_the_times() -> None:
    files = [given(SAMPLES / "acme-base.jsonl"), Given(name="mtp.jsonl", data=MTP)]
    facts = {**FACTS, "method": "mtp", "n_max": "2", "sampling": "greedy", "task.sort": "code"}

    (found,) = run("acme", files, facts).submissions

    assert value_findings(found) == ()
    (spec,) = {each.arm: each for each in summarize(found).estimates if each.speedup}.values()
    assert spec.speedup == pytest.approx(2.0)  # 4 seconds over 2
