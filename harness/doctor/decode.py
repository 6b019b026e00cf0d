"""Try a real decode in a child process: a build that does not fit the processor kills it."""

import subprocess
import sys
import time
from pathlib import Path

from harness import PROGRAM
from harness.doctor.check import Check, fail, ok
from harness.doctor.engine_checks import PORTABLE_REINSTALL
from harness.machine.command import death, own_module

_NAME = "Decode"
_TIMEOUT_S = 300
_REASON_LENGTH = 160
_STEPS = 16
_PROMPT = "The quick brown fox jumps over the lazy dog and then"


def decode(model: Path) -> Check:
    """Try a real decode with these weights."""
    command = [*own_module("harness.doctor.decode"), str(model)]
    try:
        # Our own module, with a path that has been checked to be a model.
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        remedy = "The machine is overloaded, or the model too large for it; try a smaller one."
        return fail(_NAME, f"no answer within {_TIMEOUT_S} s", remedy)
    return judge(done.returncode, done.stdout, done.stderr, model.name)


def judge(returncode: int, stdout: str, stderr: str, model: str) -> Check:
    died = death(returncode)
    if died is not None:
        remedy = (
            "The engine's build does not fit this processor (seen with AMX kernels on Sapphire "
            f"Rapids and GCC 12). Run: {PORTABLE_REINSTALL}"
        )
        return fail(_NAME, f"the engine was {died}", remedy)
    if returncode != 0:
        lines = [line.strip() for line in stderr.splitlines() if line.strip()]
        reason = lines[-1][:_REASON_LENGTH] if lines else f"exit code {returncode}"
        remedy = f"Try another model with `{PROGRAM} doctor --model FILE.gguf`, or install again: "
        return fail(_NAME, reason, remedy + PORTABLE_REINSTALL)
    return ok(_NAME, f"{float(stdout.rsplit(maxsplit=1)[-1]):.1f} tokens/s with {model}")


def main(path: str) -> int:
    from llama_cpp import Llama  # noqa: PLC0415 - only the child process loads the engine

    model = Llama(path, n_ctx=256, n_gpu_layers=-1, verbose=False)
    model.eval(model.tokenize(_PROMPT.encode()))
    start = time.perf_counter()
    for _ in range(_STEPS):
        model.eval([model.sample(temp=0.0)])
    print(f"{_STEPS / (time.perf_counter() - start):.2f}")  # noqa: T201 - the answer to the parent
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
