"""Compare the repeatability of a speedup on one server and on two servers, in equal time.

`mlx_lm.server` takes the draft depth from each request, so one server can run both arms,
interleaved by prompt. The two setups alternate, each for the same number of minutes.
"""

import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from schemas.vocabulary import say

_SAME = "--suite short --tasks code,math,chat --prompts 1 --blocks 99 --max-tokens 8 --json"


def main(
    target: Path, draft: Path, server: str = "mlx_lm.server", minutes: float = 6.0, pairs: int = 2
) -> None:
    """Print an MLX speedup's half-width with one and with two servers, and the ratio of the two."""
    plain = f"{server} --model {target} --prompt-cache-size 0 --port {{port}}"
    drafting = f"{plain} --draft-model {draft} --num-draft-tokens 2"
    models = f"--target {target} --draft {draft} --method draft-model:n_max=2 --budget {minutes}"
    one = ("--server-command", drafting)
    two = ("--server-command", plain, "--spec-server-command", drafting)
    logs: dict[tuple[str, ...], list[float]] = {one: [], two: []}
    for way in [two, one, one, two] * pairs:
        with TemporaryDirectory() as folder:
            command = (sys.executable, "-m", "harness", "run", *models.split(), *_SAME.split())
            done = subprocess.run((*command, *way, "-o", folder), check=True, capture_output=True)
        (arm,) = json.loads(done.stdout)["repeatability"]
        logs[way].append(math.log(arm["half_width"]))
        servers = say.count(len(way) // 2, "server")
        print(f"{servers}: {arm['blocks']} blocks, ±{arm['half_width']:.1%}", flush=True)  # noqa: T201
    ratio = math.exp(statistics.fmean(logs[one]) - statistics.fmean(logs[two]))
    print(f"one over two: {ratio:.2f}")  # noqa: T201 - the result of this command


if __name__ == "__main__":
    typer.run(main)
