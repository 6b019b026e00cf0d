"""Each template works when its steps are followed in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEMPLATES = sorted(path.parent for path in (ROOT / "templates").glob("*/README.md"))
ROOMS = ("answers", "estimates", "harness", "pipeline", "schemas", "tests", "tools")
MOST_LINES = 250
# What a step does with a file of the template, or with a line that it gives.
COPY = re.compile(r"Copy `([^`]+)` to `([^`]+/)`")
APPEND = re.compile(r"Append `([^`]+)` to `([^`]+)`")
INSERT = re.compile(r"Insert `([^`]+)` before `([^`]+)` in `([^`]+)`")
ADD = re.compile(r"`([^`]+)` (after|before) `([^`]+)`(?: in `([^`]+)`)?")
# The tests that guard what a flag, a page and an importer need.
GUARDS = (
    "tests/test_architecture.py::test_every_flag_of_the_vocabulary_has_one_check_and_no_check_has_two_flags",
    "tests/test_architecture.py::test_a_page_of_pages_toml_has_its_rows_and_its_place_in_the_navigation",
    "tests/estimates/test_flags.py::test_a_flag_is_raised_once_by_its_example",
    "tests/estimates/test_flags.py::test_a_flag_is_not_raised_by_its_near_miss",
)


def follow(template: Path, copy: Path) -> None:
    """Take the steps of a template's README in a copy of the project."""
    for step in re.findall(r"^\d\. .*", (template / "README.md").read_text("utf-8"), re.MULTILINE):
        for name, folder in COPY.findall(step):
            shutil.copy(template / name, copy / folder)
        for name, file in APPEND.findall(step):
            text = (copy / file).read_text("utf-8")
            (copy / file).write_text(text + (template / name).read_text("utf-8"), "utf-8")
        for name, anchor, file in INSERT.findall(step):
            add(copy / file, (template / name).read_text("utf-8"), "before", anchor)
        if "Add `" in step:
            found = ADD.findall(step)
            (file,) = {file for *_, file in found if file}
            for line, side, anchor, _ in found:
                add(copy / file, f"{line}\n", side, anchor)


def add(path: Path, text: str, side: str, anchor: str) -> None:
    whole = path.read_text("utf-8")
    assert whole.count(f"{anchor}\n") == 1, f"{path.name} has no line {anchor!r}"
    both = f"{anchor}\n{text}" if side == "after" else f"{text}{anchor}\n"
    path.write_text(whole.replace(f"{anchor}\n", both), "utf-8")


@pytest.mark.long
def test_what_is_made_from_the_templates_passes_its_tests_and_the_guards(tmp_path: Path) -> None:
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "mkdocs.yml", "ARCHITECTURE.md"):
        shutil.copy(ROOT / name, tmp_path)
    for template in TEMPLATES:
        follow(template, tmp_path)
    copied = [path.relative_to(tmp_path) for path in tmp_path.rglob("test_acme*.py")]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider",
         *map(str, sorted(copied)), *GUARDS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip

    assert len(copied) == len(TEMPLATES) == 5
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda each: each.name)
def test_a_template_has_five_steps_and_each_of_its_files_is_in_one(template: Path) -> None:
    text = (template / "README.md").read_text("utf-8")

    assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) == 5
    for path in template.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in text, path.name


def test_the_templates_are_short() -> None:
    files = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]

    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= MOST_LINES
