"""A whole campaign on a real vLLM, through the command line, gives a valid result."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from estimates.summary import summarize
from harness.runners.http.counted_rounds import Counters, read_counters
from schemas.contract import read
from schemas.submission import Submission
from tools.vllm.environment import (
    BUILD,
    DRAFT,
    MODEL,
    ROOT,
    SPECULATION,
    ask,
    running,
    started,
    variables,
)

# In the order of the servers; the sizes are those of their command lines.
SIZES = {
    mode: f"n_max={each['num_speculative_tokens']}" for mode, each in SPECULATION.items() if each
}
METHODS = {
    "ngram": f"prompt-lookup:{SIZES['ngram']},ngram_min=2,ngram_max=4",
    "draft_model": f"draft-model:{SIZES['draft_model']}",
}
SHORT = ["--prompts", "code-sql-tool-library", "--max-tokens", "48", "--blocks", "1"]
# Three servers, one after another, on a machine with other work.
LIMIT_S = 1100


def harness(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=ROOT,
        env=variables(BUILD),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def measured(output: Path, *words: str) -> dict[str, Any]:
    """The result of a short campaign, which must be valid."""
    models = ["--target", f"{MODEL}:F32", "--draft", f"{DRAFT}:F32"]
    done = harness("run", "--runner", "openai", *models, *words, *SHORT, "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert harness("validate", str(output)).returncode == 0
    document: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return document


def trials(document: dict[str, Any], arm: str) -> list[dict[str, Any]]:
    return [trial for trial in document["trials"] if trial["arm"].startswith(arm)]


def counters(base_url: str) -> Counters:
    found = read_counters(ask(base_url, "/metrics").decode())
    assert found is not None
    return found


def test_servers_that_run_already_are_measured_and_counted_as_they_count_themselves(
    servers: dict[str, str], tmp_path: Path
) -> None:
    words = ["--base-url", servers["none"], "--backend", "cpu"]
    for mode, method in METHODS.items():
        words += ["--method", method, "--spec-base-url", servers[mode]]
    before = {mode: counters(servers[mode]) for mode in METHODS}

    document = measured(tmp_path / "result.json", *words)

    assert document["engine"]["name"] == "vLLM"
    assert document["engine"]["version"] == "0.32.0"
    assert all(trial["outcome"] == "ok" for trial in document["trials"])
    for mode, arm in (("ngram", "prompt-lookup"), ("draft_model", "draft-model")):
        [trial] = trials(document, arm)
        page = counters(servers[mode]).since(before[mode])
        # The page also counts the warm-up answer, which is not in the result.
        assert 0 < trial["drafted"] <= page.drafted
        assert trial["accepted"] <= page.accepted
        assert trial["output_tokens"] == 1 + trial["rounds"] + trial["accepted"]
        # Where the page and an answer differ, the page's numbers are next to the answer's.
        assert "metrics_drafted" not in trial
    [baseline] = trials(document, "baseline")
    assert baseline["drafted"] == 0
    assert baseline["rounds"] == baseline["output_tokens"] - 1


def test_servers_are_started_and_ended_and_a_draft_that_does_not_fit_is_named(
    tmp_path: Path,
) -> None:
    misfit = tmp_path / "misfit"
    shutil.copytree(
        BUILD / "models" / DRAFT, misfit, ignore=shutil.ignore_patterns("*.safetensors")
    )
    config = json.loads((misfit / "config.json").read_text(encoding="utf-8"))
    (misfit / "config.json").write_text(json.dumps(config | {"vocab_size": 49000}), "utf-8")
    speculation = {"method": "draft_model", "model": str(misfit), "num_speculative_tokens": 3}
    plain = shlex.join(started("none"))
    commands = ["--server-command", plain, "--backend", "cpu"]
    commands += ["--method", METHODS["draft_model"], "--spec-server-command"]
    commands += [f"{plain} --speculative-config {shlex.quote(json.dumps(speculation))}"]
    # Without an arm that runs, there would be no result.
    commands += [
        "--method",
        METHODS["ngram"],
        "--spec-server-command",
        shlex.join(started("ngram")),
    ]

    document = measured(tmp_path / "result.json", *commands)

    baseline, failed, _ = document["arms"]
    [trial] = trials(document, "baseline")
    assert trial["outcome"] == "ok"
    assert baseline["argv"][:1] == ["serve"]
    assert baseline["load_s"] > 0
    assert failed["reason"] == "vocabulary-mismatch"
    assert str(tmp_path) not in json.dumps(document)
    assert str(BUILD) not in json.dumps(document)
    assert running_from(str(BUILD / "models" / MODEL)) == []


def test_forced_acceptance_is_counted_as_set_and_costs_like_real_rounds(
    servers: dict[str, str], tmp_path: Path
) -> None:
    with running(BUILD, "draft_model", length=2.5) as forced:
        words = ["--base-url", servers["none"], "--backend", "cpu"]
        words += ["--method", METHODS["draft_model"], "--spec-base-url", servers["draft_model"]]
        words += ["--method", "forced:length=2.5,n_max=3", "--spec-base-url", forced]
        document = measured(tmp_path / "result.json", *words)

    submission = read((tmp_path / "result.json").read_bytes())
    assert isinstance(submission, Submission)
    costs = {each.arm: each.round_cost for each in summarize(submission).estimates}
    set_arm = next(arm["id"] for arm in document["arms"] if arm["method"]["type"] == "forced")
    [trial] = trials(document, set_arm)
    rounds = trial["rounds"]
    assert trial["drafted"] == pytest.approx(3 * rounds, abs=3)  # the last one may be shorter
    assert 1 + trial["accepted"] / rounds == pytest.approx(2.5, abs=0.4)
    [real] = [cost for arm, cost in costs.items() if arm.startswith("draft-model")]
    # A single answer on a machine with other work.
    assert costs[set_arm] == pytest.approx(real, rel=0.3)


def running_from(place: str) -> list[int]:
    """Processes whose command line contains a path."""
    lines = {each.pid: each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"])}
    return [pid for pid, words in lines.items() if any(place in word for word in words)]
