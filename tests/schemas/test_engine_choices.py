"""Every way to draft that an engine offers is measured, or refused by name."""

from pathlib import Path

import pytest
import xllamacpp

from schemas.vocabulary import METHODS
from schemas.vocabulary.engine_choices import CHOICES
from tests.engine_choices import STORED, of_help, of_vllm, unknown

CAPTURES = Path(__file__).parents[1] / "captures" / "llama-server"
SOURCE = """
Heads = Literal["mtp", "glm9_mtp"]
SpeculativeMethod = Literal["ngram", "brand_new", Heads]
"""


@pytest.mark.parametrize("engine", CHOICES)
def test_every_stored_choice_is_measured_or_refused(engine: str) -> None:
    assert unknown(engine, set(STORED[engine]["choices"])) == set()


def test_the_newest_installed_llama_cpp_offers_what_is_stored() -> None:
    prefix = "COMMON_SPECULATIVE_TYPE_"
    types = {n.removeprefix(prefix) for n in dir(xllamacpp.common_speculative_type) if prefix in n}
    offered = {each.lower().replace("_", "-") for each in types} - {"count"}

    assert offered == set(STORED["llama.cpp"]["choices"])


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("help-b10068.txt", "llama.cpp"),
        ("help-b10434.txt", "llama.cpp"),
        ("help-ik_llama.cpp-8337e4cd.txt", "ik_llama.cpp"),
    ],
)
def test_the_types_in_a_help_are_known(name: str, engine: str) -> None:
    offered = of_help((CAPTURES / name).read_text("utf-8"))

    assert len(offered) >= 9
    assert offered <= set(STORED[engine]["choices"])


def test_a_new_choice_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "speculative.py"
    source.write_text(SOURCE)

    assert of_vllm(source) == {"mtp", "glm9_mtp", "ngram", "brand_new"}
    assert unknown("vLLM", of_vllm(source)) == {"brand_new"}
    assert unknown("SGLang", {"EAGLE3", "BRAND_NEW"}) == {"BRAND_NEW"}


def test_what_a_choice_is_measured_as_is_a_method() -> None:
    assert {each for own in CHOICES.values() for each in own.same.values()} <= METHODS.keys()
