"""A binary is asked what it can do; no version number decides."""

from pathlib import Path

import pytest

from harness.runners.llama_server.abilities import Abilities, read_help

CAPTURES = Path(__file__).resolve().parents[3] / "captures" / "llama-server"


def captured(build: str) -> Abilities:
    return read_help((CAPTURES / f"help-{build}.txt").read_text("utf-8"))


@pytest.mark.parametrize("build", ["b10068", "b10434"])
def test_all_types_of_speculation_are_read(build: str) -> None:
    types = captured(build).spec_types

    assert types[0] == "none"
    assert {"draft-simple", "draft-mtp", "ngram-simple", "ngram-mod", "ngram-cache"} <= set(types)


def test_a_type_that_came_later_is_offered_by_the_later_build_only() -> None:
    assert "draft-dspark" not in captured("b10068").spec_types
    assert "draft-dspark" in captured("b10434").spec_types


def test_a_flag_that_is_listed_as_removed_is_not_there() -> None:
    abilities = captured("b10434")

    assert "--draft-max" not in abilities.flags
    assert abilities.first("--draft-max", "--spec-draft-n-max") == "--spec-draft-n-max"


def test_a_build_of_early_2026_has_types_for_n_grams_and_the_older_depths() -> None:
    abilities = captured("llama-cpp-python-0.3.18")

    assert abilities.spec_types == (
        "none", "ngram-cache", "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod"
    )  # fmt: skip
    assert {"--draft-max", "--draft-min", "--draft-p-min", "--spec-ngram-size-n"} <= abilities.flags
    assert abilities.first("--spec-draft-n-max", "--draft-max") == "--draft-max"


def test_flags_with_and_without_a_value_are_distinguished() -> None:
    abilities = captured("b10434")

    assert {"-fa", "--flash-attn", "--fit", "-c", "-md"} <= abilities.takes_value
    assert not {"--metrics", "--no-webui"} & abilities.takes_value


def test_all_names_of_one_flag_are_known() -> None:
    assert {"-md", "--model-draft", "--spec-draft-model"} <= captured("b10434").flags


@pytest.mark.parametrize("value", ["none,draft-simple,ngram-mod", "[none|draft-simple|ngram-mod]"])
def test_types_are_separated_by_commas_or_bars(value: str) -> None:
    text = f"--spec-type {value}\n                                   list of types\n"

    assert read_help(text).spec_types == ("none", "draft-simple", "ngram-mod")


def test_text_that_is_not_help_has_no_flags() -> None:
    assert read_help("command not found") == Abilities(
        flags=frozenset(), takes_value=frozenset(), spec_types=()
    )
