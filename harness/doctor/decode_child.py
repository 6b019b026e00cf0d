"""The child process that tries the engine: `python -m harness.doctor.decode_child FILE.gguf`.

Prints the tokens per second of a few greedy steps. It may die: that is what it is for.
"""

from __future__ import annotations

import sys
import time

from llama_cpp import Llama

_STEPS = 16
_PROMPT = "The quick brown fox jumps over the lazy dog and then"


def main(path: str) -> int:
    """Decode and print the rate."""
    model = Llama(path, n_ctx=256, n_gpu_layers=-1, verbose=False)
    model.eval(model.tokenize(_PROMPT.encode()))
    began = time.perf_counter()
    for _ in range(_STEPS):
        model.eval([model.sample(temp=0.0)])
    print(f"{_STEPS / (time.perf_counter() - began):.2f}")  # noqa: T201 - the answer to the parent
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
