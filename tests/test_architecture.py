"""ARCHITECTURE.md describes the code as it is."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.app import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]


def layers_in_pyproject(package: str) -> list[set[str]]:
    (contract,) = (each for each in CONTRACTS["contracts"] if each.get("containers") == [package])
    return [set(re.split(r" [|:] ", layer)) for layer in contract["layers"]]


def layers_on_the_page(package: str) -> list[set[str]]:
    section = PAGE.split(f"### {package}:")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [set(re.findall(r"`(\w+)`", row)) for row in rows]


@pytest.mark.parametrize("package", ["harness", "pipeline"])
def test_the_page_lists_the_layers_that_import_linter_enforces(package: str) -> None:
    shown = layers_on_the_page(package)

    assert len(shown) > 4
    assert [room for layer in shown for room in sorted(layer)] == [
        room for layer in layers_in_pyproject(package) for room in sorted(layer)
    ]


@pytest.mark.parametrize("package", ["harness", "pipeline"])
def test_every_room_stands_in_a_layer(package: str) -> None:
    rooms = {
        path.stem
        for path in (ROOT / package).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__", "__main__"}

    assert rooms == set().union(*layers_on_the_page(package))


def test_every_path_on_the_page_exists() -> None:
    paths = re.findall(r"`((?:harness|pipeline|estimates|schemas|tests)/[\w/.]*)`", PAGE)

    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_first_command_to_try_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    block = PAGE.split("## Try it in two minutes")[1].split("```")[1]
    words = shlex.split(block.splitlines()[1])

    shown = CliRunner().invoke(app, words[words.index("harness") + 1 :])

    assert shown.exit_code == 0
    assert "prompt-lookup-n8" in shown.output
