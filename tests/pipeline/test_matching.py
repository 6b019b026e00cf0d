"""The site's matcher understands what people type for a card, a memory or a model."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.site.pages.answer_data import machine_file
from schemas.vocabulary import as_json
from tests import scripts
from tests.pipeline.tables import real_database

SPELLINGS = tomllib.loads((Path(__file__).parents[1] / "data/spellings.toml").read_text("utf-8"))
RUN = """
import { devicesFor, memoryOf, modelsFor, parse } from "./matching.js";
import { decode, reply, understand } from "./reply.js";
const said = (row) => !row ? null : [row.tier, row.device.label, row.model.label];
const replied = (data, asked) => {
  const question = understand(data, asked);
  const { found, close, limits, commands } = reply(data, question);
  const { memory, unknown } = question;
  return { found: said(found), close: close.map(said), limits, commands, memory, unknown };
};
const answer = ({ file, words, devices, memories, sizes, models, questions }) => {
  const rules = words.spellings;
  const data = decode(file, words);
  const size = (text) => parse(rules, text).size;
  return {
    devices: devices.map((text) => devicesFor(rules, file.devices, text)[0]?.device.label ?? null),
    memories: memories.map((text) => memoryOf(rules, text)),
    sizes: sizes.map(size).map((found) => found && (found.parameters ?? [found.from, found.below])),
    models: models.map((text) => modelsFor(rules, file.models, text).models[0]?.label ?? null),
    replies: questions.map((asked) => replied(data, asked)),
  };
};
"""


@pytest.fixture(scope="module")
def file() -> dict[str, Any]:
    """The file of the real collection."""
    document: dict[str, Any] = json.loads(machine_file(real_database()).data)
    return document


def run(folder: Path, file: dict[str, Any], **asked: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """What the scripts answer to lists of texts and of questions."""
    empty: dict[str, list[str]] = {
        name: [] for name in ("devices", "memories", "sizes", "models", "questions")
    }
    given = {**empty, **asked, "file": file, "words": as_json()}
    answered: dict[str, Any] = scripts.run(folder, RUN, given)
    return answered


def wrong(table: dict[str, Any], found: list[Any]) -> dict[str, Any]:
    """What was typed, with what was meant and what was understood."""
    pairs = zip(table.items(), found, strict=True)
    return {typed: (meant, got) for (typed, meant), got in pairs if meant != got}


def test_there_are_hundreds_of_spellings_that_people_typed() -> None:
    assert len(SPELLINGS["devices"]) + len(SPELLINGS["memories"]) >= 300


def without_memory(label: str | None) -> str | None:
    """A card's name: with figures it has its memory, without any it may have none."""
    return label and re.sub(r" \d+ ?GB$", "", label)


def test_every_spelling_is_understood(tmp_path: Path, file: dict[str, Any]) -> None:
    found = run(tmp_path, file, **{name: list(table) for name, table in SPELLINGS.items()})

    sizes = [
        size and [each / 1e9 for each in size] if isinstance(size, list) else size and size / 1e9
        for size in found["sizes"]
    ]
    meant = {typed: without_memory(label) for typed, label in SPELLINGS["devices"].items()}
    assert wrong(meant, map(without_memory, found["devices"])) == {}
    assert wrong(SPELLINGS["memories"], found["memories"]) == {}
    assert wrong(SPELLINGS["sizes"], sizes) == {}
    assert wrong(SPELLINGS["models"], found["models"]) == {}


def spelled(label: str) -> Iterator[str]:
    """One name in the ways in which people write it."""
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
        typed: device["label"] for device in file["devices"] for typed in spelled(device["label"])
    }
    found = run(tmp_path, file, devices=list(meant))["devices"]

    missed = wrong(meant, found)
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


def test_a_word_of_memory_is_no_word_of_a_model(tmp_path: Path, file: dict[str, Any]) -> None:
    typed = ["12 GB", "Cedar-12B", "RTX 4075", "qwen3.8 27b", ""]
    found = run(tmp_path, file, memories=typed, devices=typed)

    assert found["memories"] == [12, None, None, None, None]
    assert found["devices"] == [None, None, None, None, None]


