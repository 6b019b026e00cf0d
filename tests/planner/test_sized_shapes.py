"""A model outside the tables is planned from the size in its name or in `sizes.csv`."""

import pytest

from planner.model_names import quantisation_of
from planner.names import read_model
from planner.presets import preset_named
from planner.shapes import facts_of, shape_of, shapes
from planner.sized_shapes import shape_named
from planner.speed import weights_per_token


@pytest.mark.parametrize(
    ("name", "billions"),
    [("foo-7b", 7), ("bar-30b-a3b", 30), ("baz-135m", 0.135), ("GLM-4.6", 355), ("Kimi-K2", 1000)],
)
def test_the_shape_has_the_parameters_that_are_stated(name: str, billions: float) -> None:
    shape = shape_named(read_model(name).slug)

    assert shape is not None
    assert shape.parameters == pytest.approx(billions * 1e9, rel=0.02)


def test_a_mixture_reads_about_its_active_parameters() -> None:
    shape = shape_named("bar-30b-a3b")
    assert shape is not None

    # 3 billion weights of 8.5 bits are 3.2 GB; the embedding is not read.
    assert shape.experts > shape.experts_used > 0
    assert weights_per_token(facts_of(shape, quantisation_of("Q8_0"))) == pytest.approx(
        3.2e9, rel=0.1
    )


def test_a_name_with_an_e_is_dense() -> None:
    shape = shape_named("foo-e2b")

    assert shape is not None
    assert shape.experts == 0
    assert shape.parameters == pytest.approx(2e9, rel=0.02)


def test_the_rule_fits_the_rows_that_it_was_fitted_to() -> None:
    dense = [row for row in shapes() if not row.experts and 3e9 < row.parameters < 80e9]
    estimates = [(row, shape_named(f"x-{row.parameters / 1e9:.1f}b")) for row in dense]

    off = [max(x.layers / row.layers, row.layers / x.layers) for row, x in estimates if x]
    assert len(off) == len(dense) > 20
    assert sorted(off)[len(off) // 2] < 1.2
    assert max(off) < 1.6


def test_an_estimated_size_is_marked_and_has_a_wider_error() -> None:
    known, estimated = shape_of("qwen3-8b"), shape_named("foo-8b")
    assert known is not None
    assert estimated is not None
    bits = quantisation_of("Q4_K_M")

    assert facts_of(known, bits).weights_error == pytest.approx(0.08)
    assert facts_of(estimated, bits).weights_error == pytest.approx(0.08 + 0.15)
    assert facts_of(known, quantisation_of("4-bit")).weights_error == pytest.approx(0.15)
    assert not known.basis
    assert estimated.basis == (
        "foo-8b is not in our table of shapes; the plan is based on the 8B in its name"
    )
    stated = shape_named(read_model("DeepSeek R1").slug)
    assert stated is not None
    assert "671B-A37B (published configuration" in stated.basis


@pytest.mark.parametrize("name", ["foo", "mtp", "ngram", "qwen3-8", "qwen3.6-27b-eagle3:Q8_0"])
def test_words_without_a_size_and_heads_are_not_models(name: str) -> None:
    found = preset_named(name)

    assert found is None


@pytest.mark.parametrize(
    ("name", "model", "quantisation", "repository"),
    [
        ("qwen3.6:27b", "Qwen3.6-27B", "Q4_K_M", "unsloth/Qwen3.6-27B-MTP-GGUF"),
        ("qwen3.8-27b:UD-Q5_K_XL", "Qwen3.8-27B", "UD-Q5_K_XL", "unsloth/Qwen3.8-27B-GGUF"),
        ("qwen3:8b-q8_0", "Qwen3-8B", "Q8_0", "Qwen/Qwen3-8B-GGUF"),
        ("Qwen/Qwen3-8B-AWQ", "Qwen3-8B", "AWQ", None),
        ("me/Qwen3-8B-GGUF:Q8_0", "Qwen3-8B", "Q8_0", "me/Qwen3-8B-GGUF"),
        ("qwen3-coder:30b", "qwen3-coder-30b-a3b", "Q4_K_M", None),
        ("glm-4.5-air:UD-Q4_K_XL", "glm-4.5-air", "UD-Q4_K_XL", None),
    ],
)
def test_a_spelling_is_a_preset_in_its_own_quantisation(
    name: str, model: str, quantisation: str, repository: str | None
) -> None:
    found = preset_named(name)

    assert found is not None
    assert (found.model, found.quantisation) == (model, quantisation)
    assert found.repository == repository
    assert preset_named(found.name) == found
