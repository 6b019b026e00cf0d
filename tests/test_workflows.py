"""The workflows are pinned, have minimal permissions, and call only our own commands."""

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
# Windows has no make: there the commands of its targets are run.
OUR_COMMANDS = re.compile(
    r"(make [a-z]|git |python -m (harness|pipeline)\b|python -m pytest |"
    r"python -m tools\.|python -m pip install --no-deps --require-hashes )"
)
# Jobs with write permissions. All others may at most read the repository.
RIGHTS = {
    ("builds", "measure"): {"contents": "read"},
    ("ci", "test"): {"contents": "read"},
    ("ci", "harness"): {"contents": "read"},
    ("first-hour", "newcomer"): {"contents": "read"},
    ("nightly", "cases"): {"contents": "read"},
    ("nightly", "weights"): {"contents": "read"},
    ("nightly", "cold"): {"contents": "read"},
    ("nightly", "lowest"): {"contents": "read"},
    ("nightly", "advisories"): {"contents": "read"},
    ("release", "build"): {"contents": "read"},
    ("release", "publish"): {"contents": "write", "id-token": "write", "attestations": "write"},
    ("release", "index"): {"id-token": "write"},
    ("submission", "gate"): {"contents": "read"},
    ("comment", "comment"): {"contents": "read", "actions": "read", "pull-requests": "write"},
    ("checked", "record"): {"contents": "write", "statuses": "write"},
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
    """Read a YAML file for GitHub as plain values."""
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
    others = [command for command in commands if not OUR_COMMANDS.match(command)]
    # The job with rights to release has no checkout, so it runs nothing of the tag's own.
    assert [each.partition(" $TAG")[0].split()[:3] for each in others] == [
        ["gh", "release", "create"]
    ]
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
    # A filter on paths would leave a required check pending forever.
    on = read(GITHUB / "workflows" / "submission.yml")["on"]

    assert on.keys() == {"pull_request", "merge_group"}
    assert on["pull_request"].keys() == {"types"}
    assert {"opened", "synchronize", "reopened", "labeled"} <= set(on["pull_request"]["types"])
    assert on["merge_group"] is None


def test_a_label_is_consent_at_its_event_and_no_event_takes_it_away() -> None:
    on = read(GITHUB / "workflows" / "submission.yml")["on"]
    (environment,) = (step["env"] for _, step in steps() if "make gate" in step.get("run", ""))

    assert "unlabeled" not in on["pull_request"]["types"]
    assert environment["LABEL"] == "${{ github.event.label.name }}"


def test_no_step_that_installs_has_a_token() -> None:
    with_token = []
    for _, _, job in jobs():
        commands = [
            (step.get("run", ""), "GH_TOKEN" in step.get("env", {})) for step in job["steps"]
        ]
        for number, (command, has_token) in enumerate(commands):
            if has_token and command in ("make comment", "make send-form"):
                assert ("make setup LOCK=gate", False) in commands[:number]
                with_token.append(command)
            assert not (has_token and re.search(r"setup|install|pip", command))

    assert with_token == ["make comment", "make send-form"]


def test_community_results_have_no_owner() -> None:
    lines = (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]

    assert rules[-1].split() == ["/results/community/"]


def test_a_pull_request_of_results_installs_and_compiles_nothing() -> None:
    """The workflow Submission judges its results; a change of anything else runs all steps."""
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
    """It reads git without lazy fetches, so that a partial clone would end with exit code 3."""
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
