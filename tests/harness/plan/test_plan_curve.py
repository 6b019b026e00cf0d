"""`plan --curve` takes the cost of wider steps from a file; it refuses an unrelated curve."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from tests.samples import sample, sample_bytes

# The time of a pass by its width, in milliseconds: Qwen3.8-27B UD-Q4_K_XL on an L4, as published by
# hanxiao, with a kernel that makes wider steps cheap and with the default kernel.
FLAT = {1: 66.9, 2: 74.1, 3: 80.6, 4: 83.2, 8: 89.7, 12: 100.1, 16: 106.2}
STEEP = {1: 66.9, 3: 85.5, 4: 111.7}
TARGET = ("qwen3.8-27b:UD-Q4_K_XL", "mtp")
L4 = ("--gpu", "NVIDIA L4", "--ram", "32")


@pytest.fixture(autouse=True)
def no_hub(cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache_dir / "hub"))


def rows(times: Mapping[int, float], **others: object) -> list[dict[str, object]]:
    """The tests of `llama-bench -p … -n 0`, as it writes them."""
    usual = {
        "build_number": 11434,
        "backends": "CUDA",
        "gpu_info": "NVIDIA L4",
        "model_filename": "/models/Qwen3.8-27B-UD-Q4_K_XL.gguf",
        "model_size": 17_559_178_144,
        "n_gpu_layers": 99,
        "n_gen": 0,
        "n_depth": 0,
    }
    return [
        {**usual, "n_prompt": width, "samples_ns": [ms * 1e6] * 3, **others}
        for width, ms in times.items()
    ]


def file(folder: Path, content: object, name: str = "curve.json") -> str:
    path = folder / name
    path.write_text(json.dumps(content), "utf-8")
    return str(path)


def plan(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments])


def planned(curve: str | None, *more: str) -> dict[str, Any]:
    given = ("--curve", curve) if curve else ()
    found = plan(*TARGET, *L4, *given, *more, "--json")
    assert found.exit_code == 0, found.stderr
    document: dict[str, Any] = json.loads(found.stdout)
    return document


def width_of(speedup: Mapping[str, float]) -> float:
    return speedup["high"] / speedup["low"]


def test_a_curve_makes_the_interval_narrower_and_is_named_as_the_reason(tmp_path: Path) -> None:
    curve = file(tmp_path, rows(FLAT))

    with_curve, without = (planned(each, "--depth", "3") for each in (curve, None))

    assert width_of(with_curve["speedup"]) < 0.8 * width_of(without["speedup"])
    assert with_curve["speedup"]["basis"] == "curve"
    assert with_curve["curve"]["source"] == "llama-bench b11434 on NVIDIA L4"
    assert with_curve["curve"]["costs"][:3] == [1.0, 1.108, 1.205]
    assert without["curve"] is None
    words = plan(*TARGET, *L4, "--curve", curve, "--depth", "3").stdout
    # 83.2 / 66.9
    assert "a step over 4 tokens takes as long as 1.24 plain steps" in words
    # 1000 / 66.9
    assert "instead of 14.9:" in words


def test_costly_wide_steps_lead_to_a_shallower_depth(tmp_path: Path) -> None:
    # Nobody published figures of this card, so that the depth is free.
    card = ("qwen3.6-27b:UD-Q4_K_XL", "mtp", "--gpu", "RTX A5000", "--ram", "32")

    found = {
        name: json.loads(plan(*card, "--curve", path, "--json").stdout)
        for name, path in (
            ("steep", file(tmp_path, _of(rows(STEEP | {5: 138, 9: 240})), "steep.json")),
            ("flat", file(tmp_path, _of(rows(FLAT)), "flat.json")),
        )
    }

    assert found["steep"]["recommended"]["depth"] < found["flat"]["recommended"]["depth"]


def _of(tests: list[dict[str, object]]) -> list[dict[str, object]]:
    return [
        {
            **test,
            "gpu_info": "NVIDIA RTX A5000",
            "model_filename": "Qwen3.6-27B-UD-Q4_K_XL.gguf",
        }
        for test in tests
    ]


def test_lines_are_read_like_a_list_also_as_a_windows_shell_writes_them(tmp_path: Path) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows(FLAT))
    (tmp_path / "a.jsonl").write_text(text, "utf-8")
    (tmp_path / "b.jsonl").write_text(text, "utf-16")

    found = [
        planned(str(tmp_path / name), "--depth", "3")["curve"] for name in ("a.jsonl", "b.jsonl")
    ]

    assert found[0]["widths"] == [*FLAT]
    assert found[1] == found[0]


def test_a_curve_of_this_machine_replaces_the_estimate_and_the_figure_is_quoted(
    tmp_path: Path,
) -> None:
    curve = file(tmp_path, rows(FLAT))

    found, words = planned(curve), plan(*TARGET, *L4, "--curve", curve).stdout

    assert found["curve"]["used"]
    assert found["speedup"]["basis"] == "curve"
    assert found["evidence"]
    assert "for this card and model with MTP" in words


REFUSED: Sequence[tuple[str, object, tuple[str, ...], str]] = (
    ("another model", rows(FLAT), ("qwen3-8b", *L4), "not of qwen3-8b (4.68 GiB)"),
    ("another size", rows(FLAT, model_size=9_000_000_000), (*TARGET, *L4), "(8.38 GiB), not of"),
    ("no step of one", rows({2: 74.1, 3: 80.6}), (*TARGET, *L4), "has no step of one token"),
    ("one width", rows({1: 66.9}), (*TARGET, *L4), "all steps have the same width"),
    ("prompts only", rows({512: 900.0}), (*TARGET, *L4), "no test with a step of 1 to 64 tokens"),
    ("no times", rows({1: 0.0, 2: 0.0}), (*TARGET, *L4), "step of 1 tokens has no time above 0"),
    ("a negative time", rows({1: 66.9, 2: -1}), (*TARGET, *L4), "2 tokens has no time above 0"),
    ("a context", rows(FLAT, n_depth=8192), (*TARGET, *L4), "have a context of 8192 tokens"),
    ("seconds", rows({1: 0.0669, 2: 0.0741}), (*TARGET, *L4), "GB/s, which no memory does"),
    ("a small cache", rows(FLAT, type_k="q8_0"), (*TARGET, *L4), "give --kv-type q8_0"),
    ("a kind", rows(FLAT, model_type="llama 27B Q4_K"), (*TARGET, *L4), "a curve of Qwen3.8-27B"),
    ("nothing", [], (*TARGET, *L4), "no test with a step"),
    ("another tool", [{"accuracy": 1}], (*TARGET, *L4), "not a curve of step times"),
    ("a result", json.loads(sample_bytes(sample())), (*TARGET, *L4), "not a curve of step times"),
    ("a text", "hello", (*TARGET, *L4), "not a curve of step times"),
    ("another card", rows(FLAT), (*TARGET, "--gpu", "RTX 3090"), "measured on NVIDIA L4"),
    ("a processor", rows(FLAT, backends="CPU"), (*TARGET, *L4), "measured on a CPU"),
    (
        "two settings",
        rows(FLAT) + rows(FLAT, flash_attn=True),
        (*TARGET, *L4),
        "several models or settings",
    ),
)


@pytest.mark.parametrize(("content", "question", "message"), [x[1:] for x in REFUSED])
def test_a_curve_of_another_model_or_card_is_refused_in_one_line(
    tmp_path: Path, content: object, question: tuple[str, ...], message: str
) -> None:
    found = plan(*question, "--curve", file(tmp_path, content))

    assert found.exit_code == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
    assert "curve.json" in found.stderr
