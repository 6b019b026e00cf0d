"""How does the gate tell its judgement, to people, to the code host and to programs?"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.intake import comment, gate, neighbours, reply
from pipeline.intake.git import GitError
from tests.pipeline.repositories import FOLDER, SMALL, Repository, name_of
from tests.samples import sample_bytes

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_nothing_that_a_stranger_wrote_begins_a_line(repository: Repository) -> None:
    hostile = "::warning::x\n::error file=a,line=1::y.json"
    repository.write(b"{}", hostile)
    repository.commit()

    judgement = repository.judge()
    answer = reply.reply(judgement, neighbours.understood(repository.path, judgement))
    lines = [*reply.lines(judgement), *comment.body(answer).splitlines()]

    assert judgement.decision == "rejected"
    assert not any(line.lstrip().startswith("::") for line in lines)
    assert all(line.isprintable() for line in lines)


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

    found = list(reply.annotations(judgement))

    assert len(found) == 10
    assert found[3] == (
        '::error file="results/community/a%2Cb%3A03%25.json",title=Draftmap::'
        "$: 50%25 of%0D%0Ait [path-name]"
    )


def run_command(
    repository: Repository, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pipeline.intake",
        "gate",
        "--base",
        "main",
        "--head",
        "pull-request",
    ]
    return subprocess.run(
        [*command, "--repository", str(repository.path), *options],
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
    summary = (output / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## Not accepted yet\n\n1 problem in 1 result file.")
    assert f"- `{path}`\n    - `a list (entries: 0) has the wrong type" in summary


def test_the_command_accepts_with_exit_code_0(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()
    summary = repository.path.parent / f"{repository.path.name}.md"

    done = run_command(repository, "--json", "--step-summary", str(summary))

    assert done.returncode == 0
    assert json.loads(done.stdout)["decision"] == "accepted"
    assert summary.read_text(encoding="utf-8").startswith("## Accepted: thank you!\n")


@pytest.mark.parametrize(("action", "code"), [("opened", 1), ("synchronize", 1), ("labeled", 0)])
def test_a_label_counts_for_the_commit_that_it_was_set_on(
    repository: Repository, action: str, code: int
) -> None:
    repository.write(sample_bytes(SMALL), name_of(SMALL))
    repository.commit()

    done = run_command(repository, AUTHOR="eve", LABELS='["on-behalf"]', ACTION=action)

    assert done.returncode == code
    assert ("[contributor-author]" in done.stdout) == bool(code)


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
    assert "jsonschema" in done.stdout.split()
    assert heavy.isdisjoint(done.stdout.split())


def test_a_revision_that_names_nothing_is_said_in_one_line(repository: Repository) -> None:
    repository.write(b"{}", f"{FOLDER}/a.json")
    repository.commit()

    with pytest.raises(GitError) as caught:
        gate.judge(repository.path, base="mian", head="HEAD")

    assert str(caught.value) == (
        '"mian" names no commit of this clone; fetch it, or check the spelling'
    )
