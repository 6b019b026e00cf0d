"""The child process that requantises: `python -m harness.models.quantise IN OUT TYPE [LAYER…]`."""

from __future__ import annotations

import ctypes
import sys

import llama_cpp

_END_OF_LIST = -1


def main(arguments: list[str]) -> int:
    """Write OUT and return 0, or the engine's return code."""
    source, destination, quantisation, *layers = arguments
    kind = "ALL" if quantisation == "F32" else "MOSTLY"
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_{kind}_{quantisation}")
    params.allow_requantize = True
    if layers:
        pruned = [*map(int, layers), _END_OF_LIST]
        params.prune_layers = (ctypes.c_int32 * len(pruned))(*pruned)
    done: int = llama_cpp.llama_model_quantize(
        source.encode(), destination.encode(), ctypes.byref(params)
    )
    return done


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
