"""The whole pipeline runs on real input: measure, validate, show, submit and build."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app as harness_app
from harness.models.resolve import resolve
from pipeline.cli import app as pipeline_app
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.ggufs import first_layers
from tests.sites import empty_site, known

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[1]
RUN = ("run", "--tasks", "code,math", "--prompts", "1", "--max-tokens", "12", "--blocks", "2")


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the harness's command line from the repository."""
    return command("harness", *arguments)


def pipeline(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the pipeline's command line from the repository."""
    return command("pipeline", *arguments)


def command(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module with arguments; the terminal is 100 columns wide."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )


def called(application: Any, *arguments: str) -> Result:  # noqa: ANN401 - the parser of typer
    """Run the command line in this process; other tests show that it starts in its own."""
    return CliRunner().invoke(application, arguments)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result file, measured on this machine with one layer of the default's draft."""
    folder = tmp_path_factory.mktemp("run")
    whole = resolve("smollm2-135m:q4_1", say=lambda _: None).path
    weights = str(first_layers(whole, folder / "weights.gguf", 1))
    draft = shutil.copy(weights, folder / "draft.gguf")  # the file itself would be refused
    path = folder / "result.json"
    done = harness(*RUN, "--target", weights, "--draft", draft, "--output", str(path))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return path


def test_without_names_the_default_is_measured() -> None:
    """The tests of the runners check the answers of its weights."""
    done = called(harness_app, "run", "--dry-run")

    assert done.exit_code == 0, done.stderr
    target, draft, arms = (" ".join(line.split()) for line in done.stdout.splitlines()[:3])
    assert target.startswith("target SmolLM2-135M-Instruct F16,")
    assert draft.startswith("draft SmolLM2-135M-Instruct Q4_1,")
    assert arms == "arms baseline, prompt-lookup-n8, draft-model-n4"


def measured(result: Path) -> Submission:
    """The submission in the result file."""
    submission = read(result.read_bytes())
    assert isinstance(submission, Submission), submission
    return submission


def test_a_run_measures_every_arm_on_every_prompt_in_every_block(result: Path) -> None:
    submission = measured(result)

    assert [arm.id for arm in submission.arms] == ["baseline", "prompt-lookup-n8", "draft-model-n4"]
    assert len(submission.trials) == 3 * 2 * 2
    assert {trial.outcome for trial in submission.trials} == {"ok"}
    assert submission.profile == "custom"
    assert submission.design.ended == "completed"


def test_greedy_speculation_agrees_with_the_baseline_or_parts_at_a_near_tie(result: Path) -> None:
    submission = measured(result)

    margins = [trial.divergence_margin for trial in submission.trials if trial.first_divergence]
    assert all(margin is not None and margin < 0.1 for margin in margins)


def test_the_harness_accepts_the_file(result: Path) -> None:
    checked = harness("validate", str(result))

    assert checked.returncode == 0, checked.stdout


def test_the_site_shows_the_run_as_a_local_preview(
    result: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = tmp_path / "site"
    (tmp_path / "results").mkdir()
    cache = known(empty_site(tmp_path_factory.getbasetemp()), tmp_path / "cache")

    others = ("--results", str(tmp_path / "results"), "--output", str(site), "--cache", str(cache))
    done = called(pipeline_app, "build", "--extra", str(result), *others)

    assert done.exit_code == 0, done.stderr
    assert done.stderr == "there is no --site-url, so feeds get relative links\n"
    pages = [page.read_text() for page in (site / "submissions").glob("*/index.html")]
    name = measured(result).target.name
    assert any(name in page for page in pages)
    assert (site / "index.html").is_file()
