"""Odd output of system programs is read as far as possible, without an exception."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from estimates.identity import identify
from harness.cli import app
from harness.machine import command, macos, nvidia, windows
from harness.machine.detect import machine
from schemas.contract import read
from schemas.submission import Gpu, Submission
from tests.harness.openai.fake_server import serving
from tests.harness.rigs import with_ids

needs_scripts = pytest.mark.skipif(os.name != "posix", reason="a script stands in for nvidia-smi")

CARD = {"sppci_model": "Apple M3 Pro", "spdisplays_mtlgpufamilysupport": "spdisplays_metal3"}
M3 = (Gpu(name="Apple M3 Pro", vendor="apple", api="Metal 3"),)
PLAIN_M3 = (Gpu(name="Apple M3 Pro", vendor="apple"),)
DEEP = "[" * 900 + "]" * 900


def displays(value: object) -> str:
    return json.dumps({"SPDisplaysDataType": value})


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        (displays([CARD]), M3),
        (displays(CARD), M3),
        (displays([[CARD]]), M3),
        (displays([None, "text", 7, CARD, {}]), M3),
        (f"[{displays([CARD])}]", M3),
        (displays([{**CARD, "spdisplays_mtlgpufamilysupport": ["spdisplays_metal3"]}]), PLAIN_M3),
        (displays([{**CARD, "spdisplays_mtlgpufamilysupport": None}]), PLAIN_M3),
        (displays([{"sppci_model": None, "_name": "Apple M3 Pro"}]), PLAIN_M3),
        (displays([{"sppci_model": ["x"], "_name": "Apple M3\n Pro\u0001"}]), PLAIN_M3),
        (displays([{**CARD, "spdisplays_vram": 8}]), M3),
        (displays([{**CARD, "spdisplays_vram": "9" * 30 + " GB"}]), M3),
        (displays([{"sppci_model": {"a": 1}}]), ()),
        (displays(3), ()),
        ("7", ()),
        ("", ()),
        (displays([CARD])[:40], ()),
        (DEEP, ()),
        (f'{{"SPDisplaysDataType": {DEEP}}}', ()),
    ],
)
def test_a_mac_lists_its_gpus_in_any_form(text: str, gpus: tuple[Gpu, ...]) -> None:
    assert macos.parse_displays(text) == gpus


RYZEN, RADEON = {"Name": "AMD Ryzen 7"}, {"Name": "AMD Radeon 610M", "DriverVersion": "31.0"}
RAM = {"ConfiguredClockSpeed": 5200, "SMBIOSMemoryType": 34}
GPU = (Gpu(name="AMD Radeon 610M", vendor="amd", driver="31.0"),)
ALL = windows.Parts(cpu_name="AMD Ryzen 7", gpus=GPU, ram_type="DDR5", ram_mts=5200)
WHOLE = {"cpu": [RYZEN], "gpu": [RADEON], "ram": [RAM]}


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (WHOLE, ALL),
        ({"cpu": RYZEN, "gpu": RADEON, "ram": RAM}, ALL),
        ([WHOLE], ALL),
        ({"cpu": [[RYZEN]], "gpu": [None, [RADEON]], "ram": [None, RAM]}, ALL),
        ({**WHOLE, "ram": [{"ConfiguredClockSpeed": "5200", "SMBIOSMemoryType": "34"}]}, ALL),
        ({**WHOLE, "ram": [{"ConfiguredClockSpeed": 5200.0, "SMBIOSMemoryType": 34.0}]}, ALL),
        ({"gpu": [RADEON]}, windows.Parts(gpus=GPU)),
        (
            {"gpu": RADEON, "cpu": None, "ram": "@{ConfiguredClockSpeed=5200}"},
            windows.Parts(gpus=GPU),
        ),
        ({"gpu": [RADEON, {"Name": None}, {"Name": 3}, "x", {}]}, windows.Parts(gpus=GPU)),
        (
            {"gpu": [{"Name": "AMD Radeon 610M", "DriverVersion": {"value": 1}}]},
            windows.Parts(gpus=(Gpu(name="AMD Radeon 610M", vendor="amd"),)),
        ),
        ({"cpu": [{"Name": ["AMD"]}], "ram": [{"ConfiguredClockSpeed": None}]}, windows.Parts()),
        ({"ram": [{"ConfiguredClockSpeed": -1, "SMBIOSMemoryType": [34]}]}, windows.Parts()),
        ({"ram": [{"ConfiguredClockSpeed": 10**300, "SMBIOSMemoryType": True}]}, windows.Parts()),
        ({"ram": [{"ConfiguredClockSpeed": "NaN", "SMBIOSMemoryType": "1e999"}]}, windows.Parts()),
        ({"cpu": 1, "gpu": "x", "ram": True}, windows.Parts()),
        ({}, windows.Parts()),
        ("text", windows.Parts()),
    ],
)
def test_windows_lists_its_parts_in_any_form(value: object, parts: windows.Parts) -> None:
    assert windows.parse_parts(json.dumps(value)) == parts


@pytest.mark.parametrize("text", ["", "\ufeff", "{", json.dumps(WHOLE)[:-5], "WARNING: x", DEEP])
def test_text_that_is_not_json_has_no_parts(text: str) -> None:
    assert windows.parse_parts(text) == windows.Parts()


def test_a_byte_order_mark_is_not_part_of_json() -> None:
    assert windows.parse_parts("\ufeff" + json.dumps(WHOLE)) == ALL


GOOD = "NVIDIA GeForce RTX 3060, 12288, 580.95, 4, 8, 170.00, 170.00, Enabled"
LOST_ROW = ", ".join(["[GPU is lost]"] * 8)


@pytest.mark.parametrize(
    "row",
    [
        LOST_ROW,
        "NVIDIA GeForce RTX 4090, [GPU is lost], 580.95, 4, 16, 450.00, 450.00, Disabled",
        "[Unknown Error], [Unknown Error], 580.95, 4, 16, ERR!, ERR!, [N/A]",
        "ERR!, 24564, 580.95, 4, 16, 450.00, 450.00, Disabled",
        ", 24564, 580.95, 4, 16, 450.00, 450.00, Disabled",
        "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.",
        "No devices were found",
        '"NVIDIA GeForce',
        "x" * 200_000,
    ],
)
def test_a_row_without_a_card_is_left_out(row: str) -> None:
    rows = nvidia.chosen_rows(with_ids(f"{row}\n{GOOD}"), nvidia.Visible())

    (card,) = nvidia.parse_cards(rows, "").gpus

    assert (card.name, card.vram_mib) == ("NVIDIA GeForce RTX 3060", 12288)


@pytest.mark.parametrize(
    "odd", ["[N/A]", "ERR!", "[GPU requires reset]", "0", "-1", "9" * 5000, "1e9"]
)
def test_a_field_without_a_number_is_unknown(odd: str) -> None:
    row = f"NVIDIA GeForce RTX 3060, {odd}, [N/A], {odd}, {odd}, {odd}, {odd}, {odd}"

    (card,) = nvidia.parse_cards(row, "").gpus

    assert card == Gpu(name="NVIDIA GeForce RTX 3060", vendor="nvidia")


def test_readings_outside_the_format_are_dropped() -> None:
    # Eight cards draw more than the format takes for one.
    many = nvidia.parse_state("\n".join(["1980, 60, 700.00, 0x0"] * 8))
    odd = nvidia.parse_state("ERR!, [N/A], 70.00, [GPU is lost]\n999999, 61, ERR!, 0x4")

    assert (many.clock_mhz, many.temperature_c, many.power_w) == (1980, 60, None)
    assert (odd.clock_mhz, odd.temperature_c, odd.power_w) == (None, 61, None)
    assert odd.throttled is True


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program `nvidia-smi` on the PATH."""
    program = folder / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@needs_scripts
