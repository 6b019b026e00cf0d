"""Every module imports only what its place allows; import-linter has no rules per file."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[1]
PACKAGES = ("schemas", "estimates", "planner", "harness", "pipeline")
OURS = (*PACKAGES, "draftmap", "tools", "bench", "tests")
FEATURES = (
    "acceptance",
    "compare",
    "doctor",
    "fleet",
    "imports",
    "plan",
    "probe",
    "submit",
    "tune",
    "verify",
)
# Modules that may import an outside package at run time; a name includes its submodules.
ALLOWED = {
    "typer": (
        *("harness.cli", "harness.command_help", "harness.command_options", "harness.console"),
        *("harness.commands", "harness.run.command", "harness.run.run_command"),
        *(f"harness.{feature}.command" for feature in FEATURES),
        *("harness.compare.reference", "harness.tune.tune_request"),
        *("pipeline.cli", "pipeline.intake.cli", "pipeline.intake.form", "pipeline.intake.tick"),
    ),
    "duckdb": ("pipeline.data", "pipeline.difference", "pipeline.site"),
    "altair": ("pipeline.site.charts",),
    "vl_convert": (
        "pipeline.site.charts",
        "pipeline.site.addresses",
        "pipeline.site.build",
    ),
    "polars": (
        *("pipeline.data.formats", "pipeline.site.rows", "pipeline.site.charts"),
        *("pipeline.site.pages.columnar", "pipeline.site.pages.explore"),
        "pipeline.site.pages.ledger",
    ),
    "jinja2": ("pipeline.site.pages",),
    "subprocess": (
        *("harness.machine", "harness.submit.pull_request", "harness.runners", "harness.models"),
        "harness.fleet.worker",
        *(
            "pipeline.intake.git",
            "pipeline.intake.host",
            "pipeline.site.addresses",
            "pipeline.site.build",
        ),
    ),
    "llama_cpp": ("harness.runners", "harness.models", "harness.acceptance.agreement"),
    "gguf": ("harness.models",),
    "huggingface_hub": ("harness.models",),
    "distributed": ("harness.fleet",),
    "rich": (
        *("harness.console", "harness.commands", "harness.run.run_reports", "harness.report"),
        *("harness.plan.report", "harness.probe.command"),
    ),
    "multiprocessing": ("harness.runners", "pipeline.data.cached"),
}
# Allowed imports of a leaf besides the standard library and itself.
LEAVES = {
    "schemas": {"jsonschema_rs", "msgspec", "orjson"},
    "estimates": {"schemas", "numpy"},
    "planner": {"estimates", "schemas", "msgspec"},
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module, parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(tree: ast.AST) -> frozenset[str]:
    """The top-level names of all modules imported at run time, also inside functions."""
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


def named(tree: ast.AST) -> dict[str, str]:
    """Map each imported name to its full name, such as `click` to `typer._click`."""
    return {
        each.asname or each.name.split(".")[0]: f"{node.module}.{each.name}"
        if isinstance(node, ast.ImportFrom)
        else each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }


def taken_from_libraries(tree: ast.AST) -> Iterator[str]:
    """Yield names imported from libraries, and each `module.name` used of them."""
    known = {*OURS, *sys.stdlib_module_names}
    theirs = {name: of for name, of in named(tree).items() if of.split(".")[0] not in known}
    yield from theirs.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            root, *attributes = _chain(node)
            if root in theirs:
                yield ".".join((theirs[root], *attributes))


def _chain(node: ast.expr) -> list[str]:
    """The parts of `module.part.name`; the first is empty if the chain starts with no name."""
    if isinstance(node, ast.Attribute):
        return [*_chain(node.value), node.attr]
    return [node.id if isinstance(node, ast.Name) else ""]


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


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


@pytest.mark.parametrize("package", OURS)
def test_nothing_private_of_a_library_is_used(package: str) -> None:
    """It may vanish in the next release, or be missing in the oldest supported one."""
    private = {
        dotted(path): found
        for path in modules(package)
        if (found := sorted({*filter(is_private, taken_from_libraries(parsed(path)))}))
    }

    assert private == {}


def test_private_names_of_libraries_are_found_in_every_form() -> None:
    source = """
import llama_cpp, typer._click.core
from typer._click import exceptions as errors
from harness.files import _ours
def read(self):
    from llama_cpp import _ggml
    return llama_cpp.llama_cpp._lib._name, self._own, llama_cpp.__file__, errors.UsageError
"""

    assert {*filter(is_private, taken_from_libraries(ast.parse(source)))} == {
        "typer._click.core",
        "typer._click.exceptions",
        "typer._click.exceptions.UsageError",
        "llama_cpp._ggml",
        "llama_cpp.llama_cpp._lib",
        "llama_cpp.llama_cpp._lib._name",
    }


@pytest.mark.parametrize("words", [["--version"], ["show", "missing.json"]])
def test_a_command_of_flags_and_paths_does_not_wait_for_pydantic(words: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "harness", *words]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert "typer" in done.stderr
    assert "pydantic" not in done.stderr


def test_a_plan_of_a_listed_model_imports_neither_the_hubs_client_nor_numpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    planning = [sys.executable, "-X", "importtime", "-m", "harness", "plan", "qwen3-8b"]
    command = [*planning, "--gpu", "RTX 4060 8 GB"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    slow = {"huggingface_hub.hf_api", "httpx", "requests", "numpy", "gguf", "psutil"}
    assert "planner.placement" in loaded
    assert loaded & slow == set()


@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_no_module_is_longer_than_400_lines(package: str) -> None:
    long = {
        dotted(path): count
        for path in modules(package)
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }

    assert long == {}
