"""Merge generated results in a scratch clone, one after another: `python -m bench.merging [COUNT]`.

After each result, the tests that read every result (the marker `results`) must pass, and all tests
after the last one. The exit code is 1 at the first failure.
"""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from estimates.identity import canonical_name
from schemas import contract
from schemas.sending import findings_on_sending
from tests.generated import submission_bytes
from tests.samples import SampleCosts, sample, sample_bytes

ROOT = Path(__file__).parents[1]
MARK = "mark.results"
CARDS = (("NVIDIA GeForce RTX 3090", 24576), ("NVIDIA GeForce RTX 4060", 8188))
MODELS = (("Qwen3-8B", "Qwen3"), ("Llama-3.1-8B-Instruct", "Llama"), ("gpt-oss-20b", "gpt-oss"))


def main() -> int:
    number = int(sys.argv[1]) if sys.argv[1:] else 20
    with TemporaryDirectory() as folder:
        clone = ("git", "clone", "--quiet", "--shared", str(ROOT), folder)
        subprocess.run(clone, check=True)
        files = sorted(Path("tests").rglob("test_*.py"))
        tests = [str(path) for path in files if MARK in path.read_text("utf-8")]
        for name, data in islice(results(), number):
            (Path(folder) / "results" / "community" / name).write_bytes(data)
            began = time.monotonic()
            failed = _failed(Path(folder), "-m", "results", *tests)
            print(f"{time.monotonic() - began:3.0f} s  {'failed' if failed else 'green'}  {name}")  # noqa: T201
            if failed:
                return 1
        return int(_failed(Path(folder), "-m", "not nightly"))


def results() -> Iterator[tuple[str, bytes]]:
    """Yield file names and bytes of results that the gate accepts: of known cards, and of any."""
    for seed in count(1):
        data = _of_known(seed) if seed % 2 else submission_bytes(seed)
        read = contract.read(data)
        if isinstance(read, tuple):
            continue
        if not [*findings_on_sending(read, contributor=read.contributor, now=None)]:
            yield canonical_name(read, data), data


def _of_known(seed: int) -> bytes:
    """A result of a person, a card and a model that others have, so that it moves the map."""
    rng = random.Random(seed)  # noqa: S311 - synthetic data
    (gpu, vram_mib), (name, family) = rng.choice(CARDS), rng.choice(MODELS)
    costs = SampleCosts(step_ms=rng.uniform(5, 60), draft_token_ms=rng.uniform(0.5, 6))
    made = sample(
        seed=seed, gpu=gpu, vram_mib=vram_mib, contributor=f"person{seed % 7}", costs=costs
    )
    return sample_bytes(replace(made, target=replace(made.target, name=name, family=family)))


def _failed(folder: Path, *words: str) -> bool:
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words)
    return subprocess.run(command, cwd=folder, check=False).returncode != 0


if __name__ == "__main__":
    sys.exit(main())
