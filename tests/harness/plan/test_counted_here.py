"""`plan` finds the acceptance that was counted on this machine, without a curve of step times."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.machine.computer import computer_of
from harness.models.describe import describe
from harness.models.model_file import WeightsFile
from harness.record import kept
from harness.record.kept import KeptAcceptance
from planner.speed import Ranged


@pytest.mark.usefixtures("cache_dir")
def test_counted_rounds_are_the_acceptance_of_the_best_depth(models: list[str]) -> None:
    target, draft = (
        describe(WeightsFile(path=Path(path)), say=lambda _: None).model
        for path in (models[1], models[3])
    )
    kept.keep(
        KeptAcceptance(
            measured_until="2026-11-28T12:00:00+00:00",
            device=kept.device_of(computer_of()),
            model=target,
            draft=draft,
            answers=5,
            # No more tokens after the second position.
            tokens_per_round=tuple(
                Ranged(estimate=tokens, low=1.0, high=9.0) for tokens in (1.2, 2.9, 2.9, 2.9)
            ),
            drafting_ms=1.0,
        )
    )

    done = CliRunner().invoke(app, ["plan", models[1], models[3], "--json"])

    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["speedup"]["basis"] == "acceptance"
    assert found["decides"]["depth"] == 2
    assert found["decides"]["expected"] == pytest.approx(0.95, abs=0.01)
