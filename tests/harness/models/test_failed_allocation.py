"""If an arm runs out of memory, the run names options that would have fitted."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from answers.failed_allocation import after_failure
from answers.machines import MachineWords
from answers.model import LayerPlacement, Memory, Setting
from answers.placement import Draft, LoadPlan
from harness.machine.computer import computer_of
from harness.models import room
from harness.run import run_reports
from tests.harness.ggufs import write_gguf
from tests.known_models import known

CASE = LoadPlan(
    target=known("qwen3-8b"),
    setting=Setting(context=32768),
    devices=(Memory(name="RTX 4060", free_mib=7000),),
    host=Memory(name="main memory", free_mib=30_000),
)
WHOLE = LayerPlacement(layers=37)


def said(case: LoadPlan) -> str:
    return "\n".join(after_failure(case, WHOLE))


def test_planned_and_free_memory_are_printed_for_each_device() -> None:
    # 36 layers · 2048 values · 32768 tokens · 2 bytes = 4608 MiB of cache
    text = said(CASE)

    assert "RTX 4060: planned 9," in text
    assert "KV cache 4,608" in text
    assert "free 7,000: 2," in text
    assert "MiB too much" in text
    assert "main memory: planned" in text


def test_the_options_that_would_have_fitted_are_named() -> None:
    text = said(CASE)

    context = int(text.partition("--context ")[2].partition(";")[0])
    layers = int(text.partition("--gpu-layers ")[2].split()[0])
    assert 8192 < context < 32768
    assert 15 < layers < 37


def test_a_draft_can_be_moved_or_left_out() -> None:
    with_draft = replace(
        CASE,
        setting=Setting(context=2048),
        devices=(Memory(name="RTX 4060", free_mib=7000),),
        draft=Draft(facts=known("qwen3-1.7b")),
    )

    text = said(with_draft)

    assert "--draft-gpu-layers 0" in text
    assert text.endswith("no draft")


def test_an_allocation_that_fails_despite_the_plan_blames_other_programs() -> None:
    text = said(replace(CASE, devices=(Memory(name="RTX 4060", free_mib=16_000),)))

    assert "check which other programs use memory" in text


def test_if_nothing_fits_another_model_is_advised() -> None:
    none = replace(CASE, devices=(), host=Memory(name="main memory", free_mib=500))

    assert "smaller quantisation" in "\n".join(after_failure(none, LayerPlacement(layers=0)))


def test_a_run_plans_the_files_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = computer_of(MachineWords(gpus=("RTX 4060 8 GB",), ram=8))
    monkeypatch.setattr(room, "computer_of", lambda _=None: machine)
    path = write_gguf(tmp_path / "t.gguf")

    lines = room.failed_allocation(path, path, Setting(), layers=-1, draft_layers=-1)
    broken = room.failed_allocation(
        tmp_path / "none.gguf", None, Setting(), layers=-1, draft_layers=-1
    )

    assert lines[0].startswith("RTX 4060 8 GB: planned ")
    assert broken == ()


def test_the_report_prints_it_below_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    from harness import console  # noqa: PLC0415 - its screen is that of this test

    run_reports.print_memory({"draft-model": ("card: too little",)}, console.result_console())

    assert "draft-model had too little memory:\n  card: too little" in capsys.readouterr().out
