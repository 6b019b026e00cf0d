"""The check of GitHub's settings names missing ones and the commands to set them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_workflows import GITHUB, read
from tools import live

KINDS = ("DELETION", "NON_FAST_FORWARD", "PULL_REQUEST", "REQUIRED_STATUS_CHECKS")
LABELS = (
    "bug", "result", "figure", "correction", "on-behalf", "letters", "public", "curation",
    "dependencies",
)  # fmt: skip


def answers(*labels: str, enforcement: str = "ACTIVE", checks: tuple[str, ...] = ("Gate",)) -> Any:  # noqa: ANN401 - JSON
    """GitHub's answers with all settings on, except for the changes in the arguments."""
    required = {"requiredStatusChecks": [{"context": name} for name in checks]}
    rules = [{"type": kind, "parameters": required if "CHECKS" in kind else None} for kind in KINDS]
    ruleset = {"enforcement": enforcement, "target": "BRANCH", "rules": {"nodes": rules}}
    of_tags = [{"type": kind, "parameters": None} for kind in ("CREATION", "UPDATE", "DELETION")]
    tags = {"enforcement": enforcement, "target": "TAG", "rules": {"nodes": of_tags}}
    lists = {
        "labels": {"nodes": [{"name": name} for name in labels]},
        "environments": {"nodes": []},
        "rulesets": {"nodes": [ruleset, tags]},
    }
    named = ("has_issues", "has_pages", "allow_squash_merge", "delete_branch_on_merge")
    on = dict.fromkeys(named, True)
    off = dict.fromkeys(("private", "allow_merge_commit", "allow_rebase_merge"), False)
    pull = {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": True}
    return {
        "repository": on | off,
        "actions": pull,
        "reports": {"enabled": True},
        "settings": {"data": {"repository": lists}},
    }


def missing(given: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    found = [*live.settings(given), *live.labels(given, live.declared_labels())]
    return {name: step for name, is_there, step in found if not is_there}


def test_a_label_that_is_missing_comes_with_its_command() -> None:
    assert missing(answers(*LABELS)) == {}
    assert missing(answers(*(name for name in LABELS if name != "result"))) == {
        "Label result": "gh label create result --color 0e8a16 "
        '--description "A result sent as an issue, to be added."'
    }


def test_a_setting_that_is_off_is_named() -> None:
    given = answers(*LABELS)
    given["repository"] |= {"has_pages": False, "allow_rebase_merge": True}
    given["reports"] = {"enabled": False}
    given["actions"] |= {"can_approve_pull_request_reviews": False}

    assert list(missing(given)) == [
        "Squash only",
        "Private reports",
        "Actions may open pull requests",
        "Pages",
    ]


def test_rules_count_only_while_they_are_active_and_no_check_but_the_gate_is_required() -> None:
    """Pull requests of forms start no workflow: another required check would never come."""
    gate = "Gate is the only required status check"

    assert set(missing(answers(*LABELS, enforcement="DISABLED"))) == {
        "Branch rules",
        "Tag rules",
        gate,
    }
    assert set(missing(answers(*LABELS, checks=("Gate", "Test")))) == {gate}


def test_the_ruleset_in_the_repository_is_one_that_passes() -> None:
    *others, checks = json.loads((GITHUB / "ruleset.json").read_bytes())["rules"]

    assert tuple(rule["type"].upper() for rule in (*others, checks)) == KINDS
    assert checks["parameters"]["required_status_checks"] == [{"context": live.GATE}]
    assert read(GITHUB / "workflows" / "submission.yml")["jobs"]["gate"]["name"] == live.GATE


def test_only_administrators_may_make_a_tag_that_starts_a_release() -> None:
    ruleset = json.loads((GITHUB / "ruleset-tags.json").read_bytes())
    rules = {rule["type"].upper() for rule in ruleset["rules"]}

    assert ruleset["conditions"]["ref_name"]["include"] == ["refs/tags/v*"]
    assert rules >= {"CREATION", "UPDATE", "DELETION"}
    assert [each["actor_id"] for each in ruleset["bypass_actors"]] == [5]  # the administrators


def test_answers_in_files_are_read_and_a_gap_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["live", str(tmp_path)])
    assert live.main() == 3
    for name, value in answers().items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), "utf-8")

    assert live.main() == 1
    lines = capsys.readouterr().out.splitlines()
    # Nobody is known, and the files in this repository name neither owners nor an address.
    assert [line[:7] for line in lines].count("missing") == len(LABELS) + 3
    assert lines[-1].startswith("off      Publishing to the package index")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("repository", None, "repository.json"),
        ("repository", "{}", "GitHub's answer has no key private"),
        ("actions", "[", "the answer actions is not JSON"),
        ("settings", "[1]", "the answer settings is not an object"),
        ("settings", '{"data": {}}', "GitHub's answer has no key repository"),
    ],
)
def test_a_wrong_answer_is_named_with_what_it_lacks(
    name: str,
    text: str | None,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["live", str(tmp_path)])
    for each, value in answers().items():
        (tmp_path / f"{each}.json").write_text(json.dumps(value), "utf-8")
    (tmp_path / f"{name}.json").unlink()
    if text is not None:
        (tmp_path / f"{name}.json").write_text(text, "utf-8")

    assert live.main() == 3
    assert says in capsys.readouterr().err
