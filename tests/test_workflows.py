"""The workflows are pinned, have the least rights, and call our own commands."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
NAMES = [path.stem for path in WORKFLOWS]
PINNED = re.compile(r"uses: [a-z0-9-]+/[a-z0-9/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
# Windows has no make: there the commands behind its verbs are run.
OUR_COMMANDS = re.compile(
    r"(make [a-z]|git |python -m (harness|pipeline)\b|python -m pytest |"
    r"python -m pip install --no-deps --require-hashes )"
)
# Who may write, and what. Everything else reads the repository at most.
RIGHTS = {
    ("builds", "measure"): {"contents": "read"},
    ("ci", "test"): {"contents": "read"},
    ("ci", "harness"): {"contents": "read"},
    ("nightly", "weights"): {"contents": "read"},
    ("nightly", "cold"): {"contents": "read"},
    ("submission", "gate"): {"contents": "read"},
    ("comment", "comment"): {"contents": "read", "actions": "read", "pull-requests": "write"},
    ("form", "check"): {"contents": "read"},
    ("form", "send"): {
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
        "statuses": "write",
    },
    ("site", "build"): {"contents": "read"},
    ("site", "deploy"): {"pages": "write", "id-token": "write"},
}


def read(path: Path) -> dict[str, Any]:
    """A file of the code host as plain values."""
    document: dict[str, Any] = YAML(typ="safe", pure=True).load(path)
    return document


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [(p.stem, name, job) for p in WORKFLOWS for name, job in read(p)["jobs"].items()]


def steps() -> list[tuple[str, dict[str, Any]]]:
    return [(workflow, step) for workflow, _, job in jobs() for step in job["steps"]]


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name(tool)), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path", WORKFLOWS, ids=NAMES)
def test_every_action_is_pinned_and_says_its_version(path: Path) -> None:
    uses = [
        line.strip() for line in path.read_text(encoding="utf-8").splitlines() if " uses: " in line
    ]

    assert uses
    assert [line for line in uses if not PINNED.search(line)] == []


def test_a_job_has_the_rights_that_it_needs_and_no_more() -> None:
    assert {(workflow, name): job["permissions"] for workflow, name, job in jobs()} == RIGHTS


def test_a_step_runs_our_own_commands_only() -> None:
    commands = [step["run"] for _, step in steps() if "run" in step]

    assert commands
    assert [command for command in commands if not OUR_COMMANDS.match(command)] == []
    assert [command for command in commands if "\n" in command or "${{" in command] == []


def test_the_gate_checks_out_the_base_and_never_the_pull_request() -> None:
    (checkout,) = (
        step
        for workflow, step in steps()
        if workflow == "submission" and step.get("uses", "").startswith("actions/checkout@")
    )

    base = "github.event.pull_request.base.sha || github.event.merge_group.base_sha"
    assert checkout["with"]["ref"] == f"${{{{ {base} }}}}"


def test_the_workflow_with_rights_checks_out_nothing_of_the_pull_request() -> None:
    own = [step for workflow, step in steps() if workflow == "comment"]
    (checkout,) = (step for step in own if step.get("uses", "").startswith("actions/checkout@"))

    assert "ref" not in checkout["with"]
    assert "repository" not in checkout["with"]
    assert not any("git fetch" in step.get("run", "") for step in own)


def test_the_comment_waits_for_the_workflow_that_judges() -> None:
    waits = read(GITHUB / "workflows" / "comment.yml")["on"]["workflow_run"]

    assert waits["workflows"] == [read(GITHUB / "workflows" / "submission.yml")["name"]]


def test_the_gate_runs_for_every_pull_request() -> None:
    # A filter on paths would leave a required check pending for ever.
    on = read(GITHUB / "workflows" / "submission.yml")["on"]

    assert on.keys() == {"pull_request", "merge_group"}
    assert on["pull_request"].keys() == {"types"}
    assert {"opened", "synchronize", "reopened", "labeled"} <= set(on["pull_request"]["types"])
    assert on["merge_group"] is None


def test_community_results_have_no_owner() -> None:
    lines = (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]

    assert rules[-1].split() == ["/results/community/"]


ACTION = GITHUB / "actions" / "compare"


@pytest.mark.parametrize(
    ("verdict", "code", "fail", "ends_with"),
    [
        ("no-difference", 0, "true", 0),
        ("slower", 1, "true", 1),
        ("slower", 1, "false", 0),
        ("invalid-answers", 4, "false", 4),
    ],
)
def test_the_action_passes_options_on_and_sets_its_outputs(
    tmp_path: Path, verdict: str, code: int, fail: str, ends_with: int
) -> None:
    program = tmp_path / "draftmap"
    program.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" > "{tmp_path}/given"\n'
        f'echo "### Verdict" > "{tmp_path}/draftmap-out/draftmap/comment.md"\n'
        f'printf \'{{\\n  "verdict": "{verdict}",\\n}}\'\n'
        f"exit {code}\n",
        "utf-8",
    )
    program.chmod(0o755)
    (tmp_path / "draftmap-out").mkdir()
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}

    done = subprocess.run(
        [str(ACTION / "compare")],
        env={
            **os.environ,
            **files,
            "RUNNER_TEMP": str(tmp_path / "draftmap-out"),
            "DRAFTMAP": str(program),
            "BASE": "old server",
            "HEAD": "new",
            "HEAD_COMMANDS": "serve --port {port}\nserve --drafts 3 --port {port}\n",
            "FAIL_BELOW": "0.95",
            "OPTIONS": "--target=a b\n\n--blocks=12\n",
            "FAIL": fail,
        },
        check=False,
    )

    assert done.returncode == ends_with
    given = (tmp_path / "given").read_text("utf-8").splitlines()
    assert given[:3] == ["compare", "--json", "--markdown"]
    assert given[6:] == [
        *("--base", "old server", "--head", "new"),
        *("--head-command", "serve --port {port}"),
        *("--head-command", "serve --drafts 3 --port {port}"),
        *("--fail-below", "0.95", "--target=a b", "--blocks=12"),
    ]
    outputs = (tmp_path / "GITHUB_OUTPUT").read_text("utf-8").splitlines()
    assert outputs[0] == f"verdict={verdict}"
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8") == "### Verdict\n"


def test_the_action_passes_inputs_as_variables_and_never_into_a_script() -> None:
    (step,) = read(ACTION / "action.yml")["runs"]["steps"]

    assert "${{" not in step["run"]
    variables = "BASE HEAD BASE_COMMANDS HEAD_COMMANDS REFERENCE FAIL_BELOW OPTIONS FAIL"
    assert set(step["env"]) == set(variables.split())


def test_a_pull_request_of_results_installs_and_compiles_nothing() -> None:
    """What it adds is judged by the workflow Submission; a change of anything else runs all."""
    for job in (job for workflow, _, job in jobs() if workflow == "ci"):
        named = {step["name"]: step for step in job["steps"]}
        decide = named["See whether anything but results changed"]
        later = job["steps"][job["steps"].index(decide) + 1 :]

        assert ":(exclude)results/community" in decide["run"]
        assert decide["run"].startswith("git diff --quiet")
        assert {step["if"] for step in later} == {
            "github.event_name != 'pull_request' || steps.changes.outputs.code == 'true'"
        }


def test_the_gate_has_every_blob_that_it_may_read() -> None:
    """It reads git with lazy fetches switched off, so that a partial clone would be exit code 3."""
    for workflow, step in steps():
        if workflow == "submission":
            assert "filter" not in step.get("with", {})
            assert "--filter" not in step.get("run", "")


def test_the_site_is_built_with_the_cache_that_a_nightly_build_compares_with_none() -> None:
    caches = {
        (workflow, step["uses"].split("@")[0]): step["with"]
        for workflow, step in steps()
        if step.get("uses", "").startswith("actions/cache")
    }

    site, nightly = caches["site", "actions/cache"], caches["nightly", "actions/cache/restore"]
    assert site["path"] == nightly["path"] == "build/cache"
    assert site["restore-keys"] == nightly["key"]
    assert "make cold LOCK=site" in [step.get("run") for _, step in steps()]
