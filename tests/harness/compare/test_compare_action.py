"""The workflow that the guide shows runs as it is, with stand-ins for the builds."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.harness.ggufs import write_gguf
from tests.harness.runners.llama_server import scripted
from tests.processes import needs_shell

pytestmark = [needs_shell, pytest.mark.long]

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github" / "actions" / "compare"
SMALL = "--tasks code --prompts 2 --max-tokens 9 --blocks 6"


class ActionRunner:
    """A CI machine with git, a CMake that makes stand-ins, and a small model."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.steps = folder, 0
        model = write_gguf(folder / "model.gguf", name="Big 7B")
        build = scripted.write(folder / "llama-server", build=7000)
        copied = (
            f"for d in build build-base build-head; do mkdir -p $d/bin; cp {build} $d/bin; done"
        )
        draftmap = f"PYTHONPATH={ROOT} exec {sys.executable} -m harness"
        options = f"--target {model} --method ngram-simple {SMALL}"
        self._program("git", "")
        self._program("cmake", copied)
        self._program("draftmap", f'{draftmap} "$@" {options}')
        (folder / "ci").mkdir()

    def _program(self, name: str, script: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n", "utf-8")
        path.chmod(0o755)

    def run(self, step: dict[str, Any]) -> str:
        """Run a step; returns the first of its outputs."""
        self.steps += 1
        folder = self.folder / f"step-{self.steps}"
        folder.mkdir()
        inputs = {key.upper().replace("-", "_"): each for key, each in step.get("with", {}).items()}
        environment = {
            **os.environ,
            **step.get("env", {}),
            **{key: str(each) for key, each in inputs.items() if key != "OPTIONS"},
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "DRAFTMAP": "draftmap",
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        }
        action = ROOT / ".github" / "actions" / "compare" / "compare"
        done = subprocess.run(
            ["/bin/bash", "-ec", step.get("run", str(action))],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        output = folder / "output"
        return output.read_text("utf-8").splitlines()[0] if output.exists() else ""


def jobs_of_the_page() -> dict[str, Any]:
    page = (ROOT / "docs" / "engine-developers.md").read_text("utf-8")
    found = re.search(r"```text\n(jobs:.*?)```", page, re.DOTALL)
    assert found is not None
    jobs: dict[str, Any] = YAML(typ="safe", pure=True).load(found[1])["jobs"]
    return jobs


@pytest.mark.nightly
@pytest.mark.usefixtures("cache_dir")
def test_the_first_run_writes_the_reference_and_the_next_ones_fit(tmp_path: Path) -> None:
    runner, jobs = ActionRunner(tmp_path), jobs_of_the_page()

    verdicts = [
        runner.run(step)
        for job in ("drafts", "drafts", "speed")
        for step in jobs[job]["steps"]
        if "checkout" not in step.get("uses", "")
    ]

    # Every job builds, then compares.
    assert verdicts[::2] == ["", "", ""]
    assert verdicts[1:4:2] == ["verdict=written", "verdict=no-difference"]
    assert verdicts[5] in {"verdict=no-difference", "verdict=unclear"}
    assert (tmp_path / "ci" / "tokens-per-round.json").is_file()
    assert "| `ngram-simple-n8` | code |" in (tmp_path / "step-4" / "summary").read_text("utf-8")


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
    (step,) = YAML(typ="safe", pure=True).load(ACTION / "action.yml")["runs"]["steps"]

    assert "${{" not in step["run"]
    variables = "BASE HEAD BASE_COMMANDS HEAD_COMMANDS REFERENCE FAIL_BELOW OPTIONS FAIL"
    assert set(step["env"]) == set(variables.split())


def test_the_action_is_one_by_the_schema_of_actions() -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    asked = [checker, "--builtin-schema", "vendor.github-actions", ACTION / "action.yml"]

    done = subprocess.run(asked, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
