"""The models that servers list are read, chosen by name, and compared by facts about weights."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from harness.errors import BadInputError
from harness.openai.listed_models import Served, choose, difference, other_model, quantisation
from harness.openai.listed_models import read_models as read
from tests.harness.openai.test_answer import VLLM
from tests.harness.openai.test_counters import ODD


def test_the_models_of_a_vllm_are_read() -> None:
    name = "SmolLM2-135M-Instruct"

    assert read(json.loads((VLLM / "none" / "models.json").read_text())) == (
        Served(id=name, root=name, owner="vllm", context_tokens=2048),
    )


@settings(max_examples=30)
@given(ODD)
def test_a_list_of_models_with_odd_entries_is_read(value: Any) -> None:  # noqa: ANN401 - anything of JSON
    listed = read({"data": [value, {"id": value}, {"id": "x", "meta": value}]})

    assert listed[-1].id == "x"
    with pytest.raises(BadInputError):
        choose(listed, "no such model", where="here")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Q4_K - Medium", "Q4_K_M"),
        ("Q5_K - Small", "Q5_K_S"),
        ("Q4_1", "Q4_1"),
        ("all F32", "F32"),
        ("IQ4_NL - 4.5 bpw", "IQ4_NL"),
        ("4bit", "4bit"),
        ("<b>", None),
        ("", None),
    ],
)
def test_a_quantisation_has_its_short_name(said: str, expected: str | None) -> None:
    assert quantisation(said) == expected


STATED = Served(
    id="a", root="Qwen/Qwen3-8B", owner="vllm", context_tokens=4096, parameters=8_190_735_360,
    file_bytes=16_381_470_720, vocabulary_size=151_936, quantisation="F16", digest="sha256:aa",
)  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"digest": "sha256:bb"}, "digest sha256:aa and sha256:bb"),
        ({"file_bytes": 4_683_072_384}, "file bytes 16381470720 and 4683072384"),
        ({"parameters": 4_022_468_096}, "parameters 8190735360 and 4022468096"),
        ({"quantisation": "Q4_K_M"}, "quantisation F16 and Q4_K_M"),
        ({"vocabulary_size": 151_669}, "vocabulary size 151936 and 151669"),
        ({"root": "Qwen/Qwen3-8B-AWQ"}, "root Qwen/Qwen3-8B and Qwen/Qwen3-8B-AWQ"),
    ],
)
def test_facts_about_weights_that_both_servers_state_must_be_equal(
    stated: dict[str, Any], said: str
) -> None:
    assert difference(STATED, replace(STATED, **stated)) == said
    assert difference(STATED, replace(STATED, **dict.fromkeys(stated))) is None


def test_a_name_and_a_limit_say_nothing_of_the_weights() -> None:
    assert difference(STATED, replace(STATED, id="b", context_tokens=512, owner="me")) is None
    assert difference(Served(id="a", root="x/y"), Served(id="b", root="x/y")) is None
    assert difference(Served(id="a", file_bytes=7), Served(id="b", file_bytes=7)) is None
    assert difference(Served(id="a", root="x/y"), Served(id="b")) == "another name"
    assert difference(Served(id="a", quantisation="F16"), Served(id="b", quantisation="F16"))


@pytest.mark.parametrize(
    ("served", "names", "other"),
    [
        (Served(id="llama3.2:3b"), ("llama3.2:3b",), None),
        (Served(id="qwen", root="Qwen/Qwen3-8B"), ("Qwen/Qwen3-8B",), None),
        (Served(id="/models/Tiny.gguf"), ("tiny.gguf",), None),
        (Served(id="a"), ("", "a"), None),
        (Served(id="a"), ("a", "b"), "b"),
    ],
)
def test_a_name_in_an_answer_is_that_of_the_model_or_of_its_source(
    served: Served, names: tuple[str, ...], other: str | None
) -> None:
    assert other_model(names, served) == other
