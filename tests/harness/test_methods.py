"""Is `--method` understood, and a slip answered with what was meant?"""

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from estimates.depths import fixed
from estimates.depths import label as depth_label
from harness.campaign.arms import arms, label
from harness.campaign.methods import METHODS, parse
from harness.cli.methods import signature
from harness.errors import BadInputError, UsageError
from harness.importers.methods import parameters
from schemas.method import Method
from tests.harness.campaigns import campaign

WRITTEN = tomllib.loads(Path("tests/data/methods.toml").read_text("utf-8"))["method"]


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row["text"])
def test_a_method_and_the_arm_it_becomes(row: dict[str, Any]) -> None:
    found = parse(row["text"])

    assert found == msgspec.convert(row["is"], Method)
    assert label(found) == row["arm"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("promt-lookup", r"unknown method 'promt-lookup'\. Did you mean 'prompt-lookup'"),
        ("draft-model:nmax=3", r"no option 'nmax'\. Did you mean 'n_max'"),
        ("draft-model:n_max=zero", "whole number from 1 to 256, not 'zero'"),
        ("draft-model:n_max=0", "from 1 to 256, not '0'"),
        ("draft-model:n_max", "not ''"),
        ("draft-model:controller=", "controller must be a name like autotune, not ''"),
        ("oracle:controller=autotune", "its depth is the one that it is given"),
        ("prompt-lookup:ngram_min=5", "ngram_min=5 exceeds ngram_max=4"),
        ("oracle:acceptance=1.2", "a number from 0 to 1 like 0.7, not '1.2'"),
        ("oracle:acceptance=nan", "from 0 to 1 like 0.7, not 'nan'"),
        ("eagle3:p_min=2", "p_min must be a number from 0 to 1 like 0.7, not '2'"),
        ("eagle3:n_max=3,n_min=4", "n_min=4 exceeds n_max=3, so nothing would be drafted"),
        ("ngram-mod:ngram_size=0", "ngram_size must be a whole number from 1 to 256"),
        ("ngram-cache:n_max=3", r"ngram-cache has no option 'n_max'\. It has no options"),
        ("forced:length=5.5", r"length=5\.5 exceeds n_max \+ 1"),
        ("forced:length=0.5", "length must be a number from 1 to 257 like 2.5, not '0.5'"),
        ("none:n_max=3", r"none has no option 'n_max'\. It has no options"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse(text)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_written_with_its_defaults_is_the_method_by_its_name(name: str) -> None:
    assert parse(signature(METHODS[name])) == parse(name)


@pytest.mark.parametrize("name", ["ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod"])
def test_the_usual_sizes_of_an_n_gram_method_can_fire_in_a_short_text(name: str) -> None:
    request = parse(name)

    # What the engine wants to have seen before it looks: two n-grams and a draft of map types,
    # an n-gram and a draft of ngram-simple.
    assert 2 * (request.ngram_size or 0) + (request.n_max or 0) <= 16


@pytest.mark.parametrize(
    "text",
    [
        "draft-model+mtp",
        "ngram-mod+ngram-mod",
        "ngram-mod+oracle",
        "ngram-mod:n_max=9+draft-model",
        "ngram-mod+prompt-lookup",
        "ngram-mod+draft-model:p_min=0.5",
    ],
)
def test_what_a_result_cannot_hold_is_no_chain(text: str) -> None:
    with pytest.raises(BadInputError, match="a chain has"):
        parse(text)


def test_a_chain_is_one_arm_of_its_methods_in_order_whose_depth_is_of_no_one_number() -> None:
    baseline, chained = arms((parse("ngram-mod+draft-model:n_max=5"),), campaign().drafts)

    assert (baseline.id, chained.id) == ("baseline", "ngram-mod-then-draft-model")
    assert chained.role == "speculation"
    assert chained.method == Method(
        type="other", name="ngram-mod+draft-model", n_max=5, chain=("ngram-mod", "draft-model")
    )
    assert fixed(chained.method) is None
    assert depth_label(chained.method) == "N-gram mod, then Draft model"


def test_a_chain_with_a_draft_model_needs_one() -> None:
    with pytest.raises(BadInputError, match="takes one draft"):
        arms((parse("ngram-mod+draft-model"),), ())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_by_its_name_has_what_the_format_requires(name: str) -> None:
    allowed = parameters(name)
    method = parse(name).sizes

    has = {key for key, value in method.items() if value is not None} - {"type"}
    required = {key for key, needed in allowed.items() if needed} - {"draft"}
    assert required <= has <= allowed.keys()
    assert {*METHODS[name].optional} <= allowed.keys()


@pytest.mark.parametrize("name", METHODS)
def test_a_controller_is_taken_where_the_format_has_one(name: str) -> None:
    try:
        taken = parse(f"{name}:controller=autotune").adaptive
    except UsageError:
        taken = False

    assert taken is ("controller" in parameters(name))
