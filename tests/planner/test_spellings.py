"""The terminal's reader and the site's reader read every spelling of one list alike."""

import gzip
import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from planner.listed import listed_machines, listed_models, model_label
from planner.model_names import quantisation_of
from planner.name_scan import CARDS
from planner.names import ModelRef, NamedMachine, card_label, read, read_machine, read_model
from planner.names_table import names_table
from tests import scripts

LIST = tomllib.loads(Path("tests/data/spellings.toml").read_text("utf-8"))
RUN = """
import { read, readModel, unpacked } from "./names.js";
const answer = ({ packed, models, sentences, table = unpacked(packed) }) => ({
  models: models.map((text) => readModel(table, text)),
  sentences: sentences.map((text) => read(table, text)),
});
"""
READERS = {"models": read_model, "sentences": read}
NOISE = ("", " ", "-", "_", "  ")
ENGINES = ("vllm", "llama.cpp", "sglang", "mlx", "ollama", "exl3", "")
COUNTS = ("", "2x ", "dual ", "3 x ", "4x", "two ", "8x ")
WEIGHTS = ("Q4_K_M", "q8_0", "UD-Q4_K_XL", "awq", "FP8", "nvfp4", "4bit", "mxfp4", "iq3_xxs", "")
MEMORIES = ("", " 24GB", " 16 gb", " 12g", " 128GB DDR5", " 64 GB unified", " 48 GiB")
BEFORE = ("", "[bench] ", "ollama run ", "which draft for ", "~/m/", "用")
AFTER = ("", " locally", ":latest", "-official", " q8_0 KV cache", " is slow?", " 双卡", ".gguf")
DEPTHS = ("", "64k", "16k ctx", "32768 tokens")


def spellings(kind: str) -> dict[str, str]:
    """The meaning of each spelling of a kind."""
    return {text: meant for meant, texts in LIST[kind].items() for text in texts}


def on_the_page(folder: Path, **texts: list[str]) -> dict[str, list[Any]]:
    """The values that the site's reader gives."""
    table = {"packed": msgspec.to_builtins(names_table())}
    empty: dict[str, Any] = {kind: [] for kind in READERS}
    found: dict[str, list[Any]] = scripts.run(folder, RUN, empty | table | texts)
    return found


def in_the_terminal(kind: str, text: str) -> Any:  # noqa: ANN401 - JSON
    """The values that the terminal's reader gives, as the page has them: without repositories."""
    found = json.loads(msgspec.json.encode(READERS[kind](text)))
    model = found if kind == "models" else found["model"]
    if model and (owned := model.pop("repository")):
        model["written"] = model["written"].replace(owned, model["slug"], kind == "sentences")
    return found


def machine_words(machine: NamedMachine) -> str:
    """A machine in the notation of the list."""
    cards = [
        (card.key or "?")
        + (f" x{card.count}" if card.count > 1 else "")
        + (f" {card.gib:g}" if card.gib else "")
        for card in machine.cards
    ]
    parts = [" + ".join(cards)] if cards else []
    parts += [f"ram {machine.ram_gib:g}"] if machine.ram_gib else []
    parts += ["cpu"] if machine.processor and not cards else []
    return "; ".join([*parts, *(["refused"] if machine.unknown else [])])


def model_words(model: ModelRef | None) -> str:
    return " ".join(filter(None, (model.slug, model.quantisation))) if model else ""


def sentence_words(text: str) -> str:
    found = read(text)
    context = str(found.context_tokens or "")
    rest = (model_words(found.model), found.engine or "", context, found.task or "")
    return " | ".join((machine_words(found.machine), *rest)).rstrip(" |")


def test_every_machine_of_the_list_is_read_as_it_says() -> None:
    said = {text: machine_words(read_machine(text)) for text in spellings("machines")}

    assert said == spellings("machines")


def test_every_model_of_the_list_is_read_as_it_says() -> None:
    said = {text: model_words(read_model(text)) for text in spellings("models")}

    assert said == spellings("models")


def test_every_sentence_of_the_list_is_read_as_it_says() -> None:
    assert {x: sentence_words(x) for x in spellings("sentences")} == spellings("sentences")


