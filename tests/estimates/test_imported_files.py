"""The imported files of InventiveHQ give the figures that their source gives."""

import math
from functools import cache

import pytest

from estimates.summary import summarize
from schemas.contract import read
from schemas.submission import Submission
from tests.first_results import FIRST


@cache
def files() -> list[Submission]:
    """The imported files of this source."""
    return [
        found
        for path in FIRST
        if isinstance(found := read(path.read_bytes()), Submission)
        and found.origin is not None
        and found.origin.format == "inventivehq"
    ]


def of(device: str, target: str, backend: str) -> Submission:
    (only,) = (
        found
        for found in files()
        if device in (found.machine.gpus[0].name if found.machine.gpus else found.machine.cpu.name)
        and target in found.target.name
        and found.engine.backend == backend
    )
    return only


# Paired geometric means over the prompts of the source's own records, and how many of the twelve
# outputs have the baseline's hash; the i7's records hold no hashes.
@pytest.mark.parametrize(
    ("device", "target", "backend", "speedup", "same"),
    [
        ("5060 Ti", "14B", "cuda", 1.3473, 8),
        ("5060 Ti", "7B", "cuda", 0.2654, 6),
        ("5060 Ti", "7B", "vulkan", 0.9120, 8),
        ("1080 Ti", "7B", "cuda", 0.9426, 6),
        ("1080 Ti", "7B", "vulkan", 0.6564, 7),
        ("M3 Max", "7B", "metal", 0.6081, 9),
        ("M3 Max", "7B", "cpu", 1.1789, 4),
        ("i7-8700", "3B", "cpu", 1.6472, 0),
    ],
)
def test_speedup_and_equal_outputs_of_the_draft_arm_are_those_of_the_records(
    device: str, target: str, backend: str, speedup: float, same: int
) -> None:
    prompts = [
        each for each in summarize(of(device, target, backend)).prompts if each.arm == "draft_0_5b"
    ]

    mean = math.exp(sum(math.log(each.speedup) for each in prompts) / len(prompts))
    assert mean == pytest.approx(speedup, abs=1e-3)
    assert sum(each.exactness == "identical" for each in prompts) == same


def test_the_slow_prompts_of_the_m3_max_flag_themselves() -> None:
    flags = {flag.name: flag for flag in summarize(of("M3 Max", "7B", "cpu")).flags}

    assert {"uneven-baseline", "never-drafted"} <= flags.keys()
    # 1.7, 2.3 and 2.6 tokens/s on three prompts, 17.3 to 18.3 on nine.
    assert flags["uneven-baseline"].severity == "serious"
    assert "1.7 to 2.6 tokens/s" in flags["uneven-baseline"].message
    assert "on code_linkedlist, code_lru and chat_explain" in flags["uneven-baseline"].message
