"""The workflows lead from a pull request to its comment, step by step, without GitHub."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.intake.cli import MARKER
from schemas.submission import Submission
from tests.dry_runner import Host, commit, git, make_host, run_workflow
from tests.pipeline.repositories import FOLDER, name_of
from tests.samples import sample, sample_bytes

pytestmark = pytest.mark.long
NEW = sample(prompts_per_task=2, blocks=1, contributor="ada")
THERE = sample(prompts_per_task=2, blocks=1, seed=5, contributor="bob")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Host:
    host = make_host(tmp_path_factory.mktemp("host"))
    put(host, THERE)
    commit(host.origin, "A result")
    return host


@pytest.fixture
def host(shared: Host) -> Host:
    """A host with only the branch main."""
    git(shared.origin, "checkout", "--quiet", "--force", "main")
    shared.knows()
    shared.artifacts.clear()
    return shared


def put(host: Host, submission: Submission, data: bytes | None = None) -> str:
    path = host.origin / FOLDER / name_of(submission)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data or sample_bytes(submission))
    return f"{FOLDER}/{path.name}"


def open_pull_request(host: Host, *paths: str) -> dict[str, Any]:
    """Open pull request 7 from the origin's folder; returns the content of its events."""
    git(host.origin, "checkout", "--quiet", "--detach")
    head = commit(host.origin, "A pull request")
    git(host.origin, "update-ref", "refs/pull/7/head", head)
    git(host.origin, "checkout", "--quiet", "main")
    host.knows(
        pulls=[{"number": 6, "head": {"sha": "0" * 40}}, {"number": 7, "head": {"sha": head}}],
        files=[{"filename": path} for path in paths],
    )
    return {
        "pull_request": {
            "number": 7,
            "user": {"login": "ada"},
            "base": {"sha": git(host.origin, "rev-parse", "main")},
            "head": {"sha": head},
        },
        "workflow_run": {
            "id": 1,
            "event": "pull_request",
            "head_sha": head,
            "head_branch": "result/a&b=c d",
            "head_repository": {"owner": {"login": "ada"}},
        },
    }


def codes(ran: list[tuple[str, int, str]]) -> dict[str, int]:
    return {name: code for name, code, _ in ran}


def comments(host: Host) -> list[str]:
    return [comment["body"] for comment in host.state()["comments"]]


def test_an_accepted_result_gets_a_comment_with_its_interpretation(host: Host) -> None:
    event = open_pull_request(host, put(host, NEW))

    judged = run_workflow(host, "submission", event)
    said = run_workflow(host, "comment", event)

    assert set(codes(judged).values()) == {0}
    assert set(codes(said).values()) == {0}
    (body,) = comments(host)
    assert body.startswith(f"{MARKER}\n## Accepted: thank you!")
    assert "- Machine: `RTX 4060 8 GB`, `cuda`" in body
    assert "- `draft-model-n4`: △ helps, 1.71× " in body  # noqa: RUF001 - as printed
    assert "### What it changes" in body
    asked = host.state()["calls"][0]
    assert asked[:2] == [
        "GET",
        "repos/someone/project/pulls?state=open&head=ada%3Aresult%2Fa%26b%3Dc+d&per_page=100&page=1",
    ]


def test_a_rejected_result_gets_all_findings_and_the_same_comment_again(host: Host) -> None:
    broken = sample_bytes(replace(NEW, trials=(replace(NEW.trials[0], output_tokens=2),)))
    event = open_pull_request(host, put(host, NEW, broken), "Makefile")
    old = {"id": 5, "user": {"login": "github-actions[bot]"}, "body": f"{MARKER}\nold"}
    forged = {"id": 4, "user": {"login": "mallory"}, "body": f"{MARKER}\nAccepted"}
    state = host.state()
    host.knows(pulls=state["pulls"], files=state["files"], comments=[forged, old])

    judged = run_workflow(host, "submission", event)
    said = run_workflow(host, "comment", event)

    assert codes(judged)["Check the added results"] != 0
    assert codes(judged)["Upload the reply"] == 0
    assert codes(said)["Write the comment"] == 0
    first, second = comments(host)
    assert first.endswith("Accepted")
    assert "## Not accepted yet" in second
    assert "output_tokens" in second
    assert "old" not in second.splitlines()


@pytest.mark.nightly
def test_a_pull_request_without_a_result_gets_no_comment(host: Host) -> None:
    (host.origin / "README.md").write_text("Better words.\n", encoding="utf-8")
    event = open_pull_request(host, "README.md")

    judged = run_workflow(host, "submission", event)
    run_workflow(host, "comment", event)

    assert set(codes(judged).values()) == {0}
    assert comments(host) == []


def verdict_of(host: Host, text: str) -> None:
    folder = host.folder / "artifacts" / "hostile"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "verdict.json").write_text(text, encoding="utf-8")
    (folder / "summary.md").write_text("# Accepted @everyone", encoding="utf-8")
    host.artifacts["verdict"] = folder


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"decision": "accepted"}', "[" * 100_000, '{"a": NaN}', "x" * 600_000],
    ids=["empty", "list", "fields", "deep", "nan", "huge"],
)
def test_a_hostile_artifact_becomes_no_verdict(
    host: Host, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pipeline.intake import cli  # noqa: PLC0415 - the dry run of the command is below

    event = open_pull_request(host, put(host, NEW))
    verdict_of(host, text)
    monkeypatch.setenv("PATH", f"{host.folder / 'bin'}:/usr/bin:/bin")
    head = event["workflow_run"]["head_sha"]

    cli.write_comment(
        host.artifacts["verdict"] / "verdict.json", "someone/project", head, "ada:result"
    )

    (body,) = comments(host)
    assert "## Not checked" in body
    assert "everyone" not in body
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_pull_request_cannot_be_judged_by_checks_that_it_changes(host: Host) -> None:
    event = open_pull_request(host, put(host, NEW), ".github/workflows/submission.yml")
    claimed = {
        "format": "draftmap-verdict",
        "version": 1,
        "decision": "accepted",
        "base": "0" * 40,
        "head": event["workflow_run"]["head_sha"],
        "result_count": 1,
        "finding_count": 0,
        "results": [{"file": "x"}],
        "findings": [],
    }
    verdict_of(host, json.dumps(claimed))

    said = run_workflow(host, "comment", event)

    assert set(codes(said).values()) == {0}
    (body,) = comments(host)
    assert "do not count" in body
    assert "Accepted" not in body


def test_a_verdict_about_an_outdated_commit_is_not_posted(
    host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pipeline.intake import cli  # noqa: PLC0415 - see above

    open_pull_request(host, put(host, NEW))
    monkeypatch.setenv("PATH", f"{host.folder / 'bin'}:/usr/bin:/bin")

    said = cli.write_comment(tmp_path / "verdict.json", "someone/project", "1" * 40, "ada:result")

    assert said == "No open pull request has 1111111111 as its newest commit; nothing was written."
    assert comments(host) == []
