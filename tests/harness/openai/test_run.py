"""From the command line to a page, facts that a server does not state are unknown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from estimates.summary import summarize
from harness.cli import app
from pipeline.data.database import open_database
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.submissions import submission_pages
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.openai.fake_answers import MODEL
from tests.harness.openai.fake_server import FakeServer, serving

METHOD = ("--method", "draft-model:n_max=3", "--draft", "Tiny-0.1B:Q4_0")
SMALL = ("--tasks", "code,math", "--prompts", "1", "--max-tokens", "8", "--blocks", "1")


OTHER = ("--spec-base-url", "http://127.0.0.1:9")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", "--runner", "openai", *arguments])


def at(base: FakeServer, other: FakeServer) -> tuple[str, ...]:
    """The options that name two servers."""
    return ("--base-url", base.url, "--spec-base-url", other.url)


def measured(path: Path) -> Submission:
    """The submission in a file that must be valid."""
    found = read(path.read_bytes())
    assert isinstance(found, Submission), found
    return found


def page_of(path: Path, folder: Path) -> str:
    """The site's page about a result file."""
    (folder / "community").mkdir(parents=True)
    connection = open_database(folder, (path,))
    site = Site(bundle="charts.js", repository=None, address=None)
    pages = [page for page in submission_pages(connection, site) if isinstance(page, Page)]
    (text,) = (page.text for page in pages if "## Verdict by task" in page.text)
    return text


@pytest.mark.usefixtures("cache_dir")
def test_a_vllm_is_measured_by_its_address_alone(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    with serving() as base, serving(depth=3) as other:
        done = call(*at(base, other), *METHOD, *SMALL, "-o", str(output))

    assert done.exit_code == 0, done.stderr
    submission = measured(output)
    assert (submission.engine.runner, submission.engine.name) == ("openai", "vLLM")
    assert submission.target.name == MODEL
    assert submission.target.quantisation == "unknown"
    assert (submission.drafts[0].name, submission.drafts[0].quantisation) == ("Tiny-0.1B", "Q4_0")
    assert submission.settings.context_tokens == 2048
    assert submission.design.interleaved == "block"
    assert {trial.outcome for trial in submission.trials} == {"ok"}
    speculating = [trial for trial in submission.trials if trial.arm == "draft-model-n3"]
    assert len(speculating) == 2
    assert all(trial.accepted is not None and trial.drafted for trial in speculating)
    assert all(trial.compared_tokens == 8 for trial in speculating)
    page = page_of(output, tmp_path / "results")
    assert "does not report how many tokens it drafted" not in page


@pytest.mark.usefixtures("cache_dir")
def test_unreported_counters_are_unknown_on_the_page(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    with serving(style="plain") as base, serving(style="plain", depth=3) as other:
        done = call(*at(base, other), *METHOD, *SMALL, "--backend", "cpu", "-o", str(output))

    assert done.exit_code == 0, done.stderr
    submission = measured(output)
    for trial in submission.trials:
        assert (trial.rounds, trial.drafted, trial.accepted) == (None, None, None)
        assert trial.output_tokens == 8
        assert trial.decode_ms
    page = page_of(output, tmp_path / "results")
    assert "does not report how many tokens it drafted" in page
    assert "never drafted" not in page


@pytest.mark.usefixtures("cache_dir")
def test_every_concurrency_has_its_own_baseline(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    options = (*METHOD, *SMALL, "--concurrency", "2,1", "-o", str(output))
    # After a warm-up of each arm, the two requests of the concurrent arm wait for each other.
    with serving() as base, serving(alone=2, depth=3) as other:
        done = call(*at(base, other), *options)

    assert done.exit_code == 0, done.stderr
    submission = measured(output)
    levels = {arm.id: (arm.concurrency, arm.baseline) for arm in submission.arms}
    assert levels == {
        "baseline": (None, None),
        "draft-model-n3": (None, "baseline"),
        "baseline-c2": (2, None),
        "draft-model-n3-c2": (2, "baseline-c2"),
    }
    concurrent = [trial for trial in submission.trials if trial.arm.endswith("-c2")]
    assert len(concurrent) == 4
    assert all(trial.started_ms is not None for trial in concurrent)
    # Each answer has its own counters; the metrics page counts all of them and is not asked.
    assert all(trial.drafted for trial in concurrent if trial.arm.startswith("draft-model"))
    assert {trial.metrics_drafted for trial in concurrent} == {None}
    assert other.state.most_in_flight == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--base-url", "http://gpu-box:1", *OTHER), "gpu-box may be another machine"),
        (("--base-url", "http://127.0.0.1:9", *OTHER), "nothing listens at http://127.0.0.1:9"),
        (
            ("--server-command", "x {port}", "--spec-server-command", "y {port}"),
            "missing: --target NAME. Full command: ",
        ),
        (
            ("--base-url", "http://127.0.0.1:9", "--method", "oracle"),
            "oracle runs in-process: use --runner llama-cpp-python",
        ),
        (
            ("--base-url", "http://127.0.0.1:9", *OTHER, "--backend", "gpu"),
            "unknown --backend 'gpu'",
        ),
        (
            ("--base-url", "http://127.0.0.1:9", "--concurrency", "0"),
            "whole numbers from 1 to 4,096",
        ),
    ],
)
@pytest.mark.usefixtures("cache_dir")
def test_an_impossible_run_is_refused_in_one_line(options: tuple[str, ...], said: str) -> None:
    method = () if "oracle" in options else METHOD

    done = call(*options, *method)

    assert done.exit_code != 0
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("Error:") == 1
    assert "Traceback" not in done.stderr


def test_all_missing_facts_are_in_one_message() -> None:
    done = call()

    assert done.exit_code == 2
    for option in ("--base-url", "--spec-base-url", "--method", "--draft"):
        assert option in done.stderr
    assert "--target" not in done.stderr  # a server can be asked


@pytest.mark.usefixtures("cache_dir")
def test_a_server_without_a_list_of_models_is_measured_once_its_model_is_named(
    tmp_path: Path,
) -> None:
    output = tmp_path / "out.json"
    with serving(style="mlx-lm") as base, serving(style="mlx-lm", depth=3) as other:
        unnamed = call(*at(base, other), *METHOD, *SMALL)
        done = call(*at(base, other), *METHOD, *SMALL, "--target", "tiny:4bit", "-o", str(output))

    assert (
        "the server does not report which model it serves; name the model with --target"
        in unnamed.stderr
    )
    assert done.exit_code == 0, done.stderr
    submission = measured(output)
    assert (submission.engine.name, submission.engine.backend) == ("mlx-lm", "cpu")
    assert submission.target.name.startswith("tiny")
    assert {"model" in body for body in base.state.bodies} == {False}
    assert {trial.accepted for trial in submission.trials} == {None}


@pytest.mark.usefixtures("cache_dir")
def test_a_dry_run_refuses_what_the_run_would() -> None:
    with serving() as base:
        options = ("--base-url", base.url, "--spec-base-url", base.url, "--dry-run")
        without = call(*options)
        too_few = call(*options[:2], "--dry-run", *METHOD)

    assert (
        "missing: --method METHOD (how the server with speculation drafts). Full command: "
        in without.stderr
    )
    assert f"--base-url {base.url} --spec-base-url {base.url} --method" in without.stderr
    assert (
        "Error: vLLM fixes the depth at its start, not per request, so it cannot serve both "
        "arms; name a second server with speculation: --spec-base-url URL\n"
    ) in too_few.stderr
    assert (without.exit_code, too_few.exit_code) == (2, 2)


@pytest.mark.usefixtures("cache_dir")
def test_a_dry_run_shows_what_would_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: program)
    options = (
        "--target",
        "tiny",
        "--server-command",
        "serve --port {port}",
        "--spec-server-command",
    )

    done = call(*options, "serve --fast --port {port}", *METHOD, *SMALL, "--dry-run")

    assert done.exit_code == 0, done.stderr
    assert "  serve --port '{port}'\n  serve --fast --port '{port}'\n" in done.stdout
    assert "expected  unknown: the size of the target's weights is not known" in done.stdout


