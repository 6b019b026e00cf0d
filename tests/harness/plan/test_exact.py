"""Is the plan what the engine really allocates for the default models? Real weights."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from estimates.plan.memory import place
from estimates.plan.model import Placement, Setting
from harness.models import embedded
from harness.models.gguf_beginning import sparse_copy
from harness.models.gguf_shape import facts_of_file
from harness.plan import exact

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.engine

# Loads with memory, decodes nothing, and leaves what the engine logs on standard error.
REAL = """
import sys, llama_cpp as api
params = api.llama_model_default_params()
params.load_mode = 0
model = api.llama_model_load_from_file(sys.argv[1].encode(), params)
context = api.llama_context_default_params()
context.n_ctx, context.n_ubatch, context.n_outputs_max = int(sys.argv[2]), int(sys.argv[3]), 1
api.llama_init_from_model(model, context)
"""


def model() -> Path:
    return embedded.embedded(say=lambda _: None)


def real(path: Path, context: int, ubatch: int) -> dict[str, float]:
    command = [sys.executable, "-c", REAL, str(path), str(context), str(ubatch)]
    log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    kinds = {"model": "model", "kv": "KV", "compute": "compute", "output": "output"}
    pattern = r"{} +buffer size = +([\d.]+) MiB"
    return {
        kind: sum(map(float, re.findall(pattern.format(word), log))) for kind, word in kinds.items()
    }


@pytest.mark.parametrize(("context", "ubatch"), [(2048, 512), (4096, 512), (8192, 256)])
def test_closed_forms_and_simulation_are_within_two_mib_of_the_real_load(
    context: int, ubatch: int
) -> None:
    setting = Setting(context=context, ubatch=ubatch)
    measured = real(model(), context, ubatch)

    _, closed = place(facts_of_file(model()), setting, Placement(layers=0))
    simulated = exact.simulate([exact.Load(path=str(model()), setting=setting, layers=0)])

    assert not isinstance(simulated, str)
    for kind, mib in measured.items():
        assert getattr(closed, kind) == pytest.approx(mib, abs=2), kind
    assert simulated[0].kv == pytest.approx(measured["kv"], abs=2)
    assert simulated[0].host_compute == pytest.approx(measured["compute"], abs=2)
    assert simulated[0].weights == pytest.approx(measured["model"], abs=2)


def test_a_file_with_only_a_header_is_planned_like_the_whole(tmp_path: Path) -> None:
    whole, sparse = model(), tmp_path / "sparse.gguf"
    with whole.open("rb") as file:
        sparse_copy(file.read(3_000_000), whole.stat().st_size, sparse)

    loads = [exact.Load(path=str(path), setting=Setting(), layers=0) for path in (whole, sparse)]
    simulated = exact.simulate(loads)

    assert not isinstance(simulated, str)
    assert simulated[0] == simulated[1]
    assert facts_of_file(sparse).layers == facts_of_file(whole).layers


def test_an_engine_that_does_not_know_the_architecture_gives_its_reason(tmp_path: Path) -> None:
    data = model().read_bytes()[:3_000_000]
    odd = tmp_path / "odd.gguf"
    renamed = data.replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0xxama", 1)
    sparse_copy(renamed.replace(b"llama.", b"xxama."), model().stat().st_size, odd)

    found = exact.simulate([exact.Load(path=str(odd), setting=Setting(), layers=0)])

    assert isinstance(found, str)
    assert "unknown model architecture: 'xxama'" in found
