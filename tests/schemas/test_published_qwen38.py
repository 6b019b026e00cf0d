"""The transcription of qwen38-mtp agrees with the table it was made from, line by line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "captures" / "published" / "qwen38-mtp.tsv"
PUBLISHED = ROOT / "results" / "published"
LINES = [
    line.split("\t")
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def rows(source: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((PUBLISHED / f"{source}.json").read_bytes())["rows"]
    return found


def pairs(source: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each row with speculation and its baseline."""
    by_id = {row["id"]: row for row in rows(source)}
    return [(row, by_id[row["baseline_row"]]) for row in by_id.values() if "baseline_row" in row]


def figure(row: dict[str, Any], quantity: str) -> dict[str, Any]:
    return next(
        (figure for figure in row["figures"] if figure["quantity"] == quantity),
        {"value": None},
    )


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_the_table_has_53_rows_of_40_people_and_so_has_the_file() -> None:
    found = pairs("qwen38-mtp")

    assert (len(LINES), len(found)) == (53, 53)
    assert [row["contributor"] for row, _ in found] == [line[5] for line in LINES]
    assert len({line[5] for line in LINES}) == 40


@pytest.mark.parametrize("number", range(53))
def test_rates_depth_and_acceptance_are_those_of_the_table(number: int) -> None:
    _, off, flag, depth, acceptance, _ = LINES[number]
    row, baseline = pairs("qwen38-mtp")[number]

    assert figure(baseline, "decode_tps")["value"] == numbers(off)[0]
    assert figure(row, "decode_tps")["value"] == numbers(flag)[0]
    assert row["n_max"] == int(depth)
    assert figure(row, "acceptance_rate")["value"] == next(iter(numbers(acceptance)), None)
    assert row["place"].startswith(f"Community numbers, row {number + 1};")


def test_the_gains_span_what_the_source_claims() -> None:
    """From equal on an M4 to 2.45 times on an RTX 5090: "+145%"."""
    gains = {
        row["id"]: figure(row, "decode_tps")["value"] / figure(base, "decode_tps")["value"]
        for row, base in pairs("qwen38-mtp")
    }

    assert min(gains, key=lambda name: gains[name]) == "mtp-apple-m4-sternryan"
    assert gains["mtp-apple-m4-sternryan"] == 1
    assert gains["mtp-rtx-3090-sudoingx"] == pytest.approx(1.33, abs=0.01)
    assert (
        max(gains.values()) == gains["mtp-rx-7900-xtx-splizard"] == pytest.approx(2.455, abs=1e-3)
    )


def test_rows_whose_arms_differ_in_more_than_the_flag_say_so() -> None:
    assert [row["id"] for row, _ in pairs("qwen38-mtp") if "also_differs" in row] == [
        "mtp-rx-9070-x2-tomertec",
        "mtp-rtx-3060-x3-eamonmckiernan05",
        "mtp-rx-7900-gre-lsunay",
        "mtp-rtx-3060-ti-3080-ti-randyjohnson11",
        "mtp-rtx-5080-3090-plyra",
        "mtp-rtx-4090-purusha-snakeyjay63",
    ]


@pytest.mark.parametrize("source", ["qwen38-mtp", "qwen38-mtp-sweeps"])
def test_both_arms_of_a_row_share_rig_engine_and_settings_of_the_target(source: str) -> None:
    own = {"draft_kv_type"}
    for row, baseline in pairs(source):
        settings = {k: v for k, v in row.get("settings", {}).items() if k not in own}

        assert settings == baseline.get("settings", {}), row["id"]
        assert (row["engine"], row["rig"]) == (baseline["engine"], baseline["rig"]), row["id"]
        assert row["contributor"] == baseline["contributor"], row["id"]


@pytest.mark.parametrize(
    ("name", "tps"),
    [
        ("baseline-rtx-5090-400w", 71.2),
        ("mtp-rtx-5090-600w-n4", 162.1),
        ("mtp-rx-7900-xtx-n3", 70.7),
        ("mtp-rtx-pro-6000-max-q-n5-p30", 115.5),
        ("mtp-rtx-5060-ti-x2-tensor-n4", 71.3),
        ("mtp-rtx-3080-32k-n2", 24.7),
        ("dspark-rtx-3090-oc-666f889-n5", 67.3),
    ],
)
def test_a_sweep_holds_its_rates_as_printed(name: str, tps: float) -> None:
    found = next(row for row in rows("qwen38-mtp-sweeps") if row["id"] == name)

    assert figure(found, "decode_tps")["value"] == tps


def test_every_arm_of_the_sweeps_has_a_baseline() -> None:
    found = [row for row in rows("qwen38-mtp-sweeps") if row["kind"] == "speculation"]

    assert len(found) == len(pairs("qwen38-mtp-sweeps")) == 191
    assert {row["method"] for row in found} == {"mtp", "other"}
