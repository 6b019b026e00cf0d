"""List the settings that are still missing on GitHub: `python -m tools.live [FOLDER]`.

The program makes four requests with `gh`, for which you must be an administrator of the
repository. With a FOLDER, it reads the answers from the folder's `repository.json`, `actions.json`,
`reports.json` and `settings.json`.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML

GITHUB = Path(__file__).resolve().parents[1] / ".github"
PAGE = "docs/maintaining.md"
GATE = "Gate"  # the job of the workflow Submission, and the status that forms set
ENVIRONMENT = "package-index"  # the environment of the job that publishes the wheel
KNOWN = GITHUB.parent / "results" / "lifecycle"
NOBODY = f"until some are known, no result decides or confirms anything; see {PAGE}, step 8"
_SETTINGS = """query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
  labels(first: 100) { nodes { name } }
  environments(first: 50) { nodes { name } }
  rulesets(first: 50) { nodes { enforcement target rules(first: 50) { nodes { type
    parameters { ... on RequiredStatusChecksParameters { requiredStatusChecks { context } } }
  } } } }
} }"""
REPOSITORY = "repos/{owner}/{repo}"  # gh fills in the placeholders
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "repository": (REPOSITORY,),
    "actions": (f"{REPOSITORY}/actions/permissions/workflow",),
    "reports": (f"{REPOSITORY}/private-vulnerability-reporting",),
    "settings": (
        *("graphql", "--field", "owner={owner}", "--field", "name={repo}"),
        *("--raw-field", f"query={_SETTINGS}"),
    ),
}
Answers = Mapping[str, Any]  # JSON of any shape, by the name of its question


def main() -> int:
    """Print a line for each setting; return 1 if one is missing, 3 if an answer is unreadable."""
    try:
        answers = from_folder(Path(sys.argv[1])) if sys.argv[1:] else from_gh()
        found = [*settings(answers), *labels(answers, declared_labels()), *files()]
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.stderr.write(
            f"GitHub's settings cannot be read: {error}. Run `gh auth login` as an administrator\n"
            f"and this program in a clone, or name a folder with the answers; see {PAGE}.\n"
        )
        return 3
    for name, is_there, step in found:
        sys.stdout.write(f"ok       {name}\n" if is_there else f"missing  {name}: {step}\n")
    known = len(list(KNOWN.glob("contributor--*.json")))
    sys.stdout.write(f"{'ok' if known else 'missing':<9}Known contributors: {known}; {NOBODY}\n")
    on = ENVIRONMENT in _names(answers, "environments")
    state = f"environment {ENVIRONMENT} exists" if on else f"off (optional); see {PAGE}, step 9"
    sys.stdout.write(f"{'ok' if on else 'off':<9}Publishing to the package index: {state}\n")
    return 0 if all(is_there for _, is_there, _ in found) else 1


def from_gh() -> Answers:
    """Ask GitHub about the repository of the current folder."""
    return {name: answer(name, _asked(words)) for name, words in QUESTIONS.items()}


def from_folder(folder: Path) -> Answers:
    return {name: answer(name, (folder / f"{name}.json").read_bytes()) for name in QUESTIONS}


class _Object(dict[str, Any]):
    """An object of an answer; a missing key is an error that names the key."""

    def __missing__(self, key: str) -> NoReturn:
        raise ValueError(f"GitHub's answer has no key {key}")


def answer(name: str, data: str | bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return the answer to a question. Raises `ValueError` if it is not a JSON object."""
    try:
        found = json.loads(data, object_hook=_Object)
    except ValueError as error:
        raise ValueError(f"the answer {name} is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise ValueError(f"the answer {name} is not an object")  # noqa: TRY004 - of bad input
    return found


def settings(answers: Answers) -> Iterator[tuple[str, bool, str]]:
    """Yield each required setting: its name, whether it is on, and the command to switch it on."""
    repository, actions = answers["repository"], answers["actions"]
    checks, rules = _active_rules(answers, "BRANCH")
    _, of_tags = _active_rules(answers, "TAG")
    change = f"gh api -X PATCH {REPOSITORY} -F"
    yield (
        "Public",
        not repository["private"],
        ("gh repo edit --visibility public --accept-visibility-change-consequences"),
    )
    yield "Issues", repository["has_issues"], f"{change} has_issues=true"
    squash = repository["allow_squash_merge"] and not (
        repository["allow_merge_commit"] or repository["allow_rebase_merge"]
    )
    others = "-F allow_merge_commit=false -F allow_rebase_merge=false"
    yield "Squash only", squash, f"{change} allow_squash_merge=true {others}"
    own = repository["delete_branch_on_merge"]
    yield "Merged branches are deleted", own, f"{change} delete_branch_on_merge=true"
    reports = f"gh api -X PUT {QUESTIONS['reports'][0]}"
    yield "Private reports", answers["reports"]["enabled"], reports
    write = f"gh api -X PUT {QUESTIONS['actions'][0]} -f default_workflow_permissions=read"
    pull = f"{write} -F can_approve_pull_request_reviews=true"
    yield "Actions may open pull requests", actions["can_approve_pull_request_reviews"], pull
    yield "Actions read by default", actions["default_workflow_permissions"] == "read", pull
    pages = f"gh api -X POST {REPOSITORY}/pages -f build_type=workflow"
    yield "Pages", repository["has_pages"], pages
    made = f"gh api -X POST {REPOSITORY}/rulesets --input .github/ruleset.json"
    wanted = {"DELETION", "NON_FAST_FORWARD", "PULL_REQUEST", "REQUIRED_STATUS_CHECKS"}
    yield "Branch rules", wanted <= rules, made
    tags = made.replace("ruleset.json", "ruleset-tags.json")
    yield "Tag rules", {"CREATION", "UPDATE", "DELETION"} <= of_tags, tags
    yield f"{GATE} is the only required status check", checks == {GATE}, made


def labels(answers: Answers, declared: list[dict[str, str]]) -> Iterator[tuple[str, bool, str]]:
    """Yield the name, state and command of each label that workflows and forms use."""
    there = _names(answers, "labels")
    for label in declared:
        name, colour, words = label["name"], label["color"], label["description"]
        step = f'gh label create {name} --color {colour} --description "{words}"'
        yield f"Label {name}", name in there, step


def files() -> Iterator[tuple[str, bool, str]]:
    """Yield the settings that are in files of the repository."""
    owners = re.search(r"^\*\s+@\S", (GITHUB / "CODEOWNERS").read_text("utf-8"), re.MULTILINE)
    yield "Owners in .github/CODEOWNERS", owners is not None, f"see {PAGE}, step 5"
    project = tomllib.loads((GITHUB.parent / "pyproject.toml").read_text("utf-8"))["project"]
    yield "Address in pyproject.toml", "urls" in project, f"see {PAGE}, step 10"


def declared_labels() -> list[dict[str, str]]:
    """The labels that the repository needs."""
    found: list[dict[str, str]] = YAML(typ="safe", pure=True).load(GITHUB / "labels.yml")
    return found


def _asked(words: tuple[str, ...]) -> str:
    command = ["gh", "api", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def _of_settings(answers: Answers, name: str) -> list[Any]:
    nodes: list[Any] = answers["settings"]["data"]["repository"][name]["nodes"]
    return nodes


def _names(answers: Answers, kind: str) -> set[str]:
    return {node["name"] for node in _of_settings(answers, kind)}


def _active_rules(answers: Answers, target: str) -> tuple[set[str], set[str]]:
    """The required checks and the types of rules in all active rulesets of branches or tags."""
    sets = [
        each
        for each in _of_settings(answers, "rulesets")
        if (each["enforcement"], each["target"]) == ("ACTIVE", target)
    ]
    rules = [rule for each in sets for rule in each["rules"]["nodes"]]
    required = [(rule.get("parameters") or {}).get("requiredStatusChecks", ()) for rule in rules]
    return {check["context"] for each in required for check in each}, {r["type"] for r in rules}


if __name__ == "__main__":
    sys.exit(main())
