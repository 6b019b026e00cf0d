"""Does the gate let in new results and nothing else? On small repositories with hostile commits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline import gate, gate_report, git
from schemas.canonical import file_name
from tests.samples import sample, sample_bytes

if TYPE_CHECKING:
    from schemas.submission import Submission

ROOT = Path(__file__).parents[2]
FOLDER = "results/community"
# Whoever runs the tests may have signing, hooks or other names in their own configuration.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
SMALL = sample(tasks=("code",), prompts_per_task=1, blocks=1)
OTHER = sample(tasks=("math",), prompts_per_task=1, blocks=1, seed=3)


class Repository:
    """A repository whose branch `main` has one result, and a branch to put hostile commits on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "--quiet", "--initial-branch=main")
        (path / FOLDER).mkdir(parents=True)
        self.there = self.write(sample_bytes(OTHER), name_of(OTHER))
        (path / "README.md").write_text("A repository.\n", encoding="utf-8")
        self.commit()
        self.git("checkout", "--quiet", "-b", "pull-request")

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        done = subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
        return done.stdout.decode().strip()

    def write(self, data: bytes, name: str) -> Path:
        path = self.path / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A change")

    def judge(self) -> gate.Judgement:
        return gate.judge(self.path, base="main", head="pull-request")

    def rules(self) -> dict[str, set[str]]:
        return {
            path.removeprefix(f"{FOLDER}/"): {finding.rule for finding in found}
            for path, found in self.judge().findings.items()
        }


def name_of(submission: Submission) -> str:
    return file_name(
        machine="RTX 4060",
        target=submission.target.name,
        measured_from=submission.measured_from,
        data=sample_bytes(submission),
    )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_new_result_is_accepted(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()

    judgement = repository.judge()

    assert judgement.decision == "accepted"
    assert judgement.results == (f"{FOLDER}/{name_of(SMALL)}",)
    assert judgement.findings == {}


def test_a_pull_request_without_a_result_is_none_of_its_business(repository: Repository) -> None:
    (repository.path / "README.md").write_text("Better words.\n", encoding="utf-8")
    repository.commit()

    judgement = repository.judge()

    assert judgement.decision == "no-result"
    assert gate_report.note(judgement).startswith("This pull request touches no result")


def test_what_the_base_gained_meanwhile_is_not_blamed_on_the_pull_request(
    repository: Repository,
) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    (repository.path / "README.md").write_text("Moved on.\n", encoding="utf-8")
    repository.commit()

    assert repository.judge().decision == "accepted"


def test_a_symbolic_link_is_refused(repository: Repository) -> None:
    (repository.path / FOLDER / name_of(SMALL)).symlink_to("/etc/passwd")
    repository.commit()

    assert repository.rules() == {name_of(SMALL): {"path-mode"}}


def test_an_executable_file_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL)).chmod(0o755)
    repository.commit()

    assert repository.rules() == {name_of(SMALL): {"path-mode"}}


def test_a_submodule_is_refused(repository: Repository) -> None:
    entry = f"160000,{'1' * 40},{FOLDER}/module.json"
    repository.git("update-index", "--add", "--cacheinfo", entry)
    repository.git("commit", "--quiet", "--message", "A submodule")

    assert repository.rules() == {"module.json": {"path-mode"}}


def test_an_edit_of_a_result_is_refused(repository: Repository) -> None:
    repository.there.write_bytes(sample_bytes(SMALL))
    repository.commit()

    assert repository.rules() == {repository.there.name: {"path-not-added"}}


def test_a_removal_is_refused(repository: Repository) -> None:
    repository.there.unlink()
    repository.commit()

    assert repository.rules() == {repository.there.name: {"path-not-added"}}


def test_a_rename_is_a_removal_and_a_copy(repository: Repository) -> None:
    renamed = repository.there.name.replace("rtx-4060", "rtx-5090")
    repository.there.rename(repository.there.with_name(renamed))
    repository.commit()

    assert repository.rules() == {
        repository.there.name: {"path-not-added"},
        renamed: {"path-duplicate"},
    }


