"""Run a workflow as GitHub would: its `run` steps, with local stand-ins for the host.

A checkout is a clone, artifacts are folders, and `gh` is a stateful recorder. Expressions are
filled in from a fake event, so the commands and their environment are those of the workflow.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
JSON_OF = re.compile(r"toJSON\(([a-z_.]+)\.\*\.([a-z_]+)\)")
CONDITION = re.compile(r"([a-z_.]+) == '([a-z_]+)'")
# Files of our repository that a run in the small ones needs.
PARTS = (
    "Makefile",
    "pipeline",
    "schemas",
    "estimates",
    "planner",
    "requirements/gate.lock",
    "tools",
)
INSTALLS_NOTHING = ("actions/setup-python",)


@dataclass(kw_only=True)
class Host:
    """GitHub on this disk: a repository, artifacts by name, and the state and log of `gh`."""

    folder: Path
    artifacts: dict[str, Path] = field(default_factory=dict)

    @property
    def origin(self) -> Path:
        return self.folder / "origin"

    @property
    def gh_state(self) -> Path:
        return self.folder / "gh.json"

    def knows(self, **answers: Any) -> None:  # noqa: ANN401 - JSON of GitHub
        """The answers of `gh`: `pulls`, `files` and `comments`."""
        state = {"pulls": [], "files": [], "comments": [], "calls": [], **answers}
        self.gh_state.write_text(json.dumps(state), encoding="utf-8")

    def state(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.gh_state.read_text(encoding="utf-8"))
        return value


GH = """#!{python} -IS
import json, sys
path = {state!r}
state = json.load(open(path))
words = sys.argv[1:]
assert words[0] == "api" and words[1] == "--method", words
method, address = words[2], words[3].partition("?")[0]
body = json.load(sys.stdin)["body"] if method != "GET" else None
state["calls"].append([method, words[3], body])
answer = {{}}
if method == "POST":
    robot = {{"login": "github-actions[bot]"}}
    number = 90 + len(state["comments"])
    state["comments"].append({{"id": number, "body": body, "user": robot}})
elif method == "PATCH":
    (comment,) = [c for c in state["comments"] if str(c["id"]) == address.rpartition("/")[2]]
    comment["body"] = body
else:
    answer = state[address.rpartition("/")[2]]
json.dump(state, open(path, "w"))
print(json.dumps(answer))
"""


def make_host(folder: Path) -> Host:
    """Make a host whose repository contains the current code and no result."""
    host = Host(folder=folder)
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *PARTS)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (host.origin / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, host.origin / name)
            shutil.copymode(ROOT / name, host.origin / name)
    git(host.origin, "init", "--quiet", "--initial-branch=main")
    commit(host.origin, "The project")
    tools = folder / "bin"
    tools.mkdir()
    (tools / "gh").write_text(GH.format(python=sys.executable, state=str(host.gh_state)))
    (tools / "gh").chmod(0o755)
    environment = folder / "venv"
    environment.mkdir()
    for part in ("bin", "lib", "pyvenv.cfg"):
        (environment / part).symlink_to(Path(sys.prefix) / part)
    for lock in ("gate", "site"):
        (environment / f".installed-{lock}").touch()
    host.knows()
    return host


def run_workflow(host: Host, name: str, event: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Run each job; returns name, exit code and output of each step that ran.

    As on GitHub: after a failure only steps with `if: always()` run.
    """
    document = YAML(typ="safe", pure=True).load(WORKFLOWS / f"{name}.yml")
    context = {"github": {"event": event, "repository": "someone/project", "token": "none"}}
    ran: list[tuple[str, int, str]] = []
    for job in document["jobs"].values():
        if "if" in job and not _holds(job["if"], context):
            continue
        workspace = host.folder / f"work-{name}"
        shutil.rmtree(workspace, ignore_errors=True)
        failed = False
        for step in job["steps"]:
            if failed and step.get("if") != "always()":
                continue
            code, said = _run_step(host, step, workspace, context)
            ran.append((step["name"], code, said))
            failed |= code != 0 and not step.get("continue-on-error", False)
    return ran


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder without user configuration; return its output."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, env=_environment())
    return done.stdout.decode().strip()


def commit(folder: Path, title: str) -> str:
    """Commit everything; returns the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", title)
    return git(folder, "rev-parse", "HEAD")


def _run_step(
    host: Host, step: dict[str, Any], workspace: Path, context: dict[str, Any]
) -> tuple[int, str]:
    if "run" in step:
        return _run_command(host, step, workspace, context)
    action = step["uses"].partition("@")[0]
    given = {key: _filled(str(value), context) for key, value in step.get("with", {}).items()}
    if action == "actions/checkout":
        git(host.folder, "clone", "--quiet", str(host.origin), str(workspace))
        git(workspace, "checkout", "--quiet", given.get("ref", "main"))
        for path in workspace.rglob("*.py"):
            os.utime(path, (0, 0))  # so that Python need not compile every clone again
    elif action == "actions/upload-artifact":
        _upload(host, given, workspace)
    elif action == "actions/download-artifact":
        return _download(host, given, workspace)
    else:
        assert action in INSTALLS_NOTHING, f"no stand-in for {action}"
    return 0, ""


def _run_command(
    host: Host, step: dict[str, Any], workspace: Path, context: dict[str, Any]
) -> tuple[int, str]:
    own = {key: _filled(str(value), context) for key, value in step.get("env", {}).items()}
    environment = {
        **_environment(),
        "PATH": f"{host.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPYCACHEPREFIX": str(host.folder / "compiled"),
        "VENV": str(host.folder / "venv"),
        **own,
    }
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(
        command, cwd=workspace, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _upload(host: Host, given: dict[str, str], workspace: Path) -> None:
    store = host.folder / "artifacts" / given["name"]
    shutil.rmtree(store, ignore_errors=True)
    host.artifacts.pop(given["name"], None)
    for name in given["path"].split():
        if (workspace / name).is_file():
            store.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(workspace / name, store / Path(name).name)
            host.artifacts[given["name"]] = store


def _download(host: Host, given: dict[str, str], workspace: Path) -> tuple[int, str]:
    if given["name"] not in host.artifacts:
        return 1, f"Artifact not found for name: {given['name']}"
    shutil.copytree(host.artifacts[given["name"]], workspace / given["path"])
    return 0, ""


def _filled(text: str, context: dict[str, Any]) -> str:
    return EXPRESSION.sub(lambda match: _evaluated(match[1], context), text)


def _evaluated(expression: str, context: dict[str, Any]) -> str:
    """`NAME`, `NAME || NAME` or `toJSON(NAME.*.KEY)`."""
    if listed := JSON_OF.fullmatch(expression):
        return json.dumps([each[listed[2]] for each in _value(listed[1], context) or ()])
    values = (_value(name, context) for name in expression.split(" || "))
    return str(next(filter(None, values), ""))


def _value(name: str, context: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON of an event
    """The value of a name; `None` if the event lacks it, as on GitHub."""
    value: Any = context
    for part in name.split("."):
        value = None if value is None else value.get(part)
    return value


def _holds(condition: str, context: dict[str, Any]) -> bool:
    match = CONDITION.fullmatch(condition)
    assert match, f"the dry runner does not know {condition!r}"
    return bool(_value(match[1], context) == match[2])


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
        },
    }
