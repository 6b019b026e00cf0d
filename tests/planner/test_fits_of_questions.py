"""Answers about fit agree with what people run."""

import pytest

from planner.catalog import model_meant
from planner.machines import MachineWords, described_computer
from planner.model import Setting
from planner.names import read_model
from planner.placement import Extent, LoadPlan, Projection, fit
from planner.shapes import stated_bytes
from planner.usual_weights import QUANTISATIONS, largest_quantisation


def plan_of(model: str, card: str, ram: float = 32) -> LoadPlan:
    target = model_meant(read_model(model))
    assert target is not None
    return described_computer(MachineWords(gpus=(card,), ram=ram)).load(target.facts, Setting())


def fitted(model: str, card: str, ram: float = 32) -> Projection:
    return fit(plan_of(model, card, ram))


@pytest.mark.parametrize(
    ("model", "card", "extents"),
    [
        ("qwen3.8-27b:Q3_K_M", "RTX 5080", {"yes", "barely"}),
        ("qwen3.5-9b:Q4_K_M", "RTX 4060 Laptop 8 GB", {"yes"}),
        ("qwen3.8-27b:IQ4_XS", "RTX 5060 Ti 16 GB", {"yes", "barely"}),
        ("llama-3.3-70b:Q4_K_M", "2x RTX 3090", {"barely"}),
        ("qwen3.8-27b:Q4_K_M", "RTX 5060 Ti 16 GB", {"partly"}),
    ],
)
def test_models_that_people_run_whole_on_a_card_fit_there(
    model: str, card: str, extents: set[Extent]
) -> None:
    assert fitted(model, card).extent in extents


def test_experts_in_main_memory_make_room_for_a_large_mixture() -> None:
    assert fitted("gpt-oss-120b", "RTX 5090", ram=128).extent == "partly"


def test_a_table_of_embeddings_counts_in_main_memory() -> None:
    """A DGX Spark held 27,466 MiB of UD-Q4_K_XL in main memory, 78,056 MiB on its card."""
    found = fitted("qwen3.8-flash-next:UD-Q4_K_XL", "RTX PRO 6000 96 GB", ram=64)

    assert found.devices[0].model == pytest.approx(78_056, rel=0.02)
    assert found.host.model == pytest.approx(27_466, rel=0.02)
    assert fitted("qwen3.8-flash-next:UD-IQ1_S", "RTX 5090", ram=32).extent == "no"


@pytest.mark.parametrize(
    ("model", "gigabytes"),
    [
        ("qwen3.8-flash-next:UD-IQ1_S", 72.55),
        ("Ternary-Bonsai-27B", 7.17),
        ("gemma-4-e4b:Q4_K_M", 4.98),
        ("gpt-oss-20b:Q8_0", 12.1),  # its experts have the same bits in every file
        ("gpt-oss-20b:F16", 13.8),
        ("gemma-3n-e4b:Q4_K_M", 4.54),
    ],
)
def test_sizes_of_files_are_those_of_public_listings(model: str, gigabytes: float) -> None:
    target = model_meant(read_model(model))

    assert target is not None
    assert target.facts.model_bytes / 1e9 == pytest.approx(gigabytes, rel=0.04)


def test_a_size_is_stated_for_a_model_and_a_quantisation() -> None:
    assert stated_bytes("qwen3.8-flash-next", "UD-IQ1_S") == 72_546_461_344
    assert stated_bytes("qwen3.8-flash-next", "UD-Q6_K_XL") is None


@pytest.mark.parametrize(
    ("model", "card", "may_fit", "certain"),
    [
        ("qwen3.8-27b", "RTX 5060 Ti 16 GB", "IQ4_XS", "Q3_K_M"),
        ("qwen3.8-27b", "RTX 5090", "Q8_0", "Q8_0"),
        ("gpt-oss-20b", "RTX 4060 Ti 16 GB", "MXFP4", "MXFP4"),
        ("gpt-oss-120b", "RTX 5090", None, None),
    ],
)
def test_the_largest_quantisation_is_the_first_that_fits_whole(
    model: str, card: str, may_fit: str | None, certain: str | None
) -> None:
    plan = plan_of(model, card)

    assert largest_quantisation(plan) == may_fit
    assert largest_quantisation(plan, certain=True) == certain


def test_no_larger_quantisation_than_the_largest_is_certain_to_fit() -> None:
    largest = largest_quantisation(plan_of("qwen3-14b", "RTX 3060 12 GB"), certain=True)

    assert largest is not None
    for name in QUANTISATIONS[: QUANTISATIONS.index(largest)]:
        assert fitted(f"qwen3-14b:{name}", "RTX 3060 12 GB").extent != "yes"
