"""The code is no larger than `house.toml` allows."""

import ast
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOUSE = tomllib.loads((ROOT / "house.toml").read_text("utf-8"))
PACKAGES = ("planner", "draftmap", "estimates", "harness", "pipeline", "schemas")

FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES]
TREES = {
    module.removesuffix(".__init__"): ast.parse(path.read_text("utf-8"))
    for module, path in zip(MODULES, FILES, strict=True)
}
NODES = {name: list(ast.walk(tree)) for name, tree in TREES.items()}


def lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def used_twice(names: list[str]) -> int:
    return len([name for name, count in Counter(names).items() if count > 1])


def reach(module: str) -> set[str]:
    seen, new = set[str](), {module}
    while new:
        seen |= new
        imports = [n for name in new for n in NODES[name] if isinstance(n, ast.ImportFrom)]
        named = {node.module for node in imports}
        named |= {f"{node.module}.{alias.name}" for node in imports for alias in node.names}
        new = (named & TREES.keys()) - seen
    return seen


def shape() -> dict[str, int]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [n for nodes in NODES.values() for n in nodes if isinstance(n, kinds)]
    sizes = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    classes = [n.name for tree in TREES.values() for n in tree.body if isinstance(n, ast.ClassDef)]
    stems = [path.stem for path in FILES if path.stem not in HOUSE["names_of_parts"]]
    return {
        "longest_file": max(map(lines, FILES)),
        "longest_function": max(sizes),
        "functions_over_40_lines": sum(size > 40 for size in sizes),
        "class_names_used_twice": used_twice([n for n in classes if not n.startswith("_")]),
        "file_names_used_twice": used_twice(stems),
        "modules_that_run_reaches": len(reach("harness.run.command")),
    }


def test_nothing_is_larger_than_house_toml_allows() -> None:
    sizes = {place: sum(map(lines, ROOT.glob(place))) for place in HOUSE["lines"]} | shape()

    limits = HOUSE["lines"] | HOUSE["shape"]
    assert sizes.keys() == limits.keys()
    assert {name: size for name, size in sizes.items() if size > limits[name]} == {}
