"""Every name, path and command in documents, docstrings and comments exists in the code."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.features import COMMANDS
from pipeline.cli import app as pipeline_app
from pipeline.intake.cli import app as intake_app

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[1]
CODE = (
    "schemas",
    "estimates",
    "planner",
    "harness",
    "pipeline",
    "draftmap",
    "bench",
    "tools",
    "tests",
)
FOLDERS = (*CODE, "docs", "results", "site_src", "requirements", ".github", ".ci")
PROSE = {"", ".cff", ".cmake", ".css", ".in", ".jinja", ".js", ".md", ".sql", ".toml", ".yml"}
# Results, captures and prompts are other people's texts.
FOREIGN = (
    *("results", "requirements", "tests/captures", "tests/data", "bench/figures"),
    "harness/campaign/suites/core",
)
SPAN = re.compile(r"`+([^`]+)`+")
PATH = re.compile(rf"(?<![\w/.<-])(?:{'|'.join(map(re.escape, FOLDERS))})/[\w/.*<>-]*(?<![.-])")
FILE = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:cmake|csv|js|jinja|md|py|sql|toml|yml)")
DOTTED = re.compile(r"([a-z]\w*)((?:\.[A-Za-z_]\w*)+)(?:\(\))?")
WORD = re.compile(r"[A-Za-z]\w*_\w+|[A-Z][a-z]\w*[A-Z]\w*")
# Placeholders, files written later by a person or a build, and folders of other repositories.
FORM = re.compile(r"[<>]|NN|NAME|YYYY|vN")
ELSEWHERE = {
    *("results/lifecycle/", "matrix.toml", "devices/rtx-4060.md"),
    *("results/spec_restate", "results/exp6_rollback", "docs/results"),
    "answers/",  # a page of the site
}
# Names in llama.cpp's source.
IN_LLAMA_CPP = {
    *("common_speculative_are_compatible", "set_swa_pattern", "use_more_bits"),
    *("n_embd_k_gqa", "n_embd_v_gqa"),
}
MAKE = re.compile(r"(?:^ *|`|run: )make ([a-z][a-z-]*)")
MODULE = re.compile(rf"python3? -m ((?:{'|'.join(CODE)})\b[\w.]*)(?: ([a-z][a-z-]*)(?![\w.:-]))?")
INSTALLED = re.compile(r"(?:^ *|`)draftmap ([a-z][a-z-]*)(?![\w.:-])")
SUBCOMMANDS = {
    "harness": set(COMMANDS),
    "pipeline": {each.name for each in pipeline_app.registered_commands},
    "pipeline.intake": {each.name for each in intake_app.registered_commands},
}


class Line(NamedTuple):
    """A line of prose, or of a file that has no docstrings, and its place."""

    path: str
    number: int
    text: str

    def spans(self) -> list[str]:
        """The texts in back quotes."""
        return SPAN.findall(self.text)

    def __str__(self) -> str:
        return f"{self.path}:{self.number}"


@cache
def files() -> dict[str, Path]:
    """Every file that git tracks, or that the next commit could add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name: ROOT / name for name in listed.split("\0") if (ROOT / name).is_file()}


@cache
def prose() -> tuple[Line, ...]:
    """Lines of documents and other files; for Python, its docstrings and comments."""
    found: list[Line] = []
    for name, path in files().items():
        if name.startswith(FOREIGN):
            continue
        if path.suffix == ".py":
            lines: Iterable[tuple[int, str]] = of_python(path)[0]
        elif path.suffix in PROSE:
            lines = enumerate(path.read_text("utf-8").splitlines(), 1)
        else:
            continue
        found += [Line(name, number, text) for number, text in lines]
    return tuple(found)


