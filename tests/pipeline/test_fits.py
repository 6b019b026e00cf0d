"""*Will it fit?* adds up the same memory as the planner."""

import random
from typing import Any

import pytest

from answers.catalog import draft_files, model_meant
from answers.listed import model_label, question_by_name
from answers.machines import MachineWords, described_computer
from answers.model import Memory, Setting
from answers.names import read_model
from answers.placement import Draft, Extent, LoadPlan, fit, free_of
from answers.shapes import shapes
from pipeline.site.pages import fits
from schemas.method import DRAFT_MODEL

INPUTS = 1000
ROUNDED_MIB = 5  # five parts, each rounded up


def extent_of(asked: dict[str, Any]) -> tuple[Extent | None, bool]:
    """The page's answer to a question, and whether it is too close to a limit to compare."""
    document: Any = fits.document()
    model = next(each for each in document["models"] if each["id"] == asked["model"])
    quantisation = document["quantisations"].index(asked["quantisation"])
    context, kv = document["contexts"].index(asked["context"]), document["kv"].index(asked["kv"])
    draft = model["drafts"][asked["draft"]]
    need = (
        model["weights"][quantisation]
        + model["cache"][kv][context]
        + model["compute"][kv][context]
        + draft["mib"][kv][context]
    )
    spare = asked["free_mib"] - need - draft["margin"][quantisation]
    most = asked["free_mib"] - need + draft["slack"][quantisation]
    close = min(abs(spare), abs(most)) <= ROUNDED_MIB
    return ("yes" if spare >= 0 else "barely" if most >= 0 else None), close


def case_of(asked: dict[str, Any]) -> LoadPlan:
    """The same question on a card and in ample main memory, built by hand."""
    target = model_meant(read_model(f"{asked['model']}:{asked['quantisation']}"))
    assert target is not None
    head, recurrent = asked["draft"] == "head", target.facts.recurrent
    usual = model_meant(read_model(asked["model"]))
    assert usual is not None
    preset = draft_files(usual).get(DRAFT_MODEL) if asked["draft"] == "model" else None
    small = model_meant(read_model(preset.name)) if preset else None
    return LoadPlan(
        target=target.facts,
        setting=Setting(
            context=asked["context"],
            kv_k=asked["kv"],
            kv_v=asked["kv"],
            rollback_states=3 if head and recurrent else 0,
        ),
        devices=(Memory(name="card", free_mib=asked["free_mib"], estimated=True),),
        host=Memory(name="host", free_mib=1e6),
        uses_head=head,
        draft=Draft(facts=small.facts) if small else None,
    )


def test_the_page_and_the_planner_agree_which_of_a_thousand_models_fit_whole() -> None:
    rng = random.Random(1)  # noqa: S311 - inputs of a test
    drafts = {each["id"]: tuple(each["drafts"]) for each in fits.document()["models"]}  # type: ignore[attr-defined]
    said = []

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
        extent, close = extent_of(asked)
        if close:
            continue
        planned = fit(case_of(asked))
        assert extent == (planned.extent if planned.fits_whole else None), asked
        said.append(extent)

    # the question was not trivial
    assert min(said.count("yes"), said.count(None)) > 200
    assert said.count("barely") > 40


@pytest.mark.parametrize("name", ["qwen3-14b", "qwen3.5-9b", "llama-3.3-70b", "qwen3-30b-a3b"])
def test_the_page_offers_the_drafts_of_the_question(name: str) -> None:
    question = question_by_name(name, described_computer(MachineWords(vram=24)), pairs={})
    assert question is not None
    plain = {way.source: way.name for way in question.ways}

    offered = {key: each["name"] for key, each in fits.needs(name)["drafts"].items()}  # type: ignore[attr-defined]

    assert offered.get("model") == plain.get("model")
    assert ("head" in offered) == ("own-head" in plain)


def test_a_model_needs_its_weights_its_cache_and_a_margin() -> None:
    alone = fits.needs("llama-3.2-1b")

    # 16 layers, 8 heads of 64 for keys and for values, 2 bytes each, 2,048 tokens: 64 MiB.
    assert alone["cache"][0][0] == 64  # type: ignore[index]
    # q8_0 takes 34 bytes for 32 values: 64 x 17 / 32.
    assert alone["cache"][1][0] == 34  # type: ignore[index]
    assert alone["drafts"]["none"]["margin"] == [1024] * len(fits.QUANTISATIONS)  # type: ignore[index]


def test_names_are_printed_as_people_write_them() -> None:
    names = ("qwen3-30b-a3b", "llama-3.1-8b", "gpt-oss-20b", "phi-4", "smollm2-135m")

    labels = [model_label(name) for name in names]

    assert labels == ["Qwen3 30B-A3B", "Llama 3.1 8B", "gpt-oss-20b", "Phi 4", "SmolLM2 135M"]
