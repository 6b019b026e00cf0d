"""The site's matcher understands what people type for a card, a memory or a model."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answers.evidence import pairs
from answers.listed import PROCESSORS, listed_machines, listed_models, model_label
from schemas.vocabulary import as_json
from tests import scripts

SPELLINGS = tomllib.loads((Path(__file__).parents[1] / "data/spellings.toml").read_text("utf-8"))
RUN = """
import { machineFor } from "./answer.js";
import { memoryOf, modelsFor, parse } from "./matching.js";
const answer = ({ file, words, devices, memories, sizes, models }) => {
  const rules = words.spellings;
  const data = { rules, machines: file.devices, processors: file.processors };
  const machineOf = (text) => machineFor(data, text, parse(rules, text)).machine;
  const size = (text) => parse(rules, text).size;
  return {
    devices: devices.map((text) => machineOf(text)?.label ?? null),
    memories: memories.map((text) => memoryOf(rules, text)),
    sizes: sizes.map(size).map((found) => found && (found.parameters ?? [found.from, found.below])),
    models: models.map((text) => modelsFor(rules, file.models, text).models[0]?.label ?? null),
  };
};
"""


@pytest.fixture(scope="module")
def file() -> dict[str, Any]:
    """The names in the index of answers, in the form for `answer.js`."""
    known = pairs()
    machines = listed_machines({each.card for each in known if each.on_cpu})
    people = Counter(each.model for each in known)
    return {
        "devices": [
            {"label": each.name, "memory": each.gib, "kind": each.kind, "address": None}
            for each in machines
        ],
        "processors": PROCESSORS,
        "models": [
            {"label": model_label(key), "people": people[key], "parameters": None}
            for key, _ in listed_models(people)
        ],
    }


def run(folder: Path, file: dict[str, Any], **asked: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The scripts' answers to lists of texts."""
    empty: dict[str, list[str]] = {name: [] for name in ("devices", "memories", "sizes", "models")}
    given = {**empty, **asked, "file": file, "words": as_json()}
    answered: dict[str, Any] = scripts.run(folder, RUN, given)
    return answered


def wrong(table: dict[str, Any], found: list[Any]) -> dict[str, Any]:
    """Misunderstood texts, with the meant and the understood value."""
    pairs = zip(table.items(), found, strict=True)
    return {typed: (meant, got) for (typed, meant), got in pairs if meant != got}


def test_the_tests_have_hundreds_of_real_spellings() -> None:
    assert len(SPELLINGS["devices"]) + len(SPELLINGS["memories"]) >= 300


def without_memory(label: str | None) -> str | None:
    """A card's name without its memory, which is stated only for cards with figures."""
    return label and re.sub(r" \d+ ?GB$", "", label)


def test_every_spelling_is_understood(tmp_path: Path, file: dict[str, Any]) -> None:
    found = run(tmp_path, file, **{name: list(table) for name, table in SPELLINGS.items()})

    sizes = [
        size and [each / 1e9 for each in size] if isinstance(size, list) else size and size / 1e9
        for size in found["sizes"]
    ]
    meant = {typed: without_memory(label) for typed, label in SPELLINGS["devices"].items()}
    missed = wrong(meant, map(without_memory, found["devices"]))
    # Rigs of unlike cards and unlisted names get the nearest names, never another card's answer.
    assert {got for _, got in missed.values()} <= {None}
    assert len(missed) <= 0.03 * len(meant), missed
    assert wrong(SPELLINGS["memories"], found["memories"]) == {}
    assert wrong(SPELLINGS["sizes"], sizes) == {}
    assert wrong(SPELLINGS["models"], found["models"]) == {}


def spelled(label: str) -> Iterator[str]:
    """Yield the usual spellings of a name."""
    bare = re.sub(r" \d+ GB$", "", label)
    yield from (label, label.lower(), label.upper(), label.replace(" ", "-"), f"{bare} GPU")
    yield label.replace(" GB", "GB")
    yield label.lower().replace(" gb", "g")
    if bare.startswith(("RTX", "GTX")):
        yield from (f"NVIDIA GeForce {label}", f"geforce {bare.lower()}", f"nvidia {bare}")
    if bare.startswith("RX"):
        yield from (f"AMD Radeon {label}", f"radeon {bare.lower()}", f"amd {bare}")
    if re.fullmatch(r"(RTX|GTX|RX) \w+( Ti| SUPER| XTX| XT| GRE| Laptop)*", bare):
        yield from (bare.replace(" ", ""), bare.lower().replace(" ", ""), label.replace(" ", "_"))
    if bare.startswith("Apple"):
        yield from (bare.removeprefix("Apple "), bare.replace("Apple ", "").replace(" ", ""))


def test_every_device_is_found_by_every_usual_spelling(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    meant = {
        typed: device["label"]
        for device in file["devices"]
        if device["kind"] == "gpu"
        for typed in spelled(device["label"])
    }
    found = run(tmp_path, file, devices=list(meant))["devices"]

    missed = wrong(
        {typed: without_memory(label) for typed, label in meant.items()}, map(without_memory, found)
    )
    assert len(meant) > 1000
    assert len(missed) <= 0.01 * len(meant), missed


def test_the_line_of_the_month_is_searched_for_as_its_machine_and_its_model(tmp_path: Path) -> None:
    pasted = "RTX 3060 12 GB · Qwen3.8-27B IQ4_XS · MTP 2 · 1.47× chat, 1.93× code · draftmap 0.2.0"  # noqa: RUF001
    program = (
        'import { terms } from "./matching.js";\n'
        "const answer = ({ rules, texts }) => texts.map((text) => terms(rules, text));"
    )

    whole, plain = scripts.run(
        tmp_path,
        program,
        {"rules": as_json()["spellings"], "texts": [pasted, "RTX 3060 12 GB Qwen3.8-27B IQ4_XS"]},
    )

    assert whole == plain
    assert {"memory": 12, "beside": True} in whole


def test_words_about_memory_are_not_taken_for_a_model(tmp_path: Path, file: dict[str, Any]) -> None:
    typed = ["12 GB", "Cedar-12B", "RTX 4075", "qwen3.8 27b", ""]
    found = run(tmp_path, file, memories=typed, devices=typed)

    assert found["memories"] == [12, None, None, None, None]
    assert found["devices"] == ["12 GB card", None, None, None, None]
