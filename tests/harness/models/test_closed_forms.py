"""The plan of the default models equals the engine's real allocation for their weights."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.models import embedded
from harness.models.gguf_shape import facts_of_file
from planner.memory import place
from planner.model import LayerPlacement, Setting

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
api.llama_init_from_model(model, context)
"""


def model() -> Path:
    return embedded.embedded(say=lambda _: None)


def real(path: Path, setting: Setting) -> dict[str, float]:
    sizes = (str(setting.context), str(setting.ubatch), setting.kv_k)
    command = [sys.executable, "-c", REAL, str(path), *sizes]
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
    ],
)
def test_closed_forms_are_within_two_mib_of_the_real_load(setting: Setting) -> None:
    measured = real(model(), setting)

    _, closed = place(facts_of_file(model()), setting, LayerPlacement(layers=0))

    for kind, mib in measured.items():
        assert getattr(closed, kind) == pytest.approx(mib, abs=2), kind
