"""`import` writes what the gate accepts, says what is missing, and exits with its codes."""

import json
import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.imports.command import HELP, ImportOptions
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.imports.samples import GREEDY, LOGS, SAMPLES
from tests.harness.test_options import not_in_help
from tests.pipeline.repositories import FOLDER, Repository


def call(*options: str, drop: str = "") -> Result:
    files = [str(SAMPLES / name) for name in LOGS]
    facts = [f"--map={key}={value}" for key, value in GREEDY.items() if key != drop]
    return CliRunner().invoke(app, ["import", *files, *facts, *options])


@pytest.mark.parametrize("licence", [(), ("--licence", "MIT")])
def test_an_imported_result_passes_the_gate_only_with_the_licence_of_its_source(
    tmp_path: Path, licence: tuple[str, ...]
) -> None:
    repository = Repository(tmp_path)

    done = call("--output", str(tmp_path / FOLDER), *licence)
    repository.commit()
    judgement = repository.judge()

    assert done.exit_code == 0
    assert ("No licence given" in done.stderr) is not bool(licence)
    assert judgement.decision == ("accepted" if licence else "rejected")
    rules = {finding.rule for finding in judgement.findings}
    assert rules == (set() if licence else {"licence-of-source"})


def test_the_example_in_the_help_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"- `(off[^`]+)`", HELP)
    words = shlex.split(" ".join(example.split()))
    values = {word for option, word in pairwise(words) if option == "--map"}
    names = [word for word in words if word not in values and not word.startswith("--")]
    for name, sample in zip(names, LOGS, strict=True):
        shutil.copy(SAMPLES / sample, tmp_path / name)
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(app, ["import", *words, "-o", "results"])

    assert result.exit_code == 0, result.stderr
    assert list((tmp_path / "results").iterdir())


def test_the_report_goes_to_stdout_and_the_rest_to_stderr(tmp_path: Path) -> None:
    result = call("--output", str(tmp_path / "out.json"), "--contributor", "ada")

    submission = read((tmp_path / "out.json").read_bytes())
    assert isinstance(submission, Submission)
    assert submission.contributor == "ada"
    assert ", never averaged with measured results" in result.stdout
    assert (
        "left out: texts, and rates, because they follow from times and tokens\n" in result.stderr
    )
    assert f"Result: {tmp_path / 'out.json'}" in result.stderr


def test_json_has_the_summary_and_what_was_left_out(tmp_path: Path) -> None:
    result = call("--output", str(tmp_path), "--json")

    said = json.loads(result.stdout)
    assert said.keys() == {"json_version", "file", "summary", "left_out"}
    assert said["file"] == str(*tmp_path.iterdir())
    assert said["left_out"] == [
        "texts, and rates, because they follow from times and tokens",
        "the statistics lines, because they are sums over all requests of a server",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--map", "target"], "expected key=value"),
        (["--map", "taget=x"], "no key 'taget'. Did you mean 'target'?"),
        (["--map", "backend=cude"], "not accepted. Did you mean 'cuda'?"),
        (["--map", "arm.llama-server-on=mpt"], "no such method. Did you mean 'mtp'?"),
        (["--map", "parameters=big"], "expected parameters of the target, such as 8.2B"),
        (["--map", "ram_mib=1.5"], "expected a whole number"),
        (["--map", "measured_from=May"], "expected a date such as 2026-05-17"),
        (["--map", "task=coding"], "not accepted. Did you mean 'code'?"),
        (["--contributor", "a b"], "--contributor 'a b': letters, digits and inner"),
        (["--output", f"{__file__}/none"], "cannot be written"),
    ],
)
def test_a_mistake_ends_in_one_line_and_its_code(
    options: list[str], said: str, tmp_path: Path
) -> None:
    where = [] if "--output" in options else ["--output", str(tmp_path)]

    result = call(*where, *options)

    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_fact_writes_nothing(tmp_path: Path) -> None:
    result = call("--output", str(tmp_path), drop="gpu")

    assert result.exit_code == 2
    assert "state them with --map: gpu=…" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_help_names_every_option() -> None:
    assert not_in_help(ImportOptions, "import") == set()