@cache
def of_python(path: Path) -> tuple[Sequence[tuple[int, str]], set[str]]:
    """The prose of a module, docstrings and comments by line, and the words of its code."""
    text = path.read_text("utf-8")
    prose = [line for first, it in docstrings(text) for line in enumerate(it.splitlines(), first)]
    said, words = {number for number, _ in prose}, set[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            prose.append((token.start[0], token.string))
        elif token.type in {tokenize.NAME, tokenize.STRING} and token.start[0] not in said:
            words.update(re.findall(r"\w+", token.string))
    return prose, words


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            if docstring is not None:
                yield node.body[0].lineno, docstring


@cache
def words_of_code() -> set[str]:
    """Every word of code and data that is not prose."""
    found: set[str] = set()
    for name, path in files().items():
        if name.startswith(FOREIGN):
            continue
        if path.suffix == ".py":
            found |= of_python(path)[1]
        elif path.suffix in {".css", ".jinja", ".js", ".json", ".sql", ".toml", ".yml"}:
            text = re.sub(r"(?m)(?:^|\s)(?:#|--|//)\s.*", "", path.read_text("utf-8"))
            found.update(re.findall(r"\w+", text))
    return found


@cache
def members(path: Path) -> dict[str, set[str]]:
    """The names that a module defines at its top level, each with those of a class."""
    return {
        name: set().union(*(defined(child) for child in getattr(node, "body", ())))
        for node in ast.parse(path.read_text("utf-8")).body
        for name in defined(node)
    }


def defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name for each in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return {each.id for top in targets for each in ast.walk(top) if isinstance(each, ast.Name)}


def resolves(parts: tuple[str, ...], folder: Path = ROOT) -> bool:
    """Whether a dotted name is a package, a module, one of its names or a member of a class."""
    while parts and (folder / parts[0]).is_dir():
        folder, parts = folder / parts[0], parts[1:]
    if not parts:
        return True
    module = folder / f"{parts[0]}.py"
    module, rest = (module, parts[1:]) if module.exists() else (folder / "__init__.py", parts)
    if not rest:
        return True
    known = members(module) if module.exists() else {}
    return rest[0] in known and set(rest[1:]) <= known[rest[0]]


@cache
def modules() -> dict[str, tuple[Path, ...]]:
    """Our modules by their last name."""
    found: dict[str, tuple[Path, ...]] = {}
    for name, path in files().items():
        if path.suffix == ".py" and name.startswith(CODE):
            stem = path.parent.name if path.stem == "__init__" else path.stem
            found[stem] = (*found.get(stem, ()), path)
    return found


def test_every_path_that_is_named_exists() -> None:
    named = [(str(line), path) for line in prose() for path in PATH.findall(line.text)]
    missing = [
        f"{place}: {path}"
        for place, path in named
        if not (FORM.search(path) or path in ELSEWHERE)
        if not any(ROOT.glob(path.rstrip("/")))
    ]

    assert missing == []
    assert len(named) > 250


def test_every_file_name_in_back_quotes_is_that_of_a_file() -> None:
    named = [(str(line), span) for line in prose() for span in line.spans() if FILE.fullmatch(span)]
    ends = {
        "/".join(parts[start:])
        for parts in (name.split("/") for name in files())
        for start in range(len(parts))
    }
    missing = [
        f"{place}: {name}"
        for place, name in named
        if name not in ends | ELSEWHERE and not FORM.search(name)
    ]

    assert missing == []
    assert len(named) > 150


def test_every_dotted_name_in_back_quotes_is_in_its_module() -> None:
    named = [
        (str(line), match)
        for line in prose()
        for span in line.spans()
        if (match := DOTTED.fullmatch(span)) and not FILE.fullmatch(span)
        if match[1] in CODE or match[1] in modules()
    ]
    missing = [f"{place}: {match[0]}" for place, match in named if not is_known(match)]

    assert missing == []
    assert len(named) > 30


def is_known(match: re.Match[str]) -> bool:
    """Check whether a dotted name exists; without a package it may be a field of a file."""
    head, rest = match[1], tuple(match[2].split(".")[1:])
    if head in CODE:
        return resolves((head, *rest))
    known = (members(path) for path in modules()[head])
    return any(rest[0] in each for each in known) or {head, *rest} <= words_of_code()


def test_every_identifier_in_back_quotes_is_in_the_code() -> None:
    named = [
        (str(line), span.removesuffix("()"))
        for line in prose()
        for span in line.spans()
        if WORD.fullmatch(span.removesuffix("()"))
    ]
    known = words_of_code() | IN_LLAMA_CPP
    missing = [f"{place}: {name}" for place, name in named if name not in known]

    assert missing == []
    assert len(named) > 500


def test_every_target_of_make_that_is_named_is_in_the_makefile() -> None:
    files = (ROOT / "Makefile", *(ROOT / "tools").glob("*/targets.mk"))
    makefile = "\n".join(path.read_text("utf-8") for path in files)
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = [(str(line), name) for line in prose() for name in MAKE.findall(line.text)]

    assert [f"{place}: make {name}" for place, name in named if name not in targets] == []
    assert len(named) > 60


def test_every_command_that_is_named_exists() -> None:
    named = [(str(line), *match) for line in prose() for match in MODULE.findall(line.text)]
    named += [
        (str(line), "harness", word) for line in prose() for word in INSTALLED.findall(line.text)
    ]
    missing = [
        f"{place}: {module} {word}"
        for place, module, word in named
        if not resolves(tuple(module.split(".")))
        or (word and word not in SUBCOMMANDS.get(module, {word}))
    ]

    assert missing == []
    assert len(named) > 120
