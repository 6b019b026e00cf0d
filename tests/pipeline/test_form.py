"""A result in an issue form becomes a branch with one file, or gets only a reply."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import PipelineError
from pipeline.intake import form, gate, host
from pipeline.intake.authorship import ROBOT, Sending, sending
from schemas.posted import BEGIN, END, to_text
from schemas.strict import MAX_BYTES
from tests.pipeline.repositories import FOLDER, OTHER, SMALL, Repository, name_of
from tests.processes import needs_shell
from tests.samples import sample_bytes

TEXT = to_text(sample_bytes(SMALL))
# Answers like GitHub and logs each request: the form's text is in FORM, requests go to LOG.
GH = """#!{python}
import json, os, sys
words, data = sys.argv[2:], {{}}
if "--input" in words:
    data = json.load(sys.stdin)
path = next(word for word in words if word.startswith("repos/"))
with open(os.environ["LOG"], "a") as log:
    log.write(json.dumps([path.partition("?")[0], data]) + "\\n")
if path.endswith("/issues/7"):
    print(json.dumps({{"body": open(os.environ["FORM"], newline="").read()}}))
elif path.endswith("/permission"):
    print(json.dumps({{"permission": "write" if "/mae/" in path else "read"}}))
elif "state=all" in path and os.path.exists(os.environ["FORM"] + "-was-opened"):
    print(json.dumps([{{"number": 8, "head": {{"sha": "1" * 40}}}}]))
elif "--input" not in words:
    print("[]")
else:
    print(json.dumps({{"number": 8, "id": 1}}))
