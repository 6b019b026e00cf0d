"""The plan of the default models equals the engine's real allocation for their weights."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from answers.answer import Answer
from answers.engine_commands import load_words
from answers.machines import MachineWords
from answers.memory import place
from answers.model import LayerPlacement, Setting
from harness.machine.computer import computer_of
from harness.models import embedded
from harness.models.gguf_shape import facts_of_file
from harness.plan import inputs
from harness.plan.inputs import question_of, server_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from harness.plan.server_fit import allocated_sizes, plan
from tests.harness.ggufs import write_gguf
from tests.processes import needs_shell

engine = pytest.mark.engine

# Allocates memory, decodes nothing, and leaves the engine's log on standard error.
REAL = """
import sys, llama_cpp as api
params = api.llama_model_default_params()
params.load_mode = 0
model = api.llama_model_load_from_file(sys.argv[1].encode(), params)
context = api.llama_context_default_params()
context.n_ctx, context.n_ubatch, context.n_outputs_max = int(sys.argv[2]), int(sys.argv[3]), 1
context.type_k = context.type_v = {"f16": 1, "q8_0": 8, "q4_0": 2}[sys.argv[4]]
context.flash_attn_type = int(sys.argv[5])
api.llama_init_from_model(model, context)
"""


def model() -> Path:
    return embedded.embedded(say=lambda _: None)


def real(path: Path, setting: Setting) -> dict[str, float]:
    sizes = (str(setting.context), str(setting.ubatch), setting.kv_k)
    flash = "-1" if setting.flash_attention else "0"
    command = [sys.executable, "-c", REAL, str(path), *sizes, flash]
    log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    kinds = {"model": "model", "kv": "KV", "compute": "compute", "output": "output"}
    pattern = r"{} +buffer size = +([\d.]+) MiB"
    return {
        kind: sum(map(float, re.findall(pattern.format(word), log))) for kind, word in kinds.items()
    }


@engine
@pytest.mark.parametrize(
    "setting",
    [
        Setting(context=2048),
        Setting(context=8192, ubatch=256, kv_k="q8_0", kv_v="q8_0"),
        Setting(context=4096, kv_k="q4_0", kv_v="q4_0"),
        Setting(context=4096, flash_attention=False),
    ],
)
def test_closed_forms_are_within_two_mib_of_the_real_load(setting: Setting) -> None:
    measured = real(model(), setting)

    _, closed = place(facts_of_file(model()), setting, LayerPlacement(layers=0))

    for kind, mib in measured.items():
        assert getattr(closed, kind) == pytest.approx(mib, abs=2), kind


# Shortened log of a llama.cpp build with `-fit on -lv 5`; two models on a card.
SERVER_LOG = """0.00.009.398 I cmn  common_init_: fitting params to device memory ...
0.00.142.890 I print_info: file size   = 4.50 GiB (4.5 BPW)
0.00.143.829 I llama_context:  CUDA_Host  output buffer size =     0.58 MiB
0.00.144.304 I llama_kv_cache:      CUDA0 KV buffer size =     0.00 MiB
0.00.144.323 I llama_kv_cache: size =  448.00 MiB (  4096 cells,  28 layers,  1/1 seqs)
0.00.150.354 I sched_reserve:      CUDA0 compute buffer size =   304.75 MiB
0.00.150.355 I sched_reserve:  CUDA_Host compute buffer size =    12.01 MiB
0.00.150.609 I common_memory_breakdown_print: | memory breakdown [MiB] | total   free   self |
0.00.15 I memory_breakdown_print: |  - CUDA0 (RTX) | 8188 = 7100 + (4900 = 4147 + 448 + 304) + 9 |
0.00.150.621 I memory_breakdown_print: |   - Host |   320 =   308 +       0 +      12     |
0.00.163.101 I common_fit_params: fitting params to free memory took 0.15 seconds
0.00.306.527 I load_tensors: this line must never be waited for
"""


def program(path: Path, log: str, *, then: str = "sleep 60") -> Path:
    """A server that logs this, and then keeps running as if it loaded."""
    lines = path.with_suffix(".log")
    lines.write_text(log)
    help_ = '[ "$1" = --help ] && echo "--port PORT  the port" && exit'
    path.write_text(f"#!/bin/sh\n{help_}\necho $@ > {path}.asked\ncat {lines}\n{then}\n")
    path.chmod(0o755)
    return path


def small(path: Path, layers: int = 5) -> tuple[Path, list[str]]:
    words = load_words(Setting(slots=2), LayerPlacement(layers=layers), fit="on")
    return write_gguf(path), words


@needs_shell
def test_a_server_reports_its_placement_and_is_stopped_before_it_loads(tmp_path: Path) -> None:
    server = program(tmp_path / "server", SERVER_LOG)

    found = allocated_sizes(server, [small(tmp_path / "model.gguf")])

    assert not isinstance(found, str)
    assert found == ({"CUDA0": (4147, 448, 304), "Host": (308, 0, 12)},)
    asked = (tmp_path / "server.asked").read_text()
    assert "-c 4096 -np 2" in asked
    assert "-ngl 5" in asked
    assert "-kvu" in asked
    assert "-fit on" in asked


@needs_shell
@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("0.00 E llama_model_load: error loading model: unknown model", "loading model: unknown"),
        ("error: invalid argument: -fit", "invalid argument: -fit"),
        ("", "it logged nothing"),
    ],
)
def test_a_server_that_simulates_nothing_gives_its_reason(
    tmp_path: Path, log: str, reason: str
) -> None:
    server = program(tmp_path / "server", log, then="exit 1")

    found = allocated_sizes(server, [small(tmp_path / "model.gguf")])

    assert isinstance(found, str)
    assert reason in found


def planned_with(server: Path, folder: Path) -> Answer:
    """The plan of a small model on this machine, with a server to ask."""
    here = ComputerOptions(server_binary=str(server))
    question = question_of(
        ModelOptions(target=str(write_gguf(folder / "model.gguf"))),
        load=LoadOptions(),
        computer=here,
        speed=SpeedOptions(),
        say=lambda _: None,
    )
    return plan(question, server_of(here))


@needs_shell
def test_a_plan_takes_the_sizes_that_a_server_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = replace(computer_of(MachineWords(gpus=("RTX 4060 8 GB",), ram=8)), described=False)
    monkeypatch.setattr(inputs, "computer_of", lambda *_: machine)
    server = program(tmp_path / "server", SERVER_LOG)

    found = planned_with(server, tmp_path)

    device, host = found.asked.found.devices[0], found.asked.found.host
    assert found.exact
    assert (device.model, device.kv, device.compute) == (4147, 448, 304)
    assert (host.model, host.compute) == (308, pytest.approx(12, abs=1))
