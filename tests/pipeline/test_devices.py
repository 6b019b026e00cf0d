"""Under which name does a result stand that ran on one card, on several, or on one of several?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from estimates.summary import summarize
from schemas.submission import Device, Gpu
from tests.pipeline.tables import database, entry, one
from tests.samples import sample

if TYPE_CHECKING:
    from schemas.submission import Submission


BIG = Gpu(name="NVIDIA GeForce RTX 3090", vendor="nvidia", vram_mib=24576)
SMALL = Gpu(name="NVIDIA GeForce RTX 3060", vendor="nvidia", vram_mib=12288)


def on(*gpus: Gpu, listed: int | None = None) -> Submission:
    """A result of a machine with these cards, of which the engine lists so many."""
    plain = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    devices = None
    if listed is not None:
        devices = tuple(Device(name=f"CUDA{number}", kind="gpu") for number in range(listed))
    return replace(
        plain,
        machine=replace(plain.machine, gpus=gpus),
        engine=replace(plain.engine, devices=devices),
    )


@pytest.mark.parametrize(
    ("submission", "label", "vram_gib"),
    [
        (on(BIG, listed=1), "RTX 3090 24 GB", 24),
        (on(BIG, BIG, listed=2), "2 × RTX 3090 24 GB", 48),  # noqa: RUF001 - as printed
        (on(BIG, BIG), "2 × RTX 3090 24 GB", 48),  # noqa: RUF001 - as printed
        (on(BIG, SMALL, listed=1), "RTX 3090 24 GB", 24),
        (on(BIG, SMALL, listed=2), "RTX 3090 + RTX 3060 36 GB", 36),
    ],
)
def test_a_result_stands_under_the_cards_that_it_used(
    submission: Submission, label: str, vram_gib: int
) -> None:
    connection = database(entry(submission, summarize(submission)))

    assert one(connection, "select device_label, vram_gib from setup") == (label, vram_gib)


def test_two_cards_and_one_of_them_never_share_a_cell() -> None:
    pair, single = on(BIG, BIG), on(BIG)
    connection = database(entry(pair, summarize(pair)), entry(single, summarize(single)))

    assert one(connection, "select count(distinct device) from cell") == (2,)
    assert one(connection, "select max(submissions) from cell") == (1,)
