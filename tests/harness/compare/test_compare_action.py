"""The action for CI passes its inputs on, and the guide shows it as it is."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from harness.cli import app
from tests.processes import needs_shell

pytestmark = [needs_shell, pytest.mark.long]

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github" / "actions" / "compare"


def jobs_of_the_page() -> dict[str, Any]:
    page = (ROOT / "docs" / "engine-developers.md").read_text("utf-8")
    found = re.search(r"```text\n(jobs:.*?)```", page, re.DOTALL)
    assert found is not None
    jobs: dict[str, Any] = YAML(typ="safe", pure=True).load(found[1])["jobs"]
    return jobs


def test_the_workflow_of_the_page_names_inputs_and_options_that_exist() -> None:
    inputs = YAML(typ="safe", pure=True).load(ACTION / "action.yml")["inputs"]
    steps = [step for job in jobs_of_the_page().values() for step in job["steps"]]
    given = [step["with"] for step in steps if "actions/compare@" in step.get("uses", "")]
    shown = CliRunner().invoke(app, ["compare", "--help-all"]).stdout

    assert [each.keys() - inputs.keys() for each in given] == [set(), set()]
    options = [option for each in given for option in each.get("options", "").split()]
    assert [each for each in options if f"{each.partition('=')[0]} " not in shown] == []
    assert len(options) == 3


def called(folder: Path, verdict: str, code: int, **variables: str) -> int:
    """Run the action with a program that notes its words; return the action's exit code."""
    program = folder / "draftmap"
    program.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$@" > "{folder}/given"\n'
        f'printf \'{{\\n  "verdict": "{verdict}",\\n}}\'\n'
        f"exit {code}\n",
        "utf-8",
    )
    program.chmod(0o755)
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    own = {"RUNNER_TEMP": str(folder / "out"), "DRAFTMAP": str(program)}
    environment = {**os.environ, **files, **own, **variables}
    return subprocess.run([str(ACTION / "compare")], env=environment, check=False).returncode


@pytest.mark.parametrize(
    ("verdict", "code", "fail", "ends_with"),
    [
        ("no-difference", 0, "true", 0),
        ("slower", 1, "true", 1),
        ("slower", 1, "false", 0),
        ("invalid-answers", 4, "false", 4),
    ],
)
def test_the_action_ends_with_the_verdict(
    tmp_path: Path, verdict: str, code: int, fail: str, ends_with: int
) -> None:
    assert called(tmp_path, verdict, code, FAIL=fail) == ends_with

    outputs = (tmp_path / "GITHUB_OUTPUT").read_text("utf-8").splitlines()
    assert outputs[0] == f"verdict={verdict}"


def test_the_action_passes_options_on(tmp_path: Path) -> None:
    commands = "serve --port {port}\nserve --drafts 3 --port {port}\n"
    inputs = {"BASE": "old server", "HEAD": "new", "HEAD_COMMANDS": commands}

    called(tmp_path, "faster", 0, **inputs, FAIL_BELOW="0.95", OPTIONS="--target=a b\n\n--quick\n")

    given = (tmp_path / "given").read_text("utf-8").splitlines()
    assert given[:3] == ["compare", "--json", "--markdown"]
    assert given[6:] == [
        *("--base", "old server", "--head", "new"),
        *("--head-command", "serve --port {port}"),
        *("--head-command", "serve --drafts 3 --port {port}"),
        *("--fail-below", "0.95", "--target=a b", "--quick"),
    ]


def test_the_action_passes_inputs_as_variables_and_never_into_a_script() -> None:
    (step,) = YAML(typ="safe", pure=True).load(ACTION / "action.yml")["runs"]["steps"]

    assert "${{" not in step["run"]
    variables = "BASE HEAD BASE_COMMANDS HEAD_COMMANDS REFERENCE FAIL_BELOW OPTIONS FAIL"
    assert set(step["env"]) == set(variables.split())


def test_the_action_is_one_by_the_schema_of_actions() -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    asked = [checker, "--builtin-schema", "vendor.github-actions", ACTION / "action.yml"]

    done = subprocess.run(asked, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
