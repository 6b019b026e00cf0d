"""A name that several cards share is distinguished from the name of one card."""

from dataclasses import replace

import pytest

from estimates.gpu_names import is_placeholder
from estimates.roofline import devices
from estimates.summary import summarize
from tests.estimates.flag_machines import called
from tests.pipeline.tables import Example, database

PLACEHOLDERS = """
AMD Device 7551|Intel Device e223|NVIDIA Corporation Device 2684|Device 1002:7551|AMD GPU|GPU
AMD Radeon RX 9070/9070 XT/9070 GRE|Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]
AMD Radeon RX 6800/6800 XT / 6900 XT|Radeon RX 470/480/570/570X/580/580X/590
AMD Radeon Graphics|AMD Radeon(TM) Graphics|AMD Radeon Graphics (RADV GFX1151)|Intel(R) Graphics
NVIDIA Graphics Device|Microsoft Basic Display Adapter|Standard VGA Graphics Adapter|gfx1100
Advanced Micro Devices, Inc. [AMD/ATI] Device 744c|AMD Navi 48|Intel Graphics (BMG G21)|NVIDIA GB202
llvmpipe (LLVM 15.0.7, 256 bits)|VMware SVGA 3D|Red Hat, Inc. Virtio GPU|VGA compatible controller
"""
CARDS = """
NVIDIA GeForce RTX 4090|NVIDIA GB10|Orin (nvgpu)|AMD Radeon RX 7900 XTX (RADV NAVI31)|Apple M3 Max
DG2 [Arc A770]|AMD Radeon 780M Graphics|Radeon 8060S Graphics|Intel(R) Arc(TM) 140V GPU (16GB)
Intel(R) UHD Graphics 770|Intel Iris Xe Graphics|NVIDIA A100-SXM4-80GB|AMD Instinct MI300X
AMD Ryzen 7 7840HS w/ Radeon 780M Graphics|NVIDIA Thor|Adreno (TM) 740|AMD Custom GPU 0405|L4
NVIDIA RTX 6000 Ada Generation|NVIDIA A100 MIG 1g.5gb|AMD Radeon Vega Frontier Edition|CMP 170HX
"""


def names(table: str) -> list[str]:
    return [name for line in table.split("\n") for name in line.split("|") if name]


@pytest.mark.parametrize("name", names(PLACEHOLDERS))
def test_a_placeholder_is_not_a_card(name: str) -> None:
    assert is_placeholder(name)


@pytest.mark.parametrize("name", [*names(CARDS), *devices().names])
def test_the_name_of_a_card_is_not_a_placeholder(name: str) -> None:
    assert not is_placeholder(name)


def test_a_device_that_is_not_identified_gets_no_page() -> None:
    known, unknown = called("AMD Radeon RX 9070 XT"), called("AMD Device 7551")
    apart = replace(unknown, contributor="bob")

    connection = database(
        *(Example(submission=each, summary=summarize(each)) for each in (known, apart))
    )

    labels = connection.sql("select device_label from device").fetchall()
    assert [label.split(" 8")[0] for (label,) in labels] == ["RX 9070 XT"]
    reasons = connection.sql(
        "select standing_reason from standing where standing = 'flagged'"
    ).fetchall()
    message = "The device is not identified: AMD Device 7551 does not name a single card."
    assert reasons == [(message,)]
