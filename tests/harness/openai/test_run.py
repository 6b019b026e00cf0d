"""From the command line to a page, facts that a server does not state are unknown."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from estimates.summary import summarize
from harness.cli import app
from pipeline.data.database import open_database
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.submissions import submission_pages
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.ggufs import TOKENS, write_gguf
from tests.harness.openai.fake_answers import MODEL
from tests.harness.openai.fake_server import FakeServer
from tests.harness.openai.sessions import command, two

pytestmark = pytest.mark.usefixtures("cache_dir")

METHOD = ("--method", "draft-model:n_max=3", "--draft", "Tiny-0.1B:Q4_0")
SMALL = ("--tasks", "code,math", "--prompts", "1", "--max-tokens", "8", "--blocks", "1")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", "--runner", "openai", *arguments])


def measured(folder: Path, *arguments: str) -> Submission:
    """The valid result of a run that must succeed, in the file `out.json`."""
    done = call(*arguments, "-o", str(folder / "out.json"))
    assert done.exit_code == 0, done.stderr
    found = read((folder / "out.json").read_bytes())
    assert isinstance(found, Submission), found
    return found


def at(servers: tuple[FakeServer, FakeServer]) -> tuple[str, ...]:
    """The options that name two servers."""
    return ("--base-url", servers[0].url, "--spec-base-url", servers[1].url)


def page_of(folder: Path) -> str:
    """The site's page about the result file `out.json`."""
    (folder / "results" / "community").mkdir(parents=True)
    connection = open_database(folder / "results", (folder / "out.json",))
    site = Site(bundle="charts.js", repository=None, address=None)
    pages = [page for page in submission_pages(connection, site) if isinstance(page, Page)]
    (text,) = (page.text for page in pages if "## Verdict by task" in page.text)
    return text


def test_a_vllm_is_measured_by_its_address_alone(tmp_path: Path) -> None:
    with two() as servers:
        submission = measured(tmp_path, *at(servers), *METHOD, *SMALL)

    assert (submission.engine.runner, submission.engine.name) == ("openai", "vLLM")
    assert (submission.target.name, submission.target.quantisation) == (MODEL, "unknown")
    assert (submission.drafts[0].name, submission.drafts[0].quantisation) == ("Tiny-0.1B", "Q4_0")
    assert submission.settings.context_tokens == 2048
    assert submission.design.interleaved == "block"
    assert {trial.outcome for trial in submission.trials} == {"ok"}
    speculating = [trial for trial in submission.trials if trial.arm == "draft-model-n3"]
    assert len(speculating) == 2
    assert all(trial.accepted is not None and trial.drafted for trial in speculating)
    assert all(trial.compared_tokens == 8 for trial in speculating)
    assert "does not report how many tokens it drafted" not in page_of(tmp_path)


def test_a_tree_counts_by_its_levels(tmp_path: Path) -> None:
    tree = ("--method", "eagle3:n_max=3,nodes=15", "--draft", "Tiny-EAGLE3", "--backend", "cpu")
    with two(style="sglang", spec={"nodes": 15, "yields": 2}) as servers:
        submission = measured(tmp_path, *at(servers), *tree, *SMALL)

    (arm,) = (arm for arm in submission.arms if arm.role == "speculation")
    assert (arm.id, arm.method.n_max, arm.method.nodes) == ("eagle3-n3-t15", 3, 15)
    # Eight tokens are the first one and four rounds, of which the last is cut: 3 of 4 x 3 levels.
    found = [trial for trial in submission.trials if trial.arm == arm.id]
    assert [(each.rounds, each.drafted, each.accepted) for each in found] == [(4, 12, 3)] * 2
    assert "EAGLE-3, tree of 15" in page_of(tmp_path)


def test_a_draft_with_another_vocabulary_is_left_to_the_server(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "Tiny-1B.gguf")
    draft = write_gguf(tmp_path / "Tiny-0.1B.gguf", tokens=TOKENS[:100])
    pair = ("--target", str(target), "--method", "draft-model:n_max=3", "--draft", str(draft))
    with two(models=("Tiny-Test-1M-Instruct",)) as servers:
        submission = measured(tmp_path, *at(servers), *pair, *SMALL, "--backend", "cpu")

    assert submission.drafts[0].vocabulary_size == 100


def test_unreported_counters_are_unknown_on_the_page(tmp_path: Path) -> None:
    with two(style="plain") as servers:
        submission = measured(tmp_path, *at(servers), *METHOD, *SMALL, "--backend", "cpu")

    for trial in submission.trials:
        assert (trial.rounds, trial.drafted, trial.accepted) == (None, None, None)
        assert trial.output_tokens == 8
        assert trial.decode_ms
    page = page_of(tmp_path)
    assert "does not report how many tokens it drafted" in page
    assert "never drafted" not in page


def test_every_concurrency_has_its_own_baseline(tmp_path: Path) -> None:
    # After a warm-up of each arm, the two requests of the concurrent arm wait for each other.
    with two(spec={"alone": 2}) as servers:
        submission = measured(tmp_path, *at(servers), *METHOD, *SMALL, "--concurrency", "2,1")

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
    assert servers[1].state.most_in_flight == 2


