"""`--method` is understood, and a typing error is answered with what was probably meant."""

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from estimates.depths import fixed
from estimates.depths import label as depth_label
from harness.campaign.arms import arms, label
from harness.campaign.method_parser import METHODS, parse
from harness.commands.methods import signature
from harness.errors import BadInputError
from harness.imports.arm_methods import parameters
from schemas.method import Method
from tests.harness.campaigns import campaign

ROWS = tomllib.loads(Path("tests/data/methods.toml").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS["method"], ids=lambda row: row["text"])
def test_a_method_and_the_arm_it_becomes(row: dict[str, Any]) -> None:
    found = parse(row["text"])

    assert found == msgspec.convert(row["is"], Method)
    assert label(found) == row["arm"]


@pytest.mark.parametrize("text", ROWS["slips"])
def test_a_typing_mistake_gets_a_suggestion(text: str) -> None:
    with pytest.raises(BadInputError, match=ROWS["slips"][text]):
        parse(text)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_written_with_its_defaults_is_the_method_by_its_name(name: str) -> None:
    assert parse(signature(METHODS[name])) == parse(name)


@pytest.mark.parametrize("name", ["ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod"])
def test_the_usual_sizes_of_an_n_gram_method_can_fire_in_a_short_text(name: str) -> None:
    request = parse(name)

    # Text that the engine needs before it looks up: for map types two n-grams and a draft, for
    # ngram-simple an n-gram and a draft.
    assert 2 * (request.ngram_size or 0) + (request.n_max or 0) <= 16


def test_a_chain_is_one_arm_with_its_methods_in_order_and_no_single_depth() -> None:
    baseline, chained = arms((parse("ngram-mod+draft-model:n_max=5"),), campaign().drafts)

    assert (baseline.id, chained.id) == ("baseline", "ngram-mod-then-draft-model")
    assert chained.role == "speculation"
    assert chained.method == Method(
        type="other", name="ngram-mod+draft-model", n_max=5, chain=("ngram-mod", "draft-model")
    )
    assert fixed(chained.method) is None
    assert depth_label(chained.method) == "N-gram mod, then Draft model"


def test_a_chain_with_a_draft_model_needs_one() -> None:
    with pytest.raises(BadInputError, match="needs exactly one draft"):
        arms((parse("ngram-mod+draft-model"),), ())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_given_by_name_only_satisfies_the_format(name: str) -> None:
    allowed = parameters(name)
    method = parse(name).sizes

    has = {key for key, value in method.items() if value is not None} - {"type"}
    required = {key for key, needed in allowed.items() if needed} - {"draft"}
    assert required <= has <= allowed.keys()
    assert {*METHODS[name].optional} <= allowed.keys()


@pytest.mark.parametrize("name", METHODS)
def test_a_depth_controller_is_accepted_if_the_format_has_it(name: str) -> None:
    try:
        taken = parse(f"{name}:controller=autotune").adaptive
    except BadInputError:
        taken = False

    assert taken is ("controller" in parameters(name))
