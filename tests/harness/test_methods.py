"""Is `--method` understood, and a slip answered with what was meant?"""

import pytest

from estimates.depths import fixed
from estimates.depths import label as depth_label
from harness.campaign.arms import arms, label
from harness.campaign.methods import METHODS, parse
from harness.cli.methods import signature
from harness.errors import BadInputError, UsageError
from harness.importers.methods import parameters
from schemas.method import NO_SPECULATION, Method
from tests.harness.campaigns import campaign


@pytest.mark.parametrize(
    ("text", "expected", "name"),
    [
        (
            "prompt-lookup",
            Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4),
            "prompt-lookup-n8",
        ),
        (
            "prompt-lookup:n_max=5, ngram_min=3",
            Method(type="prompt-lookup", n_max=5, ngram_min=3, ngram_max=4),
            "prompt-lookup-n5-g3-4",
        ),
        ("draft-model", Method(type="draft-model", n_max=4), "draft-model-n4"),
        ("empty-draft", Method(type="empty-draft"), "empty-draft"),
        ("none", NO_SPECULATION, "baseline-again"),
        ("oracle", Method(type="oracle", n_max=4, acceptance=0.7), "oracle-a0.7-n4"),
        (
            "draft-model:n_max=6,n_min=0,p_min=0.75",
            Method(type="draft-model", n_max=6, n_min=0, p_min=0.75),
            "draft-model-n6-m0-p0.75",
        ),
        ("mtp", Method(type="mtp", n_max=3), "mtp-n3"),
        (
            "ngram-simple",
            Method(type="ngram-simple", n_max=8, ngram_size=3, min_hits=1),
            "ngram-simple-n8",
        ),
        (
            "ngram-map-k:n_max=48,ngram_size=12,min_hits=2",
            Method(type="ngram-map-k", n_max=48, ngram_size=12, min_hits=2),
            "ngram-map-k-n48-g12-h2",
        ),
        (
            "ngram-mod",
            Method(type="ngram-mod", n_max=8, n_min=2, ngram_size=3),
            "ngram-mod-n8",
        ),
        ("ngram-cache", Method(type="ngram-cache"), "ngram-cache"),
        (
            "mtp:n_max=9,controller=autotune",
            Method(type="mtp", n_max=9, adaptive=True, controller="autotune"),
            "mtp-autotune",
        ),
        (
            "ngram-mod:controller=Auto tune",
            Method(
                type="ngram-mod",
                n_max=8,
                n_min=2,
                ngram_size=3,
                adaptive=True,
                controller="Auto tune",
            ),
            "ngram-mod-auto-tune",
        ),
        ("suffix", Method(type="suffix", n_max=24), "suffix-n24"),
        ("forced:length=3,n_max=5", Method(type="forced", n_max=5, length=3.0), "forced-l3-n5"),
        (
            "oracle:acceptance=1,n_max=2",
            Method(type="oracle", n_max=2, acceptance=1.0),
            "oracle-a1-n2",
        ),
    ],
)
def test_a_method_and_the_arm_it_becomes(text: str, expected: Method, name: str) -> None:
    assert parse(text) == expected
    assert label(parse(text)) == name


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
