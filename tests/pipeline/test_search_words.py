"""Searches in tables and Explore, and questions on the page, mean what people type."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from planner.evidence import pairs
from planner.listed import PROCESSORS, listed_machines, listed_models, model_label
from planner.names_table import names_table
from tests import scripts

TERMS = 'import { terms } from "./terms.js";\nconst answer = (texts) => texts.map(terms);'
FINDS = """
import { has, spread, terms } from "./terms.js";
const answer = (asked) =>
  asked.map(([text, line]) => terms(text).every((term) => has(spread(line), term)));
"""
MEANS = """
import { machineFor, modelFor } from "./listed.js";
import { read, readModel, unpacked } from "./names.js";
const answer = ({ data, machines, models, names = unpacked(data.names) }) => ({
  machines: machines.map((x) => machineFor({ ...data, names }, read(names, x).machine, x)),
  models: models.map((text) => modelFor(data, readModel(names, text))),
});
"""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """The names in the index of answers, as `answer.js` loads them."""
    known = pairs()
    people = Counter(each.model for each in known)
    machines = listed_machines(known)
    return {
        "names": msgspec.to_builtins(names_table()),
        "machines": [
            {"label": x.name, "memory": x.gib, "kind": x.kind, "cards": x.cards} for x in machines
        ],
        "processors": PROCESSORS,
        "models": [
            {
                "label": model_label(key),
                "name": name,
                "people": people[key],
                "parameters": 8e9 if "8b" in key else 27e9,
                "mixture": "-a" in key,
            }
            for key, name in listed_models(people)
        ],
    }


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("14b", {"parameters": 14e9, "written": "14b"}),
        ("qwen2.5 0.5B", {"parameters": 0.5e9, "written": "0.5b"}),
        ("135M", {"parameters": 135e6, "written": "135m"}),
        ("8–16B", {"from": 8e9, "below": 16e9}),  # noqa: RUF001
        ("8b to 16b", {"from": 8e9, "below": 16e9}),
        ("under 9b", {"from": 0, "below": 9e9}),
        ("over 30b", {"from": 30e9, "below": None}),
    ],
)
def test_a_size_is_one_number_or_a_range(tmp_path: Path, text: str, size: dict[str, Any]) -> None:
    (found,) = scripts.run(tmp_path, TERMS, [text])

    assert [term["size"] for term in found if "size" in term] == [size]


@pytest.mark.parametrize(
    ("text", "line", "finds"),
    [
        ("4060ti", "RTX 4060 Ti 16 GB ; Qwen3 8B", True),
        ("rtx-4060 ti 16gb", "RTX 4060 Ti 16 GB ; Qwen3 8B", True),
        ("4060 8b", "RTX 4060 Ti 16 GB ; Qwen3 8B", True),
        ("4060 14b", "RTX 4060 Ti 16 GB ; Qwen3 8B", False),
        ("4060 8gb", "RTX 4060 Ti 16 GB ; Qwen3 8B", False),
        ("060", "RTX 4060 Ti 16 GB", False),
        ("4060 mobile", "RTX 4060 Laptop 8 GB", True),
        ("geforce", "NVIDIA RTX A6000", True),
        ("code helps", "RTX 3090 24 GB ; Code ; ▲ helps", True),
    ],
)
def test_a_search_finds_lines_with_all_its_words(
    tmp_path: Path, text: str, line: str, *, finds: bool
) -> None:
    assert scripts.run(tmp_path, FINDS, [[text, line]]) == [finds]


@pytest.mark.parametrize(
    ("text", "label", "instead"),
    [
        ("rtx4060", "RTX 4060", None),
        ("RTX 5090 (mobile)", "RTX 5090 Laptop", None),
        ("4060 Ti 8 GB", "RTX 4060 Ti 8 GB", None),
        ("2x3090", "2 × RTX 3090", None),  # noqa: RUF001
        ("5x 3060", "3 × RTX 3060", "5 of them are not listed"),  # noqa: RUF001
        ("bosgame m5 128gb", "Radeon 8060S", None),
        ("12 GB", "12 GB card", None),
        # A known card without answers of its own, with its usual memory of 8 GB.
        ("RX 6600M", "8 GB card", "rx 6600m is not listed; its speed is a guess"),
        ("14 GB", "12 GB card", "14 GB are not listed; its speed is a guess"),
        (
            "Quadro K6000 12GB",
            "12 GB card",
            "“quadro k6000” is not a known card; its speed is a guess",
        ),
        ("EPYC 9654", "32 cores 8-channel DDR4-3200", "the nearest processor"),
    ],
)
def test_a_machine_is_answered_as_itself_or_as_what_is_known_of_it(
    tmp_path: Path, data: dict[str, Any], text: str, label: str, instead: str | None
) -> None:
    found = scripts.run(tmp_path, MEANS, {"data": data, "machines": [text], "models": []})

    (machine,) = found["machines"]
    assert (machine["machine"]["label"], machine["instead"]) == (label, instead)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("RTX 4075", "“rtx 4075” is not a known card"),
        ("4090 Ti", "“4090 ti” is not a known card"),
        ("4090 + 3090", "different cards together are answered by the terminal"),
    ],
)
def test_an_unknown_machine_has_a_reason_and_the_nearest_names(
    tmp_path: Path, data: dict[str, Any], text: str, why: str
) -> None:
    found = scripts.run(tmp_path, MEANS, {"data": data, "machines": [text], "models": []})

    (machine,) = found["machines"]
    assert machine["why"] == why
    assert machine["nearest"]


@pytest.mark.parametrize(
    ("text", "label", "instead"),
    [
        ("qwen3:8b-q8_0", "Qwen3 8B", None),
        ("unsloth/Qwen3.6-27B-GGUF", "Qwen3.6 27B", None),
        ("gpt oss 120b", "gpt-oss-120b", None),
        ("Cedar-8B", None, "Cedar-8B is not listed: a model of 8B, whose shape is not known"),
        ("8b", None, "the most reported of its size"),
    ],
)
def test_a_model_is_answered_as_itself_or_as_one_of_its_size(
    tmp_path: Path, data: dict[str, Any], text: str, label: str | None, instead: str | None
) -> None:
    found = scripts.run(tmp_path, MEANS, {"data": data, "machines": [], "models": [text]})

    (model,) = json.loads(json.dumps(found["models"]))
    assert model.get("instead") == instead
    assert label in (model["model"]["label"], None)
