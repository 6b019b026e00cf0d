"""Devices, targets and sizes have short names that people know and addresses that hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.pipeline.tables import campaign, database, entry, one


@pytest.mark.parametrize(
    ("marketing", "short"),
    [
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "RTX 4060 Laptop"),
        ("NVIDIA GeForce RTX 5060 Ti", "RTX 5060 Ti"),
        ("AMD Radeon RX 7900 XTX", "Radeon RX 7900 XTX"),
        ("Intel(R) Arc(TM) A770 Graphics", "Arc A770"),
        ("Intel(R) Core(TM) i7-9700K CPU @ 3.60GHz", "Core i7-9700K"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Xeon 2.20GHz"),
        ("AMD Ryzen 7 7840U w/ Radeon 780M Graphics", "Ryzen 7 7840U"),
        ("AMD EPYC 7B12 64-Core Processor", "EPYC 7B12"),
        ("Apple M2 Max", "Apple M2 Max"),
    ],
)
def test_display_names_drop_the_boilerplate(marketing: str, short: str) -> None:
    connection = database(campaign(1.0, gpu=marketing, vram_mib=8192))

    assert one(connection, "select device_name, device_label from setup") == (
        short,
        f"{short} 8 GB",
    )


def test_a_processor_is_named_with_its_threads() -> None:
    connection = database(campaign(1.0, gpu=None, backend="cpu"))

    assert one(connection, "select device, device_label, vram_gib from setup") == (
        "ryzen-7-7845hs-16-threads",
        "Ryzen 7 7845HS 16 threads",
        None,
    )


def test_a_name_without_a_latin_letter_still_has_an_address() -> None:
    device, target = one(
        database(campaign(1.0, gpu="显卡", vram_mib=8192)), "select device, target from setup"
    )

    assert (device, target) == ("8-gb", "sample-7b")


@pytest.mark.parametrize(
    ("parameters", "size_class"),
    [
        (999_999_999, "<1B"),
        (1_000_000_000, "1–3B"),  # noqa: RUF001 - en dash
        (3_000_000_000, "3–8B"),  # noqa: RUF001 - en dash
        (8_000_000_000, "8–16B"),  # noqa: RUF001 - en dash
        (16_000_000_000, "16–40B"),  # noqa: RUF001 - en dash
        (40_000_000_000, ">40B"),
    ],
)
def test_size_classes_begin_at_their_lower_bound(parameters: int, size_class: str) -> None:
    connection = database(campaign(1.0, parameters=parameters))

    assert one(connection, "select size_class from target") == (size_class,)


def test_a_mixture_of_experts_is_shown_by_total_and_active_parameters() -> None:
    base = campaign(1.0, parameters=30_000_000_000)
    target = replace(base.submission.target, active_parameters=3_000_000_000)
    connection = database(entry(replace(base.submission, target=target), base.summary))

    assert one(connection, "select parameters_label, size_class from target") == (
        "30B (3B active)",
        "16–40B",  # noqa: RUF001 - en dash
    )
