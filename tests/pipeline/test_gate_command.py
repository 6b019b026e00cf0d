"""The gate states its verdict to people, to GitHub and to programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.intake import comment, reply
from pipeline.intake.git import GitError
from schemas.codec import content_digest
from schemas.migrations import forms
from tests.pipeline.repositories import FOLDER, SMALL, Repository, name_of
from tests.pipeline.tables import entry_on

ROOT = Path(__file__).parents[2]


def test_nothing_that_a_stranger_wrote_begins_a_line(repository: Repository) -> None:
    hostile = "::warning::x\n::error file=a,line=1::y.json"
    repository.write(b"{}", hostile)
    repository.commit()

    judgement = repository.judge()
    answer = reply.reply(judgement)
    lines = [*reply.lines(judgement), *comment.body(answer).splitlines()]

    assert judgement.decision == "rejected"
    assert not any(line.lstrip().startswith("::") for line in lines)
    assert all(line.isprintable() for line in lines)


def run_command(
    repository: Repository, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    gate_words = ("-m", "pipeline.intake", "gate", "--base", "main", "--head", "pull-request")
    return subprocess.run(
        [sys.executable, *gate_words, "--repository", str(repository.path), *options],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_prints_findings_and_writes_the_verdict(repository: Repository) -> None:
    repository.write(b"[]", "one--result--20261121-0011aabb.json")
    repository.commit()
    output = repository.path.parent / f"{repository.path.name}-gate"

    done = run_command(repository, "--output", str(output))

    path = f"{FOLDER}/one--result--20261121-0011aabb.json"
    message = "$: a list (entries: 0) has the wrong type, expected object [schema-type]"
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f"{path}: {message}"]
    verdict = json.loads((output / "verdict.json").read_bytes())
    assert verdict["decision"] == "rejected"
    assert verdict["head"] == repository.git("rev-parse", "pull-request")
    assert verdict["findings"][0]["rule"] == "schema-type"
    summary = (output / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## Not accepted yet\n\n1 problem in 1 result file.")
    assert f"- `{path}`\n    - `a list (entries: 0) has the wrong type" in summary


def test_the_command_accepts_with_exit_code_0(repository: Repository) -> None:
    repository.add(SMALL)
    output = repository.path.parent / f"{repository.path.name}-gate"

    done = run_command(repository, "--output", str(output))

    assert (done.returncode, done.stdout) == (0, "")
    assert (output / "summary.md").read_text("utf-8").startswith("## Accepted: thank you!\n")


@pytest.mark.parametrize(
    ("action", "label", "code"),
    [
        *(("opened", "", 1), ("synchronize", "", 1), ("labeled", "on-behalf", 0)),
        *(("labeled", "question", 1), ("unlabeled", "on-behalf", 1)),  # was set on another commit
    ],
)
def test_a_label_counts_for_the_commit_that_it_was_set_on(
    repository: Repository, action: str, label: str, code: int
) -> None:
    repository.add(SMALL)
    labels = json.dumps(["on-behalf", "question"])

    done = run_command(repository, AUTHOR="eve", LABELS=labels, ACTION=action, LABEL=label)

    assert done.returncode == code
    assert ("[contributor-author]" in done.stdout) == bool(code)


@pytest.mark.parametrize(("label", "code"), [("curation", 0), ("question", 1)])
def test_a_label_set_on_an_earlier_commit_permits_no_entry_on_a_later_one(
    repository: Repository, label: str, code: int
) -> None:
    entry = entry_on("ada", "quarantined")
    path = repository.path / "results" / "lifecycle" / entry.source.path.name
    path.parent.mkdir()
    path.write_text(entry.text, "utf-8")
    repository.commit()
    labels = json.dumps(["curation", "question"])

    done = run_command(repository, AUTHOR="eve", LABELS=labels, ACTION="labeled", LABEL=label)

    assert done.returncode == code
    assert ("results/lifecycle/" in done.stdout) == bool(code)


# The first digits of a commit's id are not enough: another commit with the same ones is found fast.
@pytest.mark.parametrize(("behind", "digits", "code"), [(0, 40, 0), (1, 40, 1), (0, 39, 1)])
def test_a_label_that_names_a_commit_counts_for_it_at_every_event(
    repository: Repository, behind: int, digits: int, code: int
) -> None:
    repository.add(SMALL)
    named = repository.git("rev-parse", "pull-request")[:digits]
    for _ in range(behind):
        repository.commit()
    labels = json.dumps([f"on-behalf@{named}", "on-behalf@"])

    done = run_command(repository, AUTHOR="eve", LABELS=labels, ACTION="unlabeled", LABEL="bug")

    assert done.returncode == code


def test_the_command_reports_a_missing_repository_with_exit_code_3(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.intake", "gate", "--base", "a", "--head", "b"]

    done = subprocess.run(
        [*command, "--repository", str(tmp_path)], cwd=ROOT, capture_output=True, check=False
    )

    assert done.returncode == 3
    assert b"git rev-parse failed" in done.stderr


def test_judging_loads_neither_engine_nor_database() -> None:
    code = "import sys, pipeline.intake.cli; print(*sorted({m.split('.')[0] for m in sys.modules}))"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    heavy = {"duckdb", "llama_cpp", "polars", "altair", "pyarrow", "mkdocs", "jinja2"}
    assert "jsonschema_rs" in done.stdout.split()
    assert heavy.isdisjoint(done.stdout.split())


def test_one_campaign_in_two_versions_of_the_format_is_a_duplicate(repository: Repository) -> None:
    for data in forms(SMALL):
        name = name_of(SMALL).rpartition("-")[0] + f"-{content_digest(data)}.json"
        repository.write(data, name)
    repository.commit()

    found = repository.judge().findings

    assert [each.rule for each in found] == ["duplicate"]


def test_a_name_of_both_a_branch_and_a_tag_is_refused_as_a_revision(repository: Repository) -> None:
    repository.add(SMALL)
    repository.git("tag", "main")  # resolves before the branch: nothing would seem to change

    with pytest.raises(GitError, match="is both a branch and a tag"):
        repository.judge()