def test_a_result_that_becomes_a_link_is_refused(repository: Repository) -> None:
    repository.there.unlink()
    repository.there.symlink_to("../../README.md")
    repository.commit()

    assert repository.rules() == {repository.there.name: {"path-not-added"}}


def test_the_whole_folder_cannot_become_a_file(repository: Repository) -> None:
    repository.there.unlink()
    repository.there.parent.rmdir()
    (repository.path / FOLDER).write_text("no folder", encoding="utf-8")
    repository.commit()

    rules = repository.rules()

    assert rules[FOLDER] == {"path-name"}
    assert rules[repository.there.name] == {"path-not-added"}


@pytest.mark.parametrize(
    "name",
    [
        "Result.json",
        "result.JSON",
        "result.txt",
        ".gitattributes",
        "con.json",
        "lpt1.x.json",
        "a b.json",
        "r\u00e9sultat.json",
        "deeper/result.json",
        "::error::x.json",
        "x" * 102 + ".json",
    ],
)
def test_a_name_that_is_not_canonical_is_refused(repository: Repository, name: str) -> None:
    repository.write(sample_bytes(SMALL), name)
    repository.commit()

    assert repository.rules() == {name: {"path-name"}}


def test_a_name_that_does_not_fit_the_content_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), "rtx-4060--sample-7b--20261121-00000000.json")
    repository.commit()

    assert repository.rules() == {"rtx-4060--sample-7b--20261121-00000000.json": {"canonical-name"}}


def test_bytes_that_are_not_canonical_are_refused(repository: Repository) -> None:
    pretty = json.dumps(json.loads(sample_bytes(SMALL)), indent=2).encode()
    repository.write(pretty, name_of(SMALL))
    repository.commit()

    assert "canonical-form" in repository.rules()[name_of(SMALL)]


def test_malformed_json_is_refused_with_its_place(repository: Repository) -> None:
    repository.write(b'{"format": NaN}', "rtx-4060--sample-7b--20261121-0011aabb.json")
    repository.commit()

    assert repository.rules() == {"rtx-4060--sample-7b--20261121-0011aabb.json": {"json"}}


def test_too_many_bytes_are_refused_without_reading_them(repository: Repository) -> None:
    repository.write(b" " * (512 * 1024 + 1), "big--result--20261121-0011aabb.json")
    repository.commit()

    assert repository.rules() == {"big--result--20261121-0011aabb.json": {"path-size"}}


def test_another_change_beside_a_result_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    (repository.path / "Makefile").write_text("test:\n\ttrue\n", encoding="utf-8")
    (repository.path / ".gitattributes").write_text("*.json filter=x\n", encoding="utf-8")
    repository.commit()

    assert repository.rules() == {".gitattributes": {"path-outside"}, "Makefile": {"path-outside"}}


def test_a_result_that_is_there_already_is_refused(repository: Repository) -> None:
    copy = f"rx-7900{name_of(OTHER).removeprefix('rtx-4060')}"
    repository.write(sample_bytes(OTHER), copy)
    repository.commit()

    assert repository.rules() == {copy: {"path-duplicate"}}


def test_one_wrong_file_does_not_hide_the_findings_of_another(repository: Repository) -> None:
    repository.write(b"[]", "one--result--20261121-0011aabb.json")
    repository.write(b"{", "two--result--20261121-0011aabc.json")
    repository.write(b"{}", "Three.json")
    repository.commit()

    assert repository.rules() == {
        "one--result--20261121-0011aabb.json": {"schema-type"},
        "two--result--20261121-0011aabc.json": {"json"},
        "Three.json": {"path-name"},
    }


