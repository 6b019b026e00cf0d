"""Is every field that is an option in the help, filled from the command line, and checked?"""

import re
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from harness.campaign.options import Options
from harness.cli.app import app
from harness.cli.engines import EngineOptions
from harness.cli.import_ import ImportOptions
from harness.cli.options import offers_fields, option_names
from harness.cli.request import ResultOptions
from harness.errors import UsageError
from harness.fleet.options import FleetOptions, WorkerOptions
from harness.options import REQUIRED, comma_separated, option
from harness.runners.options import ConnectionOptions

COMMANDS = {
    Options: "run",
    EngineOptions: "run",
    ConnectionOptions: "run",
    ResultOptions: "run",
    ImportOptions: "import",
    FleetOptions: "fleet run",
    WorkerOptions: "fleet worker",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandwich:
    """One option of each kind, one that must be given, and a field that is none."""

    bread: str = option("What is around it.", name="with", short="-w", default=REQUIRED)
    slices: int = option("How many.", least=1, most=4, default=2)
    toasted: bool = option("Make it warm.", default=False)
    fillings: tuple[str, ...] = option("What is in it.", parse=comma_separated, default=())
    price: float | None = None


def made(*arguments: str) -> tuple[int, str]:
    application = typer.Typer()

    @application.command()
    @offers_fields
    def make(sandwich: Sandwich, name: Annotated[str, typer.Option()] = "lunch") -> None:
        typer.echo(f"{name}: {sandwich}")

    result = CliRunner().invoke(application, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_help_names_every_field_that_is_an_option(kind: type) -> None:
    shown = (
        CliRunner().invoke(app, [*COMMANDS[kind].split(), "--help"], env={"COLUMNS": "300"}).output
    )

    assert set(option_names(kind)) <= set(re.findall(r"--[a-z-]+", shown))


@pytest.mark.parametrize("command", [(), ("run",), ("models",), ("models", "check"), ("import",)])
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
def test_what_a_field_does_not_take_is_refused(arguments: tuple[str, ...]) -> None:
    assert made(*arguments)[0] == 2


def test_an_empty_list_is_not_everything() -> None:
    with pytest.raises(UsageError, match="empty list"):
        comma_separated([","])


RESULT = min((Path(__file__).parents[2] / "results" / "community").glob("*.json"))
HEAVY = {
    *("scipy", "numpy", "huggingface_hub", "llama_cpp", "gguf", "pynvml", "httpx", "httpx2"),
    "jsonschema",
}


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["methods"], set()),
        (["run", "--help"], set()),
        (["models", "--help"], {"numpy", "gguf"}),
        (["validate", str(RESULT)], {"numpy"}),
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