@pytest.mark.parametrize(("text", "meant"), spellings("quantisations").items())
def test_a_text_names_its_quantisation(text: str, meant: str) -> None:
    found = quantisation_of(text)

    assert (found.name if found else "") == meant


def test_the_page_reads_the_whole_list_as_the_terminal_does(tmp_path: Path) -> None:
    models, questions = spellings("models"), spellings("machines") | spellings("sentences")
    asked = {"models": [*models], "sentences": [*questions, *models]}

    found = on_the_page(tmp_path, **asked)

    assert sum(map(len, asked.values())) >= 1200
    for kind in READERS:
        assert found[kind] == [in_the_terminal(kind, text) for text in asked[kind]]


def test_every_name_that_the_site_prints_is_read_as_itself() -> None:
    for machine in listed_machines(()):
        if machine.kind == "gpu":
            (card,) = read_machine(machine.name).cards
            assert card.key is not None
            assert card_label(card.key) in machine.name
    for key, name in listed_models(()):
        assert read_model(model_label(key)).slug == read_model(name).slug == key


def compositions(number: int, seed: int) -> Iterator[str]:
    """Random questions: count, card, memory, model, quantisation, engine, with noise."""
    rng = random.Random(seed)  # noqa: S311 - questions of a test
    cards = [card_label(card.key) for card in CARDS]
    models = [model_label(key) for key, _ in listed_models(())]
    for _ in range(number):
        card = rng.choice(COUNTS) + rng.choice(cards) + rng.choice(MEMORIES)
        model = f"{rng.choice(models)} {rng.choice(WEIGHTS)}"
        parts = [card, rng.choice(BEFORE) + model + rng.choice(AFTER)]
        parts += [rng.choice(ENGINES), rng.choice(DEPTHS)]
        rng.shuffle(parts)
        text = " ".join(filter(None, parts)).replace(" ", rng.choice(NOISE) or " ")
        yield rng.choice((str.lower, str.upper, str))(text)


@pytest.mark.parametrize(
    ("number", "seed"), [(60, 1), pytest.param(2000, 2, marks=pytest.mark.nightly)]
)
def test_page_and_terminal_agree_on_random_questions(
    tmp_path: Path, number: int, seed: int
) -> None:
    asked = list(compositions(number, seed))

    found = on_the_page(tmp_path, sentences=asked, models=asked)

    for kind in READERS:
        assert found[kind] == [in_the_terminal(kind, text) for text in asked]


@pytest.mark.parametrize(
    "around",
    [
        "[benchmark] {} with 64k context",
        "ollama run {}",
        "which draft for {} on Apple M5 Max?",
        "is {} faster via llama.cpp?",
        "/home/ann/models/{}-GGUF/{}-Q4_K_M-00001-of-00003.gguf",
        "C:\\models\\{}-Q8_0.gguf",
        "bartowski_{}-official",
    ],
)
def test_a_model_is_found_among_other_words(around: str) -> None:
    for key, _ in listed_models(()):
        text = around.format(*[model_label(key).replace(" ", "-")] * 2)

        assert read_model(text).slug == key


def test_a_word_that_makes_another_model_is_never_left_out() -> None:
    for key, _ in listed_models(()):
        for word in ("coder", "vl", "distill", "reap", "8x3b", "falcon", "embedding"):
            if word not in key:
                assert read_model(f"{model_label(key)} {word} on a 3090").slug != key


def test_a_composed_question_is_read_back() -> None:
    rng = random.Random(3)  # noqa: S311 - questions of a test
    models = [(key, model_label(key)) for key, _ in listed_models(())]
    for card in CARDS:
        slug, model = rng.choice(models)
        parts = [f"dual {card_label(card.key)}", f"{model} q8_0", "vllm"]
        rng.shuffle(parts)

        found = read(" ".join(parts).lower())

        assert [(each.key, each.count) for each in found.machine.cards] == [(card.key, 2)]
        assert found.model is not None
        assert (found.model.slug, found.model.quantisation) == (slug, "Q8_0")
        assert (found.engine, found.unknown) == ("vllm", ())


def test_the_table_is_small() -> None:
    assert len(gzip.compress(msgspec.json.encode(names_table()))) <= 20_000