def test_a_flood_of_files_is_cut(repository: Repository) -> None:
    for number in range(gate.MAX_RESULTS + 5):
        repository.write(b"{}", f"flood-{number:03}.json")
    repository.commit()

    assert {"path-count"} in repository.rules().values()


def test_an_unknown_revision_is_a_fault_of_the_environment(repository: Repository) -> None:
    with pytest.raises(git.GitError, match="git rev-parse failed"):
        gate.judge(repository.path, base="main", head="--upload-pack=evil")


def test_nothing_that_a_stranger_wrote_begins_a_line(repository: Repository) -> None:
    hostile = "::warning::x\n::error file=a,line=1::y.json"
    repository.write(b"{}", hostile)
    repository.commit()

    judgement = repository.judge()
    said = [*gate_report.lines(judgement), *gate_report.summary(judgement).splitlines()]

    assert judgement.decision == "rejected"
    assert not any(line.lstrip().startswith("::") for line in said)
    assert all(line.isprintable() for line in said)


def test_annotations_are_escaped_and_at_most_ten() -> None:
    findings = {
        f"{FOLDER}/a,b:{number:02}%.json": (gate._finding("path-name", "50% of\r\nit"),)  # noqa: SLF001 - the finding that the gate itself makes
        for number in range(12)
    }
    judgement = gate.Judgement(
        base="0" * 40,
        head="1" * 40,
        decision="rejected",
        results=tuple(findings),
        findings=findings,
    )

    said = list(gate_report.commands(judgement))

    assert len(said) == 10
    assert said[3] == (
        '::error file="results/community/a%2Cb%3A03%25.json",title=Draftmap::'
        "$: 50%25 of%0D%0Ait [path-name]"
    )


def run_command(repository: Repository, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pipeline.gate_cli",
        "--base",
        "main",
        "--head",
        "pull-request",
    ]
    return subprocess.run(
        [*command, "--repository", str(repository.path), *options],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_prints_findings_and_writes_the_verdict(repository: Repository) -> None:
    repository.write(b"[]", "one--result--20261121-0011aabb.json")
    repository.commit()
    output = repository.path.parent / f"{repository.path.name}-gate"

    done = run_command(repository, "--output", str(output), "--annotate")

    path = f"{FOLDER}/one--result--20261121-0011aabb.json"
    message = "$: a list (entries: 0) has the wrong type, expected object [schema-type]"
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"{path}: {message}",
        f"::error file={path},title=Draftmap::{message}",
    ]
    verdict = json.loads((output / "verdict.json").read_bytes())
    assert verdict["decision"] == "rejected"
    assert verdict["head"] == repository.git("rev-parse", "pull-request")
    assert verdict["findings"][0]["rule"] == "schema-type"
    assert f"    {path}: {message}" in (output / "summary.md").read_text(encoding="utf-8")


def test_the_command_accepts_with_exit_code_0(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()
    summary = repository.path.parent / f"{repository.path.name}.md"

    done = run_command(repository, "--json", "--step-summary", str(summary))

    assert done.returncode == 0
    assert json.loads(done.stdout)["decision"] == "accepted"
    assert summary.read_text(encoding="utf-8").startswith("## Accepted\n")


def test_the_command_reports_a_missing_repository_with_exit_code_3(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.gate_cli", "--base", "a", "--head", "b"]

    done = subprocess.run(
        [*command, "--repository", str(tmp_path)], cwd=ROOT, capture_output=True, check=False
    )

    assert done.returncode == 3
    assert b"git rev-parse failed" in done.stderr


def test_judging_loads_neither_engine_nor_database() -> None:
    code = "import sys, pipeline.gate_cli; print(*sorted({m.split('.')[0] for m in sys.modules}))"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    heavy = {"duckdb", "llama_cpp", "polars", "altair", "pyarrow", "scipy", "numpy", "mkdocs"}
    assert "jsonschema" in done.stdout.split()
    assert heavy.isdisjoint(done.stdout.split())
