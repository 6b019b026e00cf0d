"""ARCHITECTURE.md describes the code as it is."""

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from estimates.flags import FLAGS
from harness.cli import app
from harness.runners import CONNECT
from pipeline.collection.plausibility import CORPUS_FLAGS
from pipeline.site.pages.overviews import PAGES
from schemas import validator
from schemas.vocabulary import RUNNERS
from schemas.vocabulary.axes import AXES
from schemas.vocabulary.flags import FLAGS as FLAG_WORDS
from tests.harness.runners.test_contract import CASES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]


def layers_in_pyproject(package: str) -> list[set[str]]:
    (contract,) = (each for each in CONTRACTS["contracts"] if each.get("containers") == [package])
    return [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]


def optional_in_pyproject() -> set[str]:
    """The features, in parentheses: each can be deleted."""
    return set(re.findall(r"\((\w+)\)", str(CONTRACTS["contracts"])))


def layers_on_the_page(package: str) -> list[set[str]]:
    section = PAGE.split(f"### {package}:")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return [set(re.findall(r"`(\w+)`", row)) for row in rows]


@pytest.mark.parametrize("package", ["planner", "harness", "pipeline"])
def test_the_page_lists_the_layers_that_import_linter_enforces(package: str) -> None:
    shown = layers_on_the_page(package)

    assert len(shown) > 4
    assert [room for layer in shown for room in sorted(layer)] == [
        room for layer in layers_in_pyproject(package) for room in sorted(layer)
    ]


@pytest.mark.parametrize("package", ["planner", "harness", "pipeline"])
def test_every_package_is_in_a_layer(package: str) -> None:
    rooms = {
        path.stem
        for path in (ROOT / package).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__", "__main__"}

    on_the_page = set().union(*layers_on_the_page(package))
    assert rooms <= on_the_page
    assert on_the_page - rooms <= optional_in_pyproject()


FOLDERS = "planner|bench|draftmap|estimates|harness|pipeline|schemas|docs|site_src|tests|tools"
PATH = re.compile(rf"`((?:{FOLDERS})/[\w/.-]*|[\w.]+\.(?:toml|yml))`")
RECIPES = {
    title: section.split("\n## ")[0]
    for title, _, section in (
        each.partition("\n") for each in PAGE.split("## Recipes")[1].split("\n### ")[1:]
    )
}


def named_in(word: str) -> set[str]:
    """The product's Python files that use a name or a text outside docstrings and comments."""
    found = set()
    for room in ("planner", "draftmap", "estimates", "harness", "pipeline", "schemas"):
        for path in (ROOT / room).rglob("*.py"):
            names = {
                name
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                for name in (
                    getattr(node, field, None) for field in ("id", "attr", "arg", "value", "name")
                )
                if isinstance(name, str)
            }
            if word in names:
                found.add(path.relative_to(ROOT).as_posix())
    return found


def test_every_step_of_a_recipe_names_its_files() -> None:
    assert list(RECIPES) == [
        f"Add {thing}"
        for thing in (
            "an axis",
            "a method",
            "a flag",
            "an engine",
            "a command",
            "a chart",
            "a page",
        )
    ]
    for title, recipe in RECIPES.items():
        steps = re.findall(r"^\d+\. (.+)$", recipe, re.MULTILINE)
        assert len(steps) >= 4, title
        assert [step for step in steps if not PATH.search(step)] == [], title


def test_an_axis_is_a_row_a_field_and_a_setting_of_the_format() -> None:
    schema = validator.schema(validator.SUBMISSION_SCHEMA)["$defs"]["settings"]["properties"]

    assert AXES.keys() <= schema.keys()
    # A model's experts on the CPU are an option, a setting, an argument and a filter by their row.
    assert named_in("cpu_expert_layers") == {"schemas/submission.py"}


def test_every_flag_of_the_vocabulary_has_one_check_and_no_check_has_two_flags() -> None:
    checks = [*FLAGS.values(), *CORPUS_FLAGS.values()]

    assert list(FLAG_WORDS) == [*FLAGS, *CORPUS_FLAGS]
    assert len(set(checks)) == len(checks)


def test_an_engine_is_a_module_with_a_function_connect_and_has_a_case_in_the_contract() -> None:
    engine = validator.schema(validator.SUBMISSION_SCHEMA)["$defs"]["engine"]["properties"]
    tried = {name.partition(" ")[0] for name in CASES} - {"fake"}

    assert CONNECT.keys() == RUNNERS.keys() == tried == set(engine["runner"]["enum"]) - {"imported"}


def test_a_page_of_queries_has_its_rows_and_its_place_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    queries = {path.stem for path in (ROOT / "pipeline/site/sql").glob("*.sql")}
    tables = {path.stem[3:] for path in (ROOT / "pipeline/data/sql").glob("*.sql")}

    for page, read in PAGES.items():
        assert f": {page}.md\n" in navigation
        assert {*read} <= queries | tables


def test_the_first_command_to_try_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    block = PAGE.split("## Try it in two minutes")[1].split("```")[1]
    words = shlex.split(block.splitlines()[1])

    shown = CliRunner().invoke(app, words[words.index("harness") + 1 :])

    assert shown.exit_code == 0
    assert "prompt-lookup-n8" in shown.output