"""


def event(folder: Path, body: str, author: str = "ada", label: str = "result") -> Path:
    """The event of a filled-in form, as GitHub documents it; the title is never used."""
    path = folder / "event.json"
    user = {"login": author, "id": 5, "type": "User"}
    issue = {
        "number": 7,
        "title": "$(touch pwned); `id` && rm -rf ~",
        "user": user,
        "labels": [{"name": label}],
        "created_at": "2026-11-25T10:00:00Z",
        "updated_at": "2026-11-25T10:00:00Z",
        "body": body,
    }
    path.write_text(json.dumps({"action": "opened", "issue": issue, "sender": user}), "utf-8")
    return path


def answered(body: str) -> str:
    return f"### The result\r\n\r\n{body}\r\n### Consent\r\n\r\n- [x] I measured it"


def proposed(repository: Repository, body: str) -> gate.Judgement:
    filled = form.read_event(event(repository.path, answered(body)))
    return form.propose(repository.path, "main", filled, Sending(author="ada"))[0]


def test_a_valid_form_becomes_one_new_file_by_its_author(repository: Repository) -> None:
    judgement = proposed(repository, TEXT.replace("\n", "\r\n"))

    head = judgement.head
    changed = repository.git("diff", "--name-status", "main", head)
    assert judgement.decision == "accepted"
    assert changed == f"A\t{FOLDER}/{name_of(SMALL)}"
    assert repository.git("log", "-1", "--format=%an <%ae>", head) == (
        "ada <5+ada@users.noreply.github.com>"
    )
    assert repository.git("branch", "--contains", head) == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("no result at all", "the form has no result"),
        ("<script>alert(1)</script>", "the form has no result"),
        ("-----BEGIN PGP MESSAGE-----\nabcd\n-----END PGP MESSAGE-----", "the form has no result"),
        (TEXT + TEXT, "the text contains 2 results"),
        (TEXT.replace(END, ""), "the first or the last line of the text is missing"),
        (f"{BEGIN}\n../../etc/passwd\n{END}", "the text is damaged"),
        (TEXT.replace("/Td6WFoA", "/Td6WFoB"), "the text is damaged"),
        (TEXT.replace("/Td6WFoA", "/Td6\u200bWFoA"), "the text is damaged"),  # as chats insert it
        (b"0" * (MAX_BYTES + 1), "larger than the limit of 524,288 bytes"),
        (b"0" * (20 << 20), "larger than the limit of 524,288 bytes"),  # a bomb
        (b"{}", "the field"),
        ("https://github.com/user-attachments/files/1/x.json", "the form has no result"),
        (
            sample_bytes(replace(SMALL, contributor="eve")),
            "the result names eve, but the pull request is by ada",
        ),
        (sample_bytes(replace(SMALL, notes="my token is ghp_" + "a1B2" * 9)), "token"),
        (sample_bytes(OTHER), "an existing result already has the same content"),
    ],
)
def test_an_invalid_form_is_answered_and_leaves_no_branch(
    repository: Repository, body: str | bytes, reason: str
) -> None:
    body = to_text(body) if isinstance(body, bytes) else body
    before = repository.git("for-each-ref")

    judgement = proposed(repository, body)

    assert judgement.decision == "rejected"
    assert reason in " ".join(finding.message for finding in judgement.findings)
    assert repository.git("for-each-ref") == before


def test_an_event_of_a_bot_is_ignored(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="is not an account that can send a result"):
        form.read_event(event(tmp_path, TEXT, author="dependabot[bot]"))


def sender(repository: Repository, author: str, branch_in: str = "o/r") -> str | None:
    given = {"REPOSITORY": "o/r", "HEAD_REPOSITORY": branch_in}
    return sending(repository.path, "main", "pull-request", author, given).author


def test_only_our_own_pull_requests_bring_the_results_of_another(repository: Repository) -> None:
    repository.add(SMALL)

    assert sender(repository, ROBOT) == "Ada"  # the commit's author, as `repositories` writes it
    assert sender(repository, ROBOT, "fork/r") == ROBOT  # a fork may be called anything
    assert sender(repository, "eve") == "eve"


def test_a_maintainer_who_merges_main_into_a_forms_branch_is_not_its_sender(
    repository: Repository,
) -> None:
    repository.add(SMALL)
    repository.git("checkout", "--quiet", "main")
    (repository.path / "README.md").write_text("Another text.\n", encoding="utf-8")
    repository.commit()
    repository.git("checkout", "--quiet", "pull-request")
    maintainer = ("-c", "user.name=Mae", "-c", "user.email=mae@example.org")
    repository.git(*maintainer, "merge", "--quiet", "--no-edit", "main")
    repository.git("commit", "--quiet", "--amend", "--no-edit", "--author=Mae <mae@example.org>")

    assert repository.git("show", "--no-patch", "--format=%an", "pull-request") == "Mae"
    assert sender(repository, ROBOT) == "Ada"


# Sends a form with these texts, then and now; returns the branches and the requests by path.
SendForm = Callable[[str, str], tuple[str, dict[str, list[dict[str, str]]]]]


@pytest.fixture
def sent(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SendForm:
    """Judge and send a form as the workflow does; return the branches and requests to GitHub."""
    remote, log = tmp_path / "remote.git", tmp_path / "log"
    repository.git("clone", "--quiet", "--bare", str(repository.path), str(remote))
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH.format(python=sys.executable), "utf-8")
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{gh.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(host.REMOTE, str(remote))
    monkeypatch.setenv("LOG", str(log))
    monkeypatch.setenv("FORM", str(tmp_path / "now"))

    def send(body: str, now: str) -> tuple[str, dict[str, list[dict[str, str]]]]:
        (tmp_path / "now").write_text(now, "utf-8", newline="")
        filled, output = event(tmp_path, body), tmp_path / "form"
        form.form_command(event=filled, base="main", clone=repository.path, output=output)
        form.send_command(
            event=filled, folder=output, repository="o/r", branch="main", clone=repository.path
        )
        asked: dict[str, list[dict[str, str]]] = {}
        for path, data in map(json.loads, log.read_text("utf-8").splitlines()):
            asked.setdefault(path.removeprefix("repos/o/r/"), []).append(data)
        command = ["git", "-C", str(remote), "for-each-ref", "--format=%(refname:short)"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout, asked

    return send


@needs_shell
def test_an_accepted_form_is_pushed_opened_checked_and_answered(sent: SendForm) -> None:
    branches, asked = sent(answered(TEXT), answered(TEXT))

    assert "form/7" in branches.split()
    (request,) = filter(None, asked["pulls"])
    assert (request["head"], request["base"]) == ("form/7", "main")
    ((status,),) = [asked[path] for path in asked if path.startswith("statuses/")]
    assert (status["state"], status["context"]) == ("success", "Gate")
    assert "Accepted" in asked["issues/8/comments"][-1]["body"]
    assert "pull request #8" in asked["issues/7/comments"][-1]["body"]


@needs_shell
@pytest.mark.parametrize(
    ("body", "now", "answer"),
    [
        (answered(to_text(b"{}")), answered(to_text(b"{}")), "Not accepted yet"),
        (answered(TEXT), "edited in the meantime", None),
    ],
)
def test_a_refused_or_edited_form_leaves_no_branch(
    sent: SendForm,
    body: str,
    now: str,
    answer: str | None,
) -> None:
    branches, asked = sent(body, now)

    assert "form/7" not in branches
    assert "pulls" not in asked
    written = " ".join(each.get("body", "") for each in asked.get("issues/7/comments", []))
    assert (answer in written) if answer else not written


@needs_shell
def test_a_form_that_became_a_pull_request_is_answered_and_not_pushed_again(
    sent: SendForm, tmp_path: Path
) -> None:
    (tmp_path / "now-was-opened").touch()

    branches, asked = sent(answered(TEXT), answered(TEXT))

    assert "form/7" not in branches
    assert "with a new form" in asked["issues/7/comments"][-1]["body"]
