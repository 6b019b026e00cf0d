"""Make a preset from the embedded weights: requantise them or remove layers, in a child process."""

import ctypes
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import files
from harness.errors import MachineError
from harness.machine.command import failure, own_module
from harness.machine.engines import PACKAGE, package_version

_DERIVE_LIMIT_S = 1800
_END_OF_LIST = -1


def derive(
    source: Path,
    name: str,
    *,
    quantisation: str,
    pruned_layers: Sequence[int] = (),
    expected_bytes: int,
    say: Callable[[str], None],
) -> Path:
    """The file `name` in the cache, made of `source` on the first call, or `MachineError`."""
    path = files.directory() / name
    if path.is_file():
        return path
    with files.only_one(name):
        if path.is_file():
            return path
        files.require_space(expected_bytes, name)
        say(f"Making {name} from {source.name} …")
        with files.written(path) as part:
            _quantise(source, part, quantisation, pruned_layers)
    return path


def _quantise(source: Path, destination: Path, quantisation: str, pruned: Sequence[int]) -> None:
    if package_version() is None:
        message = (
            f"{quantisation} of the default model is made by {PACKAGE}, which is not installed: "
            "pip install 'draftmap[inprocess]', or name another --target"
        )
        raise MachineError(message)
    command = [*own_module("harness.models.derived"), str(source), str(destination)]
    command += [quantisation, *map(str, pruned)]
    reason = failure(command, limit_s=_DERIVE_LIMIT_S)
    if reason is not None:
        message = f"{quantisation} could not be made ({reason}); run `python -m harness doctor`"
        raise MachineError(message)


def main(arguments: list[str]) -> int:
    """Write OUT and return 0, or the engine's return code."""
    import llama_cpp  # noqa: PLC0415 - only the child process loads the engine

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
