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
from harness.imports.importers import IMPORTERS
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.imports.samples import ALL, SAMPLES, imported
from tests.harness.test_options import not_in_help
from tests.pipeline.repositories import FOLDER, Repository


def call(form: str, *options: str, drop: str = "") -> Result:
    files = [str(SAMPLES / name) for name in ALL[form].files]
    facts = [f"--map={key}={value}" for key, value in ALL[form].facts.items() if key != drop]
    return CliRunner().invoke(app, ["import", "--from", form, *files, *facts, *options])


def test_results_imported_from_every_format_pass_the_gate(tmp_path: Path) -> None:
    repository = Repository(tmp_path)

    output = ("--output", str(tmp_path / FOLDER), "--licence", "MIT")
    done = [call(form, *output) for form in IMPORTERS]
    repository.commit()
    judgement = repository.judge()

    assert [result.exit_code for result in done] == [0] * len(IMPORTERS)
    assert not any("No licence" in result.stderr for result in done)
    assert judgement.findings == ()
    assert judgement.decision == "accepted"
    assert len(judgement.results) == sum(len(imported(each).submissions) for each in IMPORTERS)
    assert {each.tier for each in judgement.submissions.values()} == {"imported"}


def help_examples() -> list[str]:
    """The commands in the help, each as one text."""
    return [" ".join(found.split()) for found in re.findall(r"- `(--from [^`]+)`", HELP)]


@pytest.mark.parametrize(("form", "example"), [*zip(IMPORTERS, help_examples(), strict=True)])
def test_the_example_of_every_format_in_the_help_works(
    form: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(example)
    values = {word for option, word in pairwise(words) if option in ("--from", "--map")}
    names = [word for word in words if word not in values and not word.startswith("--")]
    for name, sample in zip(names, ALL[form].files, strict=True):
        shutil.copy(SAMPLES / sample, tmp_path / name)
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(app, ["import", *words, "-o", "results"])

    assert (result.exit_code, form in example) == (0, True), result.stderr
    assert list((tmp_path / "results").iterdir())


def test_the_report_goes_to_stdout_and_the_rest_to_stderr(tmp_path: Path) -> None:
    result = call("llama-server", "--output", str(tmp_path / "out.json"), "--contributor", "ada")

    submission = read((tmp_path / "out.json").read_bytes())
    assert isinstance(submission, Submission)
    assert submission.contributor == "ada"
    assert ", never averaged with measured results" in result.stdout
    assert (
        "left out: texts, and rates, because they follow from times and tokens\n" in result.stderr
    )
    assert f"Result: {tmp_path / 'out.json'}" in result.stderr


def test_json_has_the_summaries_and_what_was_left_out(tmp_path: Path) -> None:
    result = call("llama-server", "--output", str(tmp_path), "--json")

    said = json.loads(result.stdout)
    assert said.keys() == {"json_version", "results", "left_out"}
    assert [each["file"] for each in said["results"]] == [str(*tmp_path.iterdir())]
    assert said["left_out"] == [
        "texts, and rates, because they follow from times and tokens",
        "the statistics lines, because they are sums over all requests of a server",
    ]


def test_records_of_others_without_their_licence_do_not_pass_the_gate(tmp_path: Path) -> None:
    repository = Repository(tmp_path)

    done = call("vllm", "--output", str(tmp_path / FOLDER))
    repository.commit()
    judgement = repository.judge()

    assert (
        "No licence given: these records may be shared only as their author allows." in done.stderr
    )
    assert judgement.decision == "rejected"
    rules = {finding.rule for finding in judgement.findings}
    assert rules == {"licence-of-source"}


PART = "sample-7b-instruct-vulkan"


def test_a_fact_may_apply_to_one_part_only(tmp_path: Path) -> None:
    result = call("llama-bench", "--map", f"{PART}/ram_mib=32768", "--output", str(tmp_path))

    assert result.exit_code == 0, result.stderr
    found = [read(path.read_bytes()) for path in tmp_path.iterdir()]
    memory = {s.engine.backend: s.machine.ram_mib for s in found if isinstance(s, Submission)}
    assert memory == {"cuda": None, "vulkan": 32768}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--map", "target"], "expected key=value"),
        (["--map", "taget=x"], "no key 'taget'. Did you mean 'target'?"),
        (["--map", "backend=cude"], "not accepted. Did you mean 'cuda'?"),
        (["--map", "method=mpt"], "no such method. Did you mean 'mtp'?"),
        (["--map", "parameters=big"], "expected parameters of the target, such as 8.2B"),
        (["--map", "ram_mib=1.5"], "expected a whole number"),
        (["--map", "measured_from=May"], "expected a date such as 2026-05-17"),
        (["--map", "task.chat=coding"], "no such task. Did you mean 'code'?"),
        (["--map", "task.chatt=chat"], "Did you mean 'chat'?"),
        (["--map", "other/gpu=x"], "have no part 'other'"),
        (["--contributor", "a b"], "--contributor 'a b': letters, digits and inner"),
        (["--output", f"{__file__}/none"], "cannot be written"),
    ],
)
def test_a_mistake_ends_in_one_line_and_its_code(
    options: list[str], said: str, tmp_path: Path
) -> None:
    where = [] if "--output" in options else ["--output", str(tmp_path)]

    result = call("vllm", *where, *options)

    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_gets_the_nearest_name() -> None:
    result = CliRunner().invoke(app, ["import", "--from", "llamabench", __file__])

    assert (result.exit_code, "Did you mean 'llama-bench'?" in result.stderr) == (2, True)


def test_a_missing_fact_writes_nothing(tmp_path: Path) -> None:
    result = call("vllm", "--output", str(tmp_path), drop="gpu")

    assert result.exit_code == 2
    assert "state them with --map: gpu=…" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_help_names_every_option() -> None:
    assert not_in_help(ImportOptions, "import") == set()
