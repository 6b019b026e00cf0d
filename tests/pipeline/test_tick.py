"""One form of each kind goes through the whole workflow, with a stand-in for GitHub."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from pipeline.cli import difference_command
from pipeline.intake import form, host, tick
from pipeline.intake.authorship import ROBOT, sending
from pipeline.intake.paths import PUBLISHED
from pipeline.intake.reply import VERDICT, from_file
from schemas.posted import to_text
from tests.pipeline.repositories import SMALL, Repository
from tests.pipeline.test_figure_form import ANSWERS, body
from tests.pipeline.test_form import GH, answered, event
from tests.processes import needs_shell
from tests.samples import sample_bytes

pytestmark = needs_shell


class Host:
    """A repository with its copy on a stand-in for GitHub, and the requests to it."""

    def __init__(
        self, repository: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.clone, self.folder = repository, folder
        self.remote, self.log = folder / "remote.git", folder / "log"
        repository.git("clone", "--quiet", "--bare", str(repository.path), str(self.remote))
        gh = folder / "bin" / "gh"
        gh.parent.mkdir()
        gh.write_text(GH.format(python=sys.executable), "utf-8")
        gh.chmod(0o755)
        monkeypatch.setenv("PATH", f"{gh.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv(host.REMOTE, str(self.remote))
        monkeypatch.setenv("LOG", str(self.log))
        monkeypatch.setenv("FORM", str(folder / "now"))

    def send(self, text: str, label: str) -> str:
        """Judge, build and send a form as the workflow does; return the head of its branch."""
        (self.folder / "now").write_text(text, "utf-8", newline="")
        filled, output = event(self.folder, text, label=label), self.folder / "form"
        form.form_command(event=filled, base="main", clone=self.clone.path, output=output)
        with pytest.raises(typer.Exit) as ended:
            difference_command(output, clone=self.clone.path, of_form=True)
        assert ended.value.exit_code == 0
        form.send_command(
            event=filled, folder=output, repository="o/r", branch="main", clone=self.clone.path
        )
        return self.head()

    def head(self) -> str:
        command = ["git", "-C", str(self.remote), "for-each-ref", "--format=%(objectname)"]
        shown = subprocess.run(
            [*command, "refs/heads/form/7"], capture_output=True, text=True, check=True
        )
        return shown.stdout.strip()

    def asked(self) -> dict[str, list[dict[str, str]]]:
        found: dict[str, list[dict[str, str]]] = {}
        for path, data in map(json.loads, self.log.read_text("utf-8").splitlines()):
            found.setdefault(path.removeprefix("repos/o/r/"), []).append(data)
        return found

    def edit(self, head: str, text: str, sender: str = "mae") -> None:
        """Edit the pull request's description, as GitHub tells the workflow."""
        base = self.clone.git("rev-parse", "main").strip()
        path = self.folder / "edited.json"
        asked = {
            "number": 8, "updated_at": "2026-11-25T12:00:00Z", "body": text,
            "head": {"ref": "form/7", "sha": head}, "base": {"ref": "main", "sha": base},
        }  # fmt: skip
        edited = {"sender": {"login": sender, "id": 9}, "pull_request": asked}
        path.write_text(json.dumps(edited), "utf-8")
        tick.checked_command(event=path, repository="o/r", clone=self.clone.path)


@pytest.fixture
def at_host(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(repository, tmp_path, monkeypatch)


def document(at_host: Host, revision: str) -> dict[str, object]:
    (path,) = at_host.clone.git("diff", "--name-only", "main", revision).split()
    assert path.startswith(PUBLISHED)
    found: dict[str, object] = json.loads(at_host.clone.git("show", f"{revision}:{path}"))
    return found


def test_a_ticked_box_makes_a_figure_checked(at_host: Host) -> None:
    head = at_host.send(body(ANSWERS), "figure")
    opened = next(filter(None, at_host.asked()["pulls"]))["body"]
    comment = at_host.asked()["issues/8/comments"][-1]["body"]

    at_host.edit(head, opened)
    assert at_host.head() == head  # not ticked yet
    at_host.edit(head, opened.replace("- [ ]", "- [x]"))

    assert "by `ada` at <https://example.org/t/1>" in comment
    pair = "2 \N{MULTIPLICATION SIGN} RTX 3060 12 GB + Qwen3.8-27B, MTP"
    moved = f"`{pair}`: none \N{RIGHTWARDS ARROW} 0.89\N{MULTIPLICATION SIGN}"
    assert moved in comment
    assert "nothing else moves" in comment
    newer = at_host.head()
    assert "checked_by" not in document(at_host, head)
    assert document(at_host, newer) == document(at_host, head) | {"checked_by": "mae"}
    ours = {"REPOSITORY": "o/r", "HEAD_REPOSITORY": "o/r"}
    sent = sending(at_host.clone.path, "main", newer, ROBOT, ours)
    assert (sent.author, sent.checker) == ("ada", "mae")
    assert [*at_host.asked()][-1] == f"statuses/{newer}"


def test_only_people_who_may_write_check_a_figure(at_host: Host) -> None:
    head = at_host.send(body(ANSWERS), "figure")

    with pytest.raises(SystemExit):
        at_host.edit(head, f"- [x] {form.BOX}", sender="eve")

    assert at_host.head() == head


def test_a_result_goes_through_the_same_workflow(at_host: Host) -> None:
    text = answered(to_text(sample_bytes(SMALL)))

    head = at_host.send(text, "result")

    comment = at_host.asked()["issues/8/comments"][-1]["body"]
    assert head
    assert "### What it changes" in comment
    with pytest.raises(SystemExit):
        at_host.edit(head, f"- [x] {form.BOX}")


def test_a_build_that_fails_leaves_no_acceptance(at_host: Host) -> None:
    (at_host.clone.path / "results" / "sources.toml").write_text("broken", "utf-8")
    at_host.clone.git("checkout", "--quiet", "main")
    at_host.clone.commit()
    filled, output = event(at_host.folder, body(ANSWERS), label="figure"), at_host.folder / "form"
    form.form_command(event=filled, base="main", clone=at_host.clone.path, output=output)
    assert from_file(output / VERDICT).decision == "accepted"

    with pytest.raises((typer.Exit, SystemExit)):
        difference_command(output, clone=at_host.clone.path)

    assert not (output / VERDICT).exists() or from_file(output / VERDICT).decision == "rejected"
