"""The repository is fit to publish: no trace of a machine, licences present, true statements."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools.format_reference import PAGE, page

ROOT = Path(__file__).parents[1]
TEXT = {
    *(".cff", ".css", ".csv", ".in", ".js", ".json", ".lock", ".md", ".py", ".sql", ".toml"),
    *(".yml", ""),
}
# Home folders of ada, ann and x occur only in the examples of tests.
HOME = re.compile(
    r"(?:/(?:home|Users|root)/|[A-Z]:\\Users\\)(?!(?:ada|ann|x)\b)[a-z][a-z0-9_-]*", re.IGNORECASE
)
INDEX = re.compile(r"index-url|--find-links|@ (?:file|https?)://|https?://")
WEB = ROOT / "tools" / "web"
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def tracked() -> list[Path]:
    """Every file that git tracks, and that the next commit could add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return [path for path in paths if path.is_file() and path.suffix in TEXT]


def test_every_class_of_a_stylesheet_is_on_a_page_or_in_a_script() -> None:
    site = [*(ROOT / "pipeline/site").rglob("*"), *(ROOT / "site_src").rglob("*")]
    pages = "\n".join(
        path.read_text("utf-8") for path in site if path.suffix in {".js", ".jinja", ".md", ".py"}
    )
    sheets = (ROOT / "site_src/assets/stylesheets").glob("*.css")
    classes = {
        name
        for sheet in sheets
        for selector in re.findall(r"([^{}]+)\{", sheet.read_text("utf-8"))
        for name in re.findall(r"\.(dm-[\w-]+)", selector)
    }

    # The part after `--` may be inserted by a template or a script.
    unused = [
        name
        for name in sorted(classes)
        if not re.search(rf"\b{name}(?![\w-])|\b{name.partition('--')[0]}--[{{$]", pages)
    ]

    assert len(classes) > 100
    assert unused == []


def test_no_file_contains_a_path_of_somebodys_machine() -> None:
    # This file names the pattern itself; captured tool output is checked where it is used.
    found = {
        str(path.relative_to(ROOT)): match[0]
        for path in tracked()
        if path != Path(__file__) and (match := HOME.search(path.read_text(encoding="utf-8")))
    }

    assert found == {}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_names_versions_and_hashes_and_no_index(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    packages = re.findall(r"^[a-z0-9][a-z0-9._-]*==\S+(?: ;[^\\\n]*)? \\$", text, re.MULTILINE)
    headed = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]

    assert len(packages) == len(headed) > 10
    assert re.findall(r"--hash=sha256:[0-9a-f]{64}", text)
    assert INDEX.search(text) is None


def test_the_lock_of_npm_has_exact_versions_and_hashes_and_no_registry() -> None:
    wanted = json.loads((WEB / "package.json").read_text("utf-8"))["devDependencies"]
    locked = json.loads((WEB / "package-lock.json").read_text("utf-8"))["packages"]
    packages = {name.removeprefix("node_modules/"): each for name, each in locked.items() if name}

    assert {name: packages[name]["version"] for name in wanted} == wanted
    assert all(each["integrity"].startswith("sha512-") for each in packages.values())
    assert not any("resolved" in each for each in packages.values())


def test_the_locks_of_less_agree_with_the_lock_of_everything() -> None:
    pins = {
        lock.stem: set(re.findall(r"^([a-z0-9._-]+==[^ ]+)", lock.read_text("utf-8"), re.MULTILINE))
        for lock in LOCKS
    }

    assert pins.keys() == {"audit", "container", "gate", "harness", "site", "test"}
    assert pins["container"] <= pins["test"]
    assert pins["harness"] | pins["site"] <= pins["test"]
    # The engine, which takes ten minutes to compile, and its own dependencies.
    engine = {pin.partition("==")[0] for pin in pins["harness"] - pins["site"]}
    assert engine == {"diskcache", "llama-cpp-python"}
    assert pins["gate"] <= pins["harness"] & pins["site"]


def test_the_gate_installs_no_engine_and_no_database() -> None:
    text = (ROOT / "requirements" / "gate.lock").read_text(encoding="utf-8")

    assert not re.search(r"^(llama|duckdb|polars|altair|pyarrow|mkdocs)", text, re.MULTILINE)


def test_every_declared_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # An engine of 600 MB has a lock for itself below `tools/`: CI does without it.
    extras = [
        wishes
        for name, wishes in project["optional-dependencies"].items()
        if not (ROOT / "tools" / name / "requirements.lock").exists()
    ]
    declared = [wish for wishes in [project["dependencies"], *extras] for wish in wishes]
    wanted = {re.split(r"[^a-z0-9-]", wish, maxsplit=1)[0] for wish in declared}
    text = (ROOT / "requirements" / "test.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9._-]+)==", text, re.MULTILINE))

    assert wanted - locked == set()


def test_every_link_between_documents_leads_to_a_file() -> None:
    documents = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    broken = [
        (path.name, link)
        for path in documents
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf-8"))
        if not (path.parent / link).exists()
    ]

    assert broken == []


def test_every_design_note_is_listed() -> None:
    folder = ROOT / "docs" / "design"
    notes = {path.name for path in folder.glob("0*.md")}

    assert set(re.findall(r"\((0[^)]+)\)", (folder / "README.md").read_text("utf-8"))) == notes


def test_the_format_page_has_the_fields_of_the_schema() -> None:
    assert page() == PAGE.read_text("utf-8"), "run: make format"


@pytest.mark.parametrize(
    "name", ["tools/install", "tools/chromium", "tools/web_environment", ".ci/run"]
)
def test_a_script_is_executable_and_stops_at_the_first_error(name: str) -> None:
    path = ROOT / name

    assert path.stat().st_mode & 0o111
    assert "\nset -euo pipefail\n" in path.read_text(encoding="utf-8")


def test_only_marked_tests_read_every_result() -> None:
    """The others read those of `tests.first_results`: no result that is merged later fails them."""
    folder = re.compile(r'(?:"results"|RESULTS) / "community"\)\.r?glob\(|COMMUNITY\.r?glob\("\*\.')
    readers = {
        path.name
        for path in (ROOT / "tests").rglob("test_*.py")
        if folder.search(text := path.read_text("utf-8")) and "mark.results" not in text
    }

    assert readers == set()
