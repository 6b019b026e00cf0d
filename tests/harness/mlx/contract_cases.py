"""The MLX case for the contract of runners."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.runners import CONNECT
from harness.runners.options import ConnectionOptions
from tests.harness.runners.contract_cases import Cases, RunnerCase, kill_those_since, real
from tests.processes import children
from tools.mlx.environment import MODELS, TARGET

RUNS_HERE = "DRAFTMAP_TEST_MLX" in os.environ


@contextmanager
def by_mlx(_weights: Path) -> Iterator[RunnerCase]:
    """MLX with the models of `make test-mlx`; its process can be killed."""
    runner = CONNECT["mlx"](ConnectionOptions()).open
    before = children()
    plan = real(MODELS / TARGET)
    yield RunnerCase(runner=runner, plan=plan, break_it=lambda: kill_those_since(before))


CASES: Cases = {"mlx": by_mlx}
