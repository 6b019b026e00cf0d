"""`methods` lists the values of `--method` and the runners that measure them."""

import json

from typer.testing import CliRunner

from harness.campaign.method_parser import METHODS, parse
from harness.cli import app
from schemas.vocabulary import RUNNERS


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["methods", *arguments])
    assert result.exit_code == 0
    return result.stdout


def test_every_method_is_listed_as_it_is_written() -> None:
    shown = [line for line in printed().splitlines() if line and not line.startswith(" ")][:-1]

    assert [line.partition(":")[0] for line in shown] == list(METHODS)
    assert [parse(line) for line in shown] == [parse(name) for name in METHODS]


def test_no_line_is_wider_than_a_terminal_of_80_columns() -> None:
    assert max(len(line) for line in printed().splitlines()) <= 80


def test_for_machines_it_names_the_runners_and_the_usual_sizes() -> None:
    listed = json.loads(printed("--json"))["methods"]

    assert listed["prompt-lookup"]["options"] == {"n_max": 8, "ngram_min": 2, "ngram_max": 4}
    assert listed["suffix"]["runners"] == ["llama-server", "openai"]
    assert listed["draft-model"]["options"]["p_min"] is None
    assert {runner for each in listed.values() for runner in each["runners"]} == set(RUNNERS)
