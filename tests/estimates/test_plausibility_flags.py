"""Flags for implausible figures spare honest ones, and their reference data are sound."""

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from estimates.flags.plan import suites
from estimates.roofline import bandwidth_gb_per_s, devices, floor, normalised
from estimates.summary import summarize
from harness.campaign.suite import load
from schemas import contract
from schemas.submission import Gpu, Submission
from tests.estimates.campaigns import campaign, trial
from tests.first_results import FIRST
from tests.samples import sample

TABLE = json.loads(resources.files("schemas").joinpath("devices.json").read_text("utf-8"))
IMPLAUSIBLE = {
    "above-roofline",
    "cheap-rounds",
    "gpu-use-not-shown",
    "near-ties",
    "zero-spread",
    "unknown-suite",
}


def names(submission: Submission) -> set[str]:
    return {flag.name for flag in summarize(submission).flags}


def on_cards(*cards: str, ms: float, gb: float = 10.0) -> Submission:
    """A model of this many GB with this time per token on these cards."""
    bare = campaign([trial("baseline", decode_ms=10 * ms, rounds=10)])
    return replace(
        bare,
        machine=replace(bare.machine, gpus=tuple(Gpu(name=card) for card in cards)),
        target=replace(bare.target, file_bytes=int(gb * 1e9)),
    )


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("NVIDIA GeForce RTX 4090", "rtx 4090"),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "rtx 4060 laptop"),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "rx 7900 xtx"),
        ("Intel(R) Arc(TM) B580 Graphics", "arc b580"),
        ("NVIDIA A100-SXM4-80GB", "a100 sxm4 80gb"),
        ("Apple M3 Max", "apple m3 max"),
    ],
)
def test_a_device_is_found_by_the_name_that_its_driver_gives(name: str, plain: str) -> None:
    assert normalised(name) == plain
    assert bandwidth_gb_per_s(name) == devices().bandwidth_gb_per_s[plain]


def test_the_names_of_the_table_are_normalised_and_their_figures_in_reach() -> None:
    table = devices().bandwidth_gb_per_s

    assert all(normalised(name) == name for name in devices().names)
    assert all(20 <= figure <= devices().unknown_device_gb_per_s / 2 for figure in table.values())


# Graphics that only read main memory have no bandwidth of their own.
WITH_BANDWIDTH = [name for name, each in TABLE["devices"].items() if "bus_bits" in each]


@pytest.mark.parametrize("name", WITH_BANDWIDTH)
def test_bus_width_and_data_rate_give_the_bandwidth_that_others_quote(name: str) -> None:
    device = TABLE["devices"][name]
    quoted = device["quoted_gb_per_s"]

    assert device["bus_bits"] % 32 == 0
    assert 1 <= device["data_rate_gtps"] <= 32
    assert device["bus_bits"] * device["data_rate_gtps"] / 8 == pytest.approx(quoted, rel=0.025)


def test_a_card_without_a_bandwidth_reads_main_memory() -> None:
    without = [name for name in TABLE["devices"] if name not in WITH_BANDWIDTH]

    assert "780m" in without
    assert all(TABLE["devices"][name]["shares_memory"] for name in without)
    assert not devices().bandwidth_gb_per_s.keys() & set(without)


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [("rtx 4090", 384 * 21 / 8), ("rtx 2080 ti", 352 * 14 / 8), ("apple m4", 128 * 7.5 / 8)],
)
def test_a_bandwidth_is_computed_from_the_bus(name: str, by_hand: float) -> None:
    assert devices().bandwidth_gb_per_s[name] == pytest.approx(by_hand)


def test_every_device_states_the_source_of_its_figures() -> None:
    sources = {name: device["source"] for name, device in TABLE["devices"].items()}

    assert all(said.startswith(("looked up: ", "computed: ")) for said in sources.values())
    assert not any("://" in said for said in sources.values())
    assert all(len(said) > len("looked up: x") for said in sources.values())


def test_a_card_cannot_read_faster_than_its_memory() -> None:
    # 10 GB, of which the cache may keep 0.13, over 1008 GB/s are 9.8 ms; 25 % are allowed for.
    least = floor(on_cards("NVIDIA GeForce RTX 4090", ms=1.0))

    assert least is not None
    assert least.step_ms == pytest.approx(9.787, abs=0.001)
    assert "above-roofline" in names(on_cards("NVIDIA GeForce RTX 4090", ms=7.8))
    assert "above-roofline" not in names(on_cards("NVIDIA GeForce RTX 4090", ms=7.9))


def test_two_cards_may_share_the_reading() -> None:
    assert "above-roofline" not in names(on_cards("RTX 4090", "RTX 4090", ms=5.0))


def test_an_unknown_card_is_limited_only_by_the_fastest_card() -> None:
    # 10 GB over 25 000 GB/s are 0.4 ms.
    assert "above-roofline" not in names(on_cards("Voodoo 3 3500", "RTX 4090", ms=1.0))
    assert "above-roofline" in names(on_cards("Voodoo 3 3500", ms=0.1))


def test_the_suite_of_this_version_is_a_released_one() -> None:
    suite = load("core")

    assert suites()[suite.id][suite.version] == suite.sha256


def test_a_custom_suite_raises_only_a_note() -> None:
    bare = sample()
    own = replace(bare, suite=replace(bare.suite, id="mine", sha256="f" * 64))
    (flag,) = [each for each in summarize(own).flags if each.name == "unknown-suite"]

    assert flag.severity == "note"


@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem[-8:])
def test_a_result_of_this_repository_is_plausible(path: Path) -> None:
    submission = contract.read(path.read_bytes())

    assert isinstance(submission, Submission)
    assert not names(submission) & IMPLAUSIBLE


def test_honest_samples_are_plausible() -> None:
    honest = [sample(seed=seed, blocks=1 + seed % 3) for seed in range(4)]

    assert not any(names(each) & IMPLAUSIBLE for each in honest)
