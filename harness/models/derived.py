"""Make a preset from the embedded weights: requantise them or remove layers, in a child process.

F16 and F32 are written with gguf and numpy, byte for byte as llama.cpp writes them; all other
quantisations need llama.cpp itself.
"""

import ctypes
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from answers.presets import Preset
from harness import files, install
from harness.errors import MachineError
from harness.machine.command import failure, own_module
from harness.machine.engines import PACKAGE, package_version

_MB = 1_000_000
_DERIVE_LIMIT_S = 1800
_END_OF_LIST = -1
# The `general.file_type` of the formats that are written with numpy.
_FLOATS = {"F32": 0, "F16": 1}
_REPLACED = ("GGUF.", "general.architecture", "general.file_type")


def derive(source: Path, name: str, preset: Preset, *, say: Callable[[str], None]) -> Path:
    """Return a preset's file `name` in the cache, made from `source` on first use.

    Raises `MachineError`.
    """

    def make(part: Path) -> None:
        say(f"Making {name} from {source.name} …")
        _quantise(source, part, preset.quantisation, preset.pruned_layers)

    return files.made_once(name, (preset.size_mb or 0) * _MB, make, what=name)


def _quantise(source: Path, destination: Path, quantisation: str, pruned: Sequence[int]) -> None:
    if package_version() is None and (pruned or quantisation not in _FLOATS):
        raise MachineError(
            f"the {quantisation} version of the default model can be made only with {PACKAGE}, "
            f"which is not installed: {install('inprocess')}, or name another --target"
        )
    command = [*own_module("harness.models.derived"), str(source), str(destination)]
    command += [quantisation, *map(str, pruned)]
    reason = failure(command, limit_s=_DERIVE_LIMIT_S)
    if reason is not None:
        raise MachineError(
            f"the {quantisation} version could not be made ({reason}); run `python -m "
            "harness doctor`"
        )


def write_floats(source: Path, destination: Path, quantisation: str) -> None:
    """Write the weights of a GGUF file as F16 or F32; tensors in F32 stay unchanged."""
    import gguf  # noqa: PLC0415 - imports numpy, and only the child process writes

    model = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(destination, model.fields["general.architecture"].contents())
    for name, field in model.fields.items():
        if not name.startswith(_REPLACED):
            writer.add_key_value(name, field.contents(), field.types[0], field.types[-1])
    writer.add_file_type(_FLOATS[quantisation])
    for tensor in sorted(model.tensors, key=lambda tensor: _tensor_order(tensor.name)):
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        if quantisation == "F16" and tensor.tensor_type != gguf.GGMLQuantizationType.F32:
            values = values.astype("float16")
        writer.add_tensor(tensor.name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensor_order(tensor: str) -> tuple[int, str]:
    """Return a sort key for llama.cpp's order: tensors outside of layers, then layer by layer."""
    layer = re.match(r"blk\.(\d+)\.", tensor)
    return (int(layer[1]) if layer else -1, tensor)


def main(arguments: list[str]) -> int:
    """Write the preset that the arguments describe; return 0, or the engine's return code."""
    source, destination, quantisation, *layers = arguments
    if quantisation in _FLOATS and not layers:
        write_floats(Path(source), Path(destination), quantisation)
        return 0
    import llama_cpp  # noqa: PLC0415 - only the child process loads the engine

    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{quantisation}")
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
