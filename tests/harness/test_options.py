"""Every field that is an option is in the help, filled from the command line, and checked."""

import re
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from harness import console
from harness.campaign.options import Options
from harness.cli import app
from harness.command_options import offers_fields, option_names
from harness.errors import BadInputError
from harness.options import REQUIRED, Option, comma_separated, option
from harness.run.chosen_engine import EngineOptions
from harness.run.request import ResultOptions
from harness.runners.options import ConnectionOptions
from tests.first_results import FIRST

COMMANDS = {
    Options: "run",
    EngineOptions: "run",
    ConnectionOptions: "run",
    ResultOptions: "run",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandwich:
    """One option of each kind, a required one, and a field that is not an option."""

    bread: str = option("What is around it.", name="with", short="-w", default=REQUIRED)
    slices: int = option("How many.", least=1, most=4, default=2)
    toasted: bool = option("Make it warm.", default=False)
    fillings: tuple[str, ...] = option("What is in it.", parse=comma_separated, default=())
    price: float | None = None


def made(*arguments: str) -> tuple[int, str]:
    application = typer.Typer()

    @application.command()
    @console.reports_errors
    @offers_fields
    def make(sandwich: Sandwich, name: Annotated[str, typer.Option()] = "lunch") -> None:
        typer.echo(f"{name}: {sandwich}")

    result = CliRunner().invoke(application, arguments)
    return result.exit_code, result.output


def not_in_help(kind: type, command: str) -> set[str]:
    """The options that are missing in the help of a command."""
    words = [*command.split(), "--help-all"]
    shown = CliRunner().invoke(app, words, env={"COLUMNS": "300"}).output
    return set(option_names(kind)) - set(re.findall(r"--[a-z-]+", shown))


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_help_names_every_field_that_is_an_option(kind: type) -> None:
    assert not_in_help(kind, COMMANDS[kind]) == set()


@pytest.mark.parametrize("command", [(), ("run",), ("models",), ("models", "check")])
def test_a_flag_shows_no_type(command: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "300"}).output

    assert "--help" in shown
    assert "<bool>" not in shown


def test_every_choice_about_a_campaign_is_an_option() -> None:
    assert len(option_names(Options)) == len(fields(Options))


def test_a_value_is_filled_from_its_options() -> None:
    arguments = ("-w", "rye", "--slices", "3", "--toasted", "--fillings", "egg, ham", "--name", "x")

    done = made(*arguments, "--fillings", "cheese")

    value = Sandwich(bread="rye", slices=3, toasted=True, fillings=("egg", "ham", "cheese"))
    assert done == (0, f"x: {value}\n")
    assert made("--with", "rye") == (0, f"lunch: {Sandwich(bread='rye')}\n")


@pytest.mark.parametrize(
    "arguments",
    [(), ("--with", "rye", "--slices", "5"), ("--with", "rye", "--price", "2")],
    ids=["required", "out of bounds", "not offered"],
)
def test_a_value_that_a_field_does_not_accept_is_refused(arguments: tuple[str, ...]) -> None:
    assert made(*arguments)[0] == 2


@pytest.mark.parametrize(
    ("metavar", "text", "value"),
    [
        ("MINUTES", "10m", 10),
        ("MINUTES", "90s", 1.5),
        ("SECONDS", "2 min", 120),
        ("GIB", "32GB", 32),
        ("GIB", "512 MiB", 0.5),
        ("TOKENS", "8k", 8192),
        ("FRACTION", "3%", 0.03),
        ("N", "-1", -1),
    ],
)
def test_a_number_takes_the_units_that_people_write(metavar: str, text: str, value: float) -> None:
    whole = metavar in {"TOKENS", "N"}

    assert Option("", metavar=metavar).number("field", text, whole=whole) == value


@pytest.mark.parametrize(
    ("text", "whole", "message"),
    [
        (
            "10x",
            False,
            "--budget 10x: unknown unit x; give a number of minutes, such as 10, 90s or 2h",
        ),
        (
            "2h",
            True,
            "--budget 2h: give a whole number of minutes from 0.5 to 100, such as 10, 90s or 2h",
        ),
        ("0.1", False, "--budget 0.1: give a number of minutes from 0.5, such as 10, 90s or 2h"),
        (
            "1.5",
            True,
            "--budget 1.5: give a whole number of minutes from 0.5, such as 10, 90s or 2h",
        ),
    ],
)
def test_an_invalid_number_is_answered_with_the_allowed_values(
    text: str,
    whole: bool,  # noqa: FBT001
    message: str,
) -> None:
    most = {"10x": 1000, "2h": 100}.get(text)

    with pytest.raises(BadInputError, match=re.escape(message)):
        Option("", metavar="MINUTES", least=0.5, most=most).number("budget", text, whole=whole)


RESULT = FIRST[0]
HEAVY = {
    *("scipy", "numpy", "huggingface_hub", "llama_cpp", "gguf", "httpx", "httpx2"),
    "jsonschema",
}


def test_the_help_of_a_run_is_a_page_and_names_no_option_that_few_need() -> None:
    shown = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "80"}).output

    assert len(shown.splitlines()) <= 60
    assert max(map(len, shown.splitlines())) <= 80
    assert "  -m, --target MODEL " in shown
    assert sum(line.startswith("  -") for line in shown.splitlines()) == 12 + len(
        ("-h", "--help-all")
    )
    assert "--help-all" in shown
    assert "--split-mode" not in shown
    assert "small.gguf --method draft-model:n_max=3\n" in shown  # no command is broken


def test_text_that_is_not_utf_8_is_refused() -> None:
    result = CliRunner().invoke(app, ["run", "--notes", "caf\udce9"])

    assert result.exit_code == 2
    assert "--notes takes one line of at most 280 characters, in UTF-8" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["methods"], set()),
        (["run", "--help"], {"numpy", "huggingface_hub"}),
        (["models", "--help"], {"huggingface_hub"}),
        (["validate", str(RESULT)], set()),
        (["show", str(RESULT)], {"numpy"}),
    ],
)
def test_a_command_imports_no_package_that_it_does_not_need(
    arguments: list[str], needed: set[str]
) -> None:
    command = (sys.executable, "-X", "importtime", "-m", "harness", *arguments)

    told = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    ).stderr

    imported = set(re.findall(r"\| +(\w+)$", told, re.MULTILINE))
    assert {"harness", "typer"} <= imported
    assert imported & HEAVY <= needed
