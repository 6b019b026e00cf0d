"""Compare how repeatable a speedup is on one server with how it is through two, in equal time.

`mlx_lm.server` drafts as each request says, so that one start of it can hold both arms, which then
take turns prompt by prompt. Both ways are run in turns, each for the same number of minutes.
"""

import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

_BLOCKS = "99"  # the budget ends a run


def main(
    target: Annotated[Path, typer.Argument(help="Folder of an MLX model.")],
    draft: Annotated[Path, typer.Argument(help="Folder of its draft.")],
    server: Annotated[str, typer.Option(help="The program.")] = "mlx_lm.server",
    minutes: Annotated[float, typer.Option(help="Of each run.")] = 4.0,
    pairs: Annotated[int, typer.Option(help="Runs of each kind.")] = 3,
    tokens: Annotated[int, typer.Option(help="Longest output.")] = 12,
) -> None:
    """Print the half-width of the speedup's interval by both ways, and their ratio."""
    plain = f"{server} --model {target} --prompt-cache-size 0 --port {{port}}"
    drafting = f"{plain} --draft-model {draft}"
    two = ("--server-command", plain, "--spec-server-command", f"{drafting} --num-draft-tokens 2")
    ways = {"one": ("--server-command", drafting), "two": two}
    asked = (
        *("--target", str(target), "--draft", str(draft), "--method", "draft-model:n_max=2"),
        *("--suite", "short", "--tasks", "code,math,chat", "--prompts", "1", "--blocks", _BLOCKS),
        *("--max-tokens", str(tokens), "--budget", str(minutes), "--json"),
    )
    found: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(pairs):
        for way in [*ways] if number % 2 else [*ways][::-1]:
            blocks, half_width = _measured((*asked, *ways[way]))
            found[way].append(math.log(half_width))
            print(f"{way}: {blocks} blocks, ±{half_width:.1%}", flush=True)  # noqa: T201
    one, other = (statistics.fmean(found[way]) for way in ways)
    print(f"one over two: {math.exp(one - other):.2f}")  # noqa: T201 - the result of this command


def _measured(options: tuple[str, ...]) -> tuple[int, float]:
    """Blocks that were run, and the half-width of the interval over them as a share."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "harness", "run", *options, "-o", folder]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    (arm,) = json.loads(done.stdout)["repeatability"]
    assert "half_width" in arm, "fewer than three blocks: give more --minutes"
    return arm["blocks"], arm["half_width"]


if __name__ == "__main__":
    typer.run(main)
