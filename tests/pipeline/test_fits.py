"""*Will it fit?* adds up the same memory as the planner."""

import random
from typing import Any

import pytest

from answers.listed import model_label
from answers.model import Memory, Setting
from answers.model_names import quantisation_of
from answers.placement import Draft, LoadPlan, fit, free_of
from answers.shapes import facts_of, shape_of, shapes
from pipeline.site.pages import fits

INPUTS = 1000
ROUNDED_MIB = 5  # five parts, each rounded up


def need_mib(asked: dict[str, Any]) -> int:
    """The memory that the page adds up for a question."""
    document: Any = fits.document()
    model = next(each for each in document["models"] if each["id"] == asked["model"])
    quantisation = document["quantisations"].index(asked["quantisation"])
    context, kv = document["contexts"].index(asked["context"]), document["kv"].index(asked["kv"])
    draft = model["drafts"][asked["draft"]]
    return (
        model["weights"][quantisation]
        + model["cache"][kv][context]
        + model["compute"][context]
        + draft["mib"][kv][context]
        + draft["margin"][quantisation]
    )


def case_of(asked: dict[str, Any]) -> LoadPlan:
    """The same question on a card and in ample main memory, built by hand."""
    shape = shape_of(asked["model"])
    assert shape is not None
    facts = facts_of(shape, quantisation_of(asked["quantisation"]), with_head=shape.head_layers > 0)
    head = asked["draft"] == "head"
    setting = Setting(
        context=asked["context"],
        kv_k=asked["kv"],
        kv_v=asked["kv"],
        rollback_states=3 if head and facts.recurrent else 0,
    )
    small = fits.draft_of(shape) if asked["draft"] == "model" else None
    return LoadPlan(
        target=facts,
        setting=setting,
        devices=(Memory(name="card", free_mib=asked["free_mib"]),),
        host=Memory(name="host", free_mib=1e6),
        uses_head=head,
        draft=small
        and Draft(facts=facts_of(small, quantisation_of("Q8_0"), with_head=small.head_layers > 0)),
    )


def test_the_page_and_the_planner_agree_which_of_a_thousand_models_fit_whole() -> None:
    rng = random.Random(1)  # noqa: S311 - inputs of a test
    drafts = {each["id"]: tuple(each["drafts"]) for each in fits.document()["models"]}  # type: ignore[attr-defined]
    fitted = []

    for _ in range(INPUTS):
        model = rng.choice(shapes()).name
        asked = {
            "model": model,
            "quantisation": rng.choice(fits.QUANTISATIONS),
            "context": rng.choice(fits.CONTEXTS),
            "kv": rng.choice(fits.KV_TYPES),
            "draft": rng.choice(drafts[model]),
            "free_mib": free_of(1024 * rng.choice((4, 6, 8, 12, 16, 24, 48, 96))),
        }
        need = need_mib(asked)
        if abs(need - asked["free_mib"]) <= ROUNDED_MIB:
            continue
        assert (need <= asked["free_mib"]) == (fit(case_of(asked)).extent == "yes"), asked
        fitted.append(need <= asked["free_mib"])

    assert 200 < sum(fitted) < len(fitted) - 200  # the question was not trivial


def test_a_model_needs_its_weights_its_cache_and_a_margin() -> None:
    shape = shape_of("llama-3.2-1b")
    assert shape is not None
    alone = fits.needs(shape)

    # 16 layers, 8 heads of 64 for keys and for values, 2 bytes each, 2,048 tokens: 64 MiB.
    assert alone["cache"][0][0] == 64  # type: ignore[index]
    # q8_0 takes 34 bytes for 32 values: 64 x 17 / 32.
    assert alone["cache"][1][0] == 34  # type: ignore[index]
    assert alone["drafts"]["none"]["margin"] == [1024] * len(fits.QUANTISATIONS)  # type: ignore[index]


def test_names_are_printed_as_people_write_them() -> None:
    names = ("qwen3-30b-a3b", "llama-3.1-8b", "gpt-oss-20b", "phi-4", "smollm2-135m")

    labels = [model_label(name) for name in names]

    assert labels == ["Qwen3 30B-A3B", "Llama 3.1 8B", "gpt-oss-20b", "Phi 4", "SmolLM2 135M"]


@pytest.mark.parametrize(
    ("target", "draft"),
    [("qwen3-14b", "qwen3-0.6b"), ("llama-3.3-70b", "llama-3.2-1b"), ("qwen2.5-1.5b", None)],
)
def test_a_draft_is_a_much_smaller_model_of_the_same_family(target: str, draft: str | None) -> None:
    shape = shape_of(target)
    assert shape is not None

    small = fits.draft_of(shape)

    assert (small and small.name) == draft