def test_a_driver_that_hangs_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, f"echo asked >> {tmp_path}/calls; exec sleep 60")
    monkeypatch.setattr(command, "_LIMIT_S", 0.5)
    began = time.monotonic()

    described, state = machine(), nvidia.state()

    assert time.monotonic() - began < 10
    assert all(card.vendor != "nvidia" for card in described.gpus)
    assert state == nvidia.GpuState()
    assert (tmp_path / "calls").read_text() == "asked\n"


TWO = """\
GPU-aa, 00000000:01:00.0, NVIDIA GeForce RTX 3090, 24576, 580, 4, 16, 350, 350, Disabled
GPU-bb, 00000000:02:00.0, NVIDIA GeForce RTX 3060, 12288, 580, 4, 8, 170, 170, Disabled
"""
# Two cards that each drew 4 J more whenever somebody asks.
METER = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **card) { return uuid[0] != 'G'; }
int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *drawn_mj) {
  static unsigned long long asked;
  *drawn_mj = 4000 * ++asked;
  return 0;
}
"""
SMALL = ("--tasks", "code", "--prompts", "1", "--max-tokens", "8", "--blocks", "1")


@needs_scripts
@pytest.mark.usefixtures("cache_dir")
def test_a_run_asks_for_the_card_and_records_the_given_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "GPU-aa, 00000000:01:00.0, GPU-aa\nGPU-bb, 00000000:02:00.0, GPU-bb\n"
    table = (
        f"case $1 in --query-gpu=uuid,pci.bus_id,name*) cat <<END\n{TWO}END\n;;"
        f"--query-gpu=uuid,pci.bus_id,uuid*) cat <<END\n{rows}END\n;; esac"
    )
    stand_in(tmp_path, monkeypatch, table)
    library, source = tmp_path / "nvml.so", tmp_path / "nvml.c"
    source.write_text(METER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)  # noqa: S607
    monkeypatch.setattr(nvidia, "_NVML", str(library))
    nvidia._counters.cache_clear()  # noqa: SLF001 - each process asks once
    output = tmp_path / "out.json"

    with serving(style="plain") as base, serving(style="plain", depth=3) as other:
        words = [
            *("run", "--runner", "openai", "--base-url", base.url, "--spec-base-url", other.url),
            *("--method", "draft-model:n_max=3", "--draft", "Tiny", "-o", str(output), *SMALL),
        ]
        asked = CliRunner().invoke(app, words)
        done = CliRunner().invoke(app, [*words, "--backend", "cuda", "--device-name", "RTX 3060"])

    assert asked.exit_code == 2
    assert "RTX 3090 24 GB, NVIDIA GeForce RTX 3060 12 GB" in asked.stderr
    assert not asked.stdout
    assert done.exit_code == 0, done.stderr
    result = read(output.read_bytes())
    assert isinstance(result, Submission)
    assert identify(result).device_label == "RTX 3060 12 GB"
    assert len(result.machine.gpus) == 2
    # Asked before and after: 4 + 8 J, then 12 + 16 J, for 8 tokens.
    assert {trial.energy_j for trial in result.trials} == {16.0}
    shown = CliRunner().invoke(app, ["show", str(output), "--details"]).stdout
    assert "Energy: 2.00 J for a token instead of 2.00 J." in shown
    nvidia._counters.cache_clear()  # noqa: SLF001