@pytest.mark.usefixtures("cache_dir")
def test_a_missing_server_of_an_arm_is_reported_before_measuring(
    tmp_path: Path,
) -> None:
    output = tmp_path / "out.json"
    with serving() as base:
        options = ("--base-url", base.url, "--spec-base-url", "http://127.0.0.1:9")
        done = call(*options, *METHOD, *SMALL, "-o", str(output))

    assert done.exit_code == 3
    assert (
        "Error: the server with speculation: nothing listens at http://127.0.0.1:9" in done.stderr
    )
    assert not output.exists()


SUITE = """\
id = "lamps"
version = "1.0.0"
max_output_tokens = 24
quick_max_output_tokens = 24
""" + "".join(
    f"""
[[prompts]]
id = "tools-lamp-{number}"
task = "tools"
text = "Light in room {number}, please."
schema = '[{{"name": "set_lamp", "parameters": {{"required": ["lamp"]}}}}]'
"""
    for number in range(8)
)


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize("base_calls", ["sound", "corrupt"])
def test_calls_that_only_speculation_corrupts_are_flagged(tmp_path: Path, base_calls: str) -> None:
    suite, output = tmp_path / "lamps.toml", tmp_path / "out.json"
    suite.write_text(SUITE, "utf-8")
    with serving(calls=base_calls) as base, serving(depth=3, calls="corrupt") as other:
        done = call(*at(base, other), *METHOD, "--suite", str(suite), "-o", str(output))

    assert done.exit_code == 0, done.stderr
    found = summarize(measured(output)).flags
    flags = [each for each in found if each.name == "invalid-answers"]
    if base_calls == "corrupt":
        assert not flags
        return
    assert [(each.severity, each.arm) for each in flags] == [("serious", "draft-model-n3")]
    # Three blocks of eight answers, every second one broken.
    assert "12 of 24 with draft-model-n3, 0 of 24 with baseline" in flags[0].message
    assert "set_lamp" not in output.read_text("utf-8")
    shown = CliRunner().invoke(app, ["show", str(output), "--details"])
    assert "invalid-answers" in shown.stdout
    assert "12 of 24 with draft-model-n3" in page_of(output, tmp_path / "results")
