"""Does every module import only what its place allows? What import-linter cannot say by file."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[1]
PACKAGES = ("schemas", "estimates", "harness", "pipeline")
FEATURES = ("compare", "doctor", "fleet", "imports", "submit", "tune")
# Who may import an outside module at run time; a name stands for the module and all below it.
ALLOWED = {
    "typer": (
        *("harness.cli", "harness.command_help", "harness.command_options", "harness.console"),
        *("harness.commands", "harness.run.command", "harness.run.run_command"),
        *(f"harness.{feature}.command" for feature in FEATURES),
        *("harness.compare.compare_builds", "harness.compare.check_reference"),
        *("harness.tune.tune_request", "harness.run.month"),
        *("pipeline.cli", "pipeline.intake.cli", "pipeline.intake.form_cli"),
    ),
    "duckdb": ("pipeline.data", "pipeline.site"),
    "altair": ("pipeline.site.charts",),
    "vl_convert": (
        "pipeline.site.charts",
        "pipeline.site.addresses",
        "pipeline.site.build",
    ),
    "polars": (
        *("pipeline.data.formats", "pipeline.site.rows", "pipeline.site.charts"),
        *("pipeline.site.pages.columns", "pipeline.site.pages.cells"),
        "pipeline.site.pages.explore",
    ),
    "jinja2": ("pipeline.site.pages",),
    "subprocess": (
        *("harness.machine", "harness.submit.pull_request", "harness.runners", "harness.models"),
        "harness.plan.server_fit",
        "harness.fleet.worker",
        *(
            "pipeline.intake.git",
            "pipeline.intake.host",
            "pipeline.site.addresses",
            "pipeline.site.build",
        ),
    ),
    "llama_cpp": ("harness.runners", "harness.models"),
    "gguf": ("harness.models",),
    "huggingface_hub": ("harness.models",),
    "distributed": ("harness.fleet",),
    "rich": ("harness.console", "harness.commands", "harness.run.run_reports", "harness.report"),
    "multiprocessing": ("harness.runners", "pipeline.data.cached"),
}
# All that a leaf may import beside the standard library and itself.
LEAVES = {
    "schemas": {"jsonschema_rs", "msgspec", "orjson"},
    "estimates": {"schemas", "numpy"},
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(path: Path) -> ast.Module:
    """A module as a tree, read once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(tree: ast.AST) -> frozenset[str]:
    """The top names of all modules that are imported at run time, inside functions too."""
    return frozenset(name.split(".")[0] for name in _imported(tree))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def is_below(module: str, places: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in places)


@pytest.mark.parametrize("outside", sorted(ALLOWED))
def test_an_outside_module_stays_in_its_place(outside: str) -> None:
    strays = [
        dotted(path)
        for package in PACKAGES
        for path in modules(package)
        if outside in imported(parsed(path)) and not is_below(dotted(path), ALLOWED[outside])
    ]

    assert strays == []


@pytest.mark.parametrize("leaf", sorted(LEAVES))
def test_a_leaf_imports_little(leaf: str) -> None:
    allowed = LEAVES[leaf] | {leaf} | sys.stdlib_module_names

    strays = {
        dotted(path): found for path in modules(leaf) if (found := imported(parsed(path)) - allowed)
    }

    assert strays == {}


@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_no_module_is_longer_than_400_lines(package: str) -> None:
    long = {
        dotted(path): count
        for path in modules(package)
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }

    assert long == {}
