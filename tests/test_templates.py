"""Templates work if their README is followed word for word, and name every place to change."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.first_results import FIRST

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "templates"
KINDS = ("card", "flag", "page", "preset")
# Folders that the harness, the pipeline and the tests named below read.
NEEDED = (
    *("planner", "bench", "estimates", "harness", "pipeline", "schemas", "site_src", "tests"),
    *("tools", "ARCHITECTURE.md", "mkdocs.yml", "pyproject.toml"),
)
RESULTS = [path for path in FIRST if "smollm2-135m-instruct-f16--20261121" in path.stem]
STEP = re.compile(
    r"^(?:In `(?P<file>[^`]+)`, before `(?P<anchor>[^`]+)`|At the end of `(?P<end>[^`]+)`):\n"
    r"```\w+\n(?P<lines>.*?)```$",
    re.MULTILINE | re.DOTALL,
)
TESTED = (
    "tests/planner/test_names.py",
    "tests/estimates/test_flags.py",
    "tests/estimates/test_flag_list.py",
    "tests/estimates/test_plausibility_flags.py",
    "tests/harness/models/test_models.py::test_every_preset_draft_is_a_preset_of_the_same_vocabulary",
    "tests/test_architecture.py::test_a_page_of_queries_has_its_rows_and_its_place_in_the_navigation",
    "tests/test_architecture.py::test_every_flag_of_the_vocabulary_has_one_check_and_no_check_has_two_flags",
)
ASKED = """
import json, sys
from planner.names import read_machine
from planner.presets import default_draft, preset_named
from estimates.roofline import bandwidth_gb_per_s
from pipeline.data.database import open_database
from pipeline.site.pages import model, overviews
from pathlib import Path

site = model.Site(bundle="charts.js")
pages = overviews.overviews(open_database(Path("results")), site)
(card,) = read_machine("2x RTX 9999").cards
print(json.dumps({
    "card": [card.key, card.count, bandwidth_gb_per_s("NVIDIA GeForce RTX 9999")],
    "preset": [preset_named("Acme 7B").reference, default_draft("acme-7b").name],
    "page": {page.path: page.text for page in pages}["engines.md"],
}))
"""


def follow(kind: str, folder: Path) -> None:
    """Follow the README of a template in a copy of the repository."""
    files = TEMPLATES / kind / "files"
    if any(files.rglob("*")):
        shutil.copytree(files, folder, dirs_exist_ok=True)
    for step in STEP.finditer((TEMPLATES / kind / "README.md").read_text("utf-8")):
        path = folder / (step["file"] or step["end"])
        text = path.read_text("utf-8")
        at = len(text)
        if step["anchor"]:
            found = re.search(rf"^{re.escape(step['anchor'])}", text, re.MULTILINE)
            assert found is not None, step["anchor"]
            at = found.start()
        path.write_text(text[:at] + step["lines"] + text[at:], "utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with all templates applied."""
    folder = tmp_path_factory.mktemp("templates")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "browser")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    (folder / "results" / "community").mkdir(parents=True)
    for path in RESULTS:
        shutil.copy(path, folder / "results" / "community")
    for kind in KINDS:
        follow(kind, folder)
    return folder


def test_each_template_has_a_readme_of_five_steps_and_a_link() -> None:
    readmes = {path.parent.name: path.read_text("utf-8") for path in TEMPLATES.glob("*/README.md")}
    index = (TEMPLATES / "README.md").read_text("utf-8")

    assert tuple(sorted(readmes)) == KINDS
    for kind, readme in readmes.items():
        assert len(re.findall(r"^\d\. ", readme, re.MULTILINE)) == 5, kind
        assert readme.count("```") == 2 * len(STEP.findall(readme)) > 0, kind
        assert f"]({kind}/README.md)" in index
    assert "](templates/README.md)" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_templates_have_at_most_250_lines() -> None:
    files = [path for path in TEMPLATES.rglob("*") if path.is_file()]

    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= 250


@pytest.mark.nightly
def test_additions_from_the_templates_pass_their_tests(changed: Path) -> None:
    words = "acme or little or 9999 or every or of_queries or fixed or by_hand"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "-k", words, *TESTED], cwd=changed, check=False, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_a_card_a_preset_and_a_page_are_known_by_their_names(changed: Path) -> None:
    command = [sys.executable, "-c", ASKED]
    done = subprocess.run(command, cwd=changed, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    answers = json.loads(done.stdout)

    # 512 bits / 8 x 32 billion transfers a second.
    assert answers["card"] == ["rtx 9999", 2, 2048.0]
    assert answers["preset"] == ["acme/Acme-7B-GGUF:Q4_K_M", "qwen2.5-coder-0.5b"]
    assert "2 engines with results that count." in answers["page"]
    assert '<tr><td>llama.cpp server</td><td class="dm-num">1</td></tr>' in answers["page"]