@pytest.mark.parametrize(
    ("card", "model", "tier", "device"),
    [
        ("3090", "", "published", "RTX 3090 24 GB"),
        ("5090", "27B", "published", "RTX 5090 32 GB"),
        ("7900 XTX", "", "published", "RX 7900 XTX 24 GB"),
        ("M3 Max", "", "imported", "Apple M3 Max"),
        ("5060 Ti", "14b", "imported", "RTX 5060 Ti 16 GB"),
        ("epyc", "135M", "measured", "EPYC 2 threads"),
        ("laptop, CPU only", "", "measured", "EPYC 2 threads"),
        ("no GPU", "7B", "imported", "Apple M3 Max 14 threads"),
        ("CPU Ryzen 7700X, GPU RTX 3090", "27B", "published", "RTX 3090 24 GB"),
        ("Ryzen 5 5600X + 3090", "27B", "published", "RTX 3090 24 GB"),
    ],
)
def test_a_machine_with_figures_is_answered_from_the_best_tier(
    tmp_path: Path, file: dict[str, Any], card: str, model: str, tier: str, device: str
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": card, "model": model}])["replies"]

    assert answer["found"][:2] == [tier, device]
    assert answer["commands"]["measure"].startswith("python -m harness run --target ")


@pytest.mark.parametrize(
    ("card", "model", "memory", "found"),
    [
        ("2x 3090", "qwen3.8 27b", 48, None),
        ("dual 3090", "", 48, "Qwen3.6-35B-A3B"),
        ("2 x RTX 5060 Ti", "27B", 32, "Qwen3.8-27B"),
        ("3090", "qwen3.8 27b", 24, "Qwen3.8-27B"),
        ("5060 ti", "qwen 14b", 16, "Qwen2.5-Coder-14B-Instruct"),
        ("RTX 3060", "qwen 14b", 12, None),
        # Qwen3.5-9B is no 8B: the nearest in size answers only where it is on that device.
        ("M4 Pro", "Qwen 8B", None, None),
        ("Strix Halo", "35B-A3B", None, "Qwen3.6-35B-A3B"),
    ],
)
def test_what_is_typed_means_its_memory_and_its_model(
    tmp_path: Path, file: dict[str, Any], card: str, model: str, memory: int, found: str | None
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": card, "model": model}])["replies"]

    assert answer["memory"] == memory
    assert (answer["found"] or [None])[-1] == found


def test_an_unknown_card_is_named_with_the_names_that_are_like_it(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": "RTX 4075", "model": "8B"}])["replies"]

    assert answer["found"] is None
    assert answer["unknown"][0] == "RTX 4070"
    assert len(answer["unknown"]) == 3


def test_an_unknown_processor_is_named_and_the_nearest_ones_are_beside_it(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": "Ryzen 7 7840U", "model": "3B"}])["replies"]

    assert answer["found"] is None
    assert answer["close"][0][:2] == ["imported", "Core i7-8700 12 threads"]


def test_an_import_without_a_verdict_is_measured_before_it_is_used(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": "RTX 5060 Ti", "model": "14B"}])["replies"]

    assert answer["found"][0] == "imported"  # 1.24x [1.15, 1.33], not interleaved
    assert answer["commands"]["use"] is None
    assert "--method draft-model:n_max=5" in answer["commands"]["measure"]


def test_a_card_that_nobody_measured_gets_its_kin_its_limit_and_a_command(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": "RTX 3070 8GB", "model": "7B"}])["replies"]

    # 256 bits / 8 x 14 GT/s = 448 GB/s; 7e9 parameters of 4.89 bits are 4.279 GB: 105 tokens/s.
    assert answer["found"] is None
    assert answer["limits"]["bandwidth"] == 448
    assert answer["limits"]["tps"] == pytest.approx(448 / (7 * 4.89 / 8), rel=1e-9)
    assert answer["limits"]["gib"] == pytest.approx(7e9 * 4.89 / 8 / 2**30, rel=1e-9)
    assert answer["limits"]["fit"] == "yes"
    assert answer["close"]
    assert answer["commands"]["measure"]


def test_memory_and_size_alone_are_answered_by_the_nearest_figure_of_that_size(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": "10 GB", "model": "14B"}])["replies"]

    assert answer["found"] is None
    assert answer["close"][0][0] in ("imported", "published")
    assert answer["limits"]["fit"] == "yes"
    assert answer["commands"]["use"] is None  # no verdict there: measure it first


def test_a_name_that_states_its_memory_is_asked_for_no_other(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    (answer,) = run(tmp_path, file, questions=[{"card": "H100", "model": "70B"}])["replies"]

    assert answer["limits"]["memory"] == 80  # "H100 80GB HBM3"


def test_a_model_that_is_too_large_does_not_fit(tmp_path: Path, file: dict[str, Any]) -> None:
    asked = [{"card": "12 GB", "model": size} for size in ("70B", "20B", "14B")]
    answers = run(tmp_path, file, questions=asked)["replies"]

    # 4.89 bits: 39.8, 11.4 and 8.0 GiB of 12.
    assert [answer["limits"]["fit"] for answer in answers] == ["no", "tight", "yes"]