def test_a_server_without_a_list_of_models_is_measured_once_its_model_is_named(
    tmp_path: Path,
) -> None:
    with two(style="mlx-lm") as servers:
        unnamed = call(*at(servers), *METHOD, *SMALL)
        submission = measured(tmp_path, *at(servers), *METHOD, *SMALL, "--target", "tiny:4bit")

    assert (
        "the server does not report which model it serves; name the model with --target"
        in unnamed.stderr
    )
    assert (submission.engine.name, submission.engine.backend) == ("mlx-lm", "cpu")
    assert submission.target.name.startswith("tiny")
    assert {"model" in body for body in servers[0].state.bodies} == {False}
    assert {trial.accepted for trial in submission.trials} == {None}


def test_a_dry_run_shows_what_would_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: program)
    servers = (
        "--server-command", "serve --port {port}",
        "--spec-server-command", "serve --fast --port {port}",
    )  # fmt: skip

    done = call("--target", "tiny", *servers, *METHOD, *SMALL, "--dry-run")

    assert done.exit_code == 0, done.stderr
    assert "  serve --port '{port}'\n  serve --fast --port '{port}'\n" in done.stdout
    assert "expected  unknown: the size of the target's weights is not known" in done.stdout


# ---- the same model and settings on both servers -----------------------------------------------
LOOKUP = ("--method", "prompt-lookup:n_max=3", "--backend", "cpu", *SMALL[:5], "16", *SMALL[6:])


@pytest.mark.parametrize(
    ("both", "other", "severity"),
    [
        ({}, {}, None),
        ({"style": "plain"}, {}, None),
        ({"style": "plain", "named": MODEL}, {}, None),
        ({"style": "ollama"}, {"parts_at": 12}, "caution"),
        ({"style": "plain"}, {"parts_at": 8}, "caution"),
        ({"style": "plain"}, {"parts_at": 7}, "serious"),
        ({"style": "ollama"}, {"parts_at": 0}, "serious"),
        # If tokens can be compared, they decide whether the texts differ.
        ({}, {"parts_at": 0}, None),
    ],
)
def test_texts_are_compared_if_there_are_no_token_ids(
    both: dict[str, Any], other: dict[str, Any], severity: str | None, tmp_path: Path
) -> None:
    with two(other, **both) as servers:
        submission = measured(tmp_path, *at(servers), *LOOKUP)

    flags = {each.name: each.severity for each in summarize(submission).flags}
    assert flags.get("diverged") == severity
    assert all(bool(each.text_sha256) != bool(each.output_sha256) for each in submission.trials)
    parted = {trial.equal_words for trial in submission.trials if trial.arm != "baseline"}
    assert parted == {other.get("parts_at") if severity else None}


@pytest.mark.parametrize("named", ["Tiny-0.1B-Instruct", "Tiny-1B-Instruct-AWQ"])
def test_an_answer_by_another_model_is_refused(named: str, tmp_path: Path) -> None:
    with two({"named": named}) as servers:
        done = call(*at(servers), *LOOKUP, "-o", str(tmp_path / "out.json"))

    assert done.exit_code == 3  # no arm that drafts is left
    assert f"the model {named} answered, but {MODEL} was requested" in done.stderr


@pytest.mark.parametrize(
    ("base", "spec", "severity"),
    [
        ("--threads 1 -ngl 0", "--threads 8 -ngl 99", "serious"),
        ("--threads 8 -ngl 99", "--threads 8 -ngl 99 --seed 2", None),
    ],
)
def test_servers_that_are_started_with_other_arguments_have_a_flag(
    base: str, spec: str, severity: str | None, tmp_path: Path
) -> None:
    plain, drafting = command(base), command("--depth", "3", spec)
    servers = ("--server-command", plain, "--spec-server-command", drafting)

    submission = measured(tmp_path, *servers, "--target", MODEL, *LOOKUP)

    flags = {each.name: each.severity for each in summarize(submission).flags}
    assert flags.get("arguments-differ") == severity


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


@pytest.mark.parametrize("base_calls", ["sound", "corrupt"])
def test_calls_that_only_speculation_corrupts_are_flagged(tmp_path: Path, base_calls: str) -> None:
    suite = tmp_path / "lamps.toml"
    suite.write_text(SUITE, "utf-8")
    with two({"calls": "corrupt"}, calls=base_calls) as servers:
        submission = measured(tmp_path, *at(servers), *METHOD, "--suite", str(suite))

    flags = [each for each in summarize(submission).flags if each.name == "invalid-answers"]
    if base_calls == "corrupt":
        assert not flags
        return
    assert [(each.severity, each.arm) for each in flags] == [("serious", "draft-model-n3")]
    # Three blocks of eight answers, every second one broken.
    assert "12 of 24 with draft-model-n3, 0 of 24 with baseline" in flags[0].message
    assert "set_lamp" not in (tmp_path / "out.json").read_text("utf-8")
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "out.json"), "--details"])
    assert "invalid-answers" in shown.stdout
    assert "12 of 24 with draft-model-n3" in page_of(tmp_path)
