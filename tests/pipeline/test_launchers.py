"""A launcher reads in ten lines whether to switch a method on, in Python and in JavaScript."""

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from pipeline.site.pages.launchers import COLUMNS, FOLDER, QUANTISATIONS, key, methods_of
from planner.answer import answer
from planner.evidence import PairFigure
from planner.listed import question_by_name
from planner.machines import MachineWords, described_computer
from planner.names import read_model
from tests.scripts import NODE
from tests.sites import built_site
from tools.serve import Handler

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
# A driver's name, a repository, a method, and the words of the same question in the terminal.
ASKED = (
    ("NVIDIA GeForce RTX 5090", "unsloth/Qwen3.8-27B-GGUF", "mtp", "RTX 5090"),
    ("NVIDIA GeForce RTX 5090", "unsloth/Qwen3.8-27B-GGUF", "dflash2", "RTX 5090"),
    ("NVIDIA GeForce RTX 5090", "bartowski/Qwen_Qwen3-8B-GGUF", "draft-model", "RTX 5090"),
    ("NVIDIA GeForce RTX 3090", "unsloth/Qwen3.8-27B-GGUF", "mtp", "RTX 3090"),
    ("NVIDIA GeForce RTX 3090", "Qwen/Qwen3-32B", "draft-model", "RTX 3090"),
    ("NVIDIA GeForce RTX 3090", "openai/gpt-oss-20b", "eagle3", "RTX 3090"),
    ("NVIDIA GeForce RTX 4090", "Qwen/Qwen3-32B-GGUF", "draft-model", "RTX 4090"),
    ("NVIDIA GeForce RTX 4090 Laptop GPU", "Qwen/Qwen3-8B", "draft-model", "RTX 4090 Laptop"),
    ("NVIDIA GeForce RTX 4060 Ti 8 GB", "Qwen/Qwen3-8B", "draft-model", "RTX 4060 Ti 8 GB"),
    ("NVIDIA GeForce RTX 3060", "mlx-community/Qwen3-14B-4bit", "draft-model", "RTX 3060"),
    ("NVIDIA A100-SXM4-80GB", "Qwen/Qwen3-32B", "draft-model", "A100 SXM4 80GB"),
    ("NVIDIA L40S", "google/gemma-3-12b-it", "draft-model", "L40S"),
    ("Tesla T4", "Qwen/Qwen3-4B", "ngram-simple", "Tesla T4"),
    ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "unsloth/Qwen3.8-27B-GGUF", "mtp", "RX 7900 XTX"),
    ("AMD Radeon RX 9070 XT", "Qwen/Qwen3-8B", "ngram-simple", "RX 9070 XT"),
    ("AMD Radeon 8060S Graphics (RADV GFX1151)", "unsloth/Qwen3.6-35B-A3B-GGUF", "mtp", "8060S"),
    ("Intel(R) Arc(TM) B580 Graphics", "Qwen/Qwen3-8B", "draft-model", "Arc B580"),
    ("Intel(R) Arc(TM) A770 Graphics (DG2)", "Qwen/Qwen3-8B", "draft-model", "Arc A770"),
    ("Apple M4 Pro", "unsloth/Qwen3.6-35B-A3B-GGUF", "mtp", "Apple M4 Pro"),
    ("Apple M3 Max", "meta-llama/Llama-3.1-8B-Instruct", "draft-model", "Apple M3 Max"),
)
PYTHON = """
import json, sys
print(json.dumps([speculation(*each) for each in json.load(sys.stdin)]))
"""
JAVASCRIPT = """
let asked = "";
for await (const each of process.stdin) asked += each;
const found = [];
for (const each of JSON.parse(asked)) found.push(await speculation(...each));
console.log(JSON.stringify(found));
"""


class Quiet(Handler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def base(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def snippet(site: Path, language: str, base: str) -> str:
    page = (site / "data/index.html").read_text("utf-8")
    found = re.search(rf'<code id="launcher-{language}">(.*?)</code>', page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1]).replace("https://ADDRESS/", base)


def read(site: Path, name: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads((site / FOLDER / f"{name}.json").read_bytes())


def test_both_snippets_give_the_terminals_figures_for_twenty_questions(
    site: Path, base: str
) -> None:
    asked = json.dumps([each[:3] for each in ASKED]).encode()
    code = {name: snippet(site, name, base) for name in ("python", "javascript")}
    commands = {
        "python": [sys.executable, "-c", code["python"] + PYTHON],
        "javascript": [NODE, "--input-type=module", "-e", code["javascript"] + JAVASCRIPT],
    }
    found = {
        name: json.loads(subprocess.run(line, input=asked, capture_output=True, check=True).stdout)
        for name, line in commands.items()
    }

    assert found["python"] == found["javascript"]
    lengths = [len(list(filter(None, text.splitlines()))) for text in code.values()]
    assert max(lengths) <= 12  # ten, and the line of imports and that of the names
    terminal = [_in_terminal(site, *each) for each in ASKED]
    assert [[row[name] for name in COLUMNS] for row in found["python"]] == terminal
    assert {row["on"] for row in found["python"]} == {True, False, None}
    assert {row["as_of"] for row in found["python"]} == {read(site, "resolve")["as_of"]}


def _in_terminal(site: Path, _: str, repository: str, method: str, card: str) -> object:
    """The row of the answer engine from the figures of the site."""
    assets = site / "assets"
    evidence = msgspec.json.decode(
        (assets / "evidence.json").read_bytes(), type=tuple[PairFigure, ...]
    )
    model = read(site, "resolve")["models"][key(repository)]
    name = json.loads((assets / f"answers/{model}.json").read_bytes())["name"]
    slug = read_model(name).slug
    assert slug == read_model(repository.replace("Qwen_Qwen", "Qwen")).slug
    pairs = {slug: [each for each in evidence if each.model == slug]}
    computer = described_computer(MachineWords(gpus=(card,)))
    question = question_by_name(f"{name}:{QUANTISATIONS['4-bit']}", computer, pairs=pairs)
    assert question is not None
    return methods_of(answer(question)).get(method, [None] * len(COLUMNS))


def test_every_file_follows_the_schema_and_its_ids_are_those_of_pages(site: Path) -> None:
    schema = json.loads((ROOT / "schemas/launcher.v1.schema.json").read_text("utf-8"))
    names, files = read(site, "resolve"), sorted((site / FOLDER).glob("*.json"))
    assert len(files) > 100
    for file in (site / FOLDER / "resolve.json", files[0], files[-1]):
        Draft202012Validator(schema).validate(json.loads(file.read_bytes()))

    assert {each.stem for each in files} - {"resolve"} == set(names["models"].values())
    words = names["engines"]["llama.cpp"]["mtp"]
    assert words[words.index("--spec-draft-n-max") + 1] == "{depth}"
    rows = read(site, "qwen3-8-27b")["devices"]
    assert set(rows) <= set(names["devices"].values())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx 4090 laptop"),
        ("Intel(R) Arc(TM) A770 Graphics (DG2)", "arc a770"),
        ("hf.co/unsloth/Qwen3.8-27B-GGUF", "qwen3.8 27b"),
        ("qwen3:8b", "qwen3 8b"),
    ],
)
def test_a_key_has_the_words_that_tell_names_apart(name: str, words: str) -> None:
    assert key(name) == words
