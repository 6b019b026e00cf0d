"""Describe or fetch a model in a folder of safetensors, as vLLM, SGLang and MLX load it.

Only the table at the start of each file is read: eight bytes with its length, then JSON.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import prod
from pathlib import Path

import orjson

from harness.machine.lenient_json import part
from harness.models.describe import family_of
from schemas.codec import Json, slug
from schemas.submission import Model

CONFIG = "config.json"
# The files of a repository that an engine reads: weights, settings, tokenizer and chat template.
_LOADED = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.tiktoken", "*.txt"]
_LENGTH_BYTES = 8
_LONGEST_TABLE = 100 * 1024 * 1024
# Types whose tensors have one parameter per element; other types pack several into an element.
_PLAIN = {"F64": "F64", "F32": "F32", "F16": "F16", "BF16": "BF16", "F8_E4M3": "FP8",
          "F8_E5M2": "FP8"}  # fmt: skip
_CACHED = re.compile(r"models--(?P<owner>[\w.-]{1,96}?)--(?P<name>[\w.-]+)")
_ARCHITECTURE = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_PACKED = "U32"


def is_model_folder(path: Path) -> bool:
    return (path / CONFIG).is_file()


def cached_folder(repository: str) -> Path | None:
    """Return the folder of a repository's newest files in the hub's cache, or `None`."""
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 - slow to import

    found = try_to_load_from_cache(repository, CONFIG)
    return Path(found).parent if isinstance(found, str) else None


def fetched_folder(repository: str, *, say: Callable[[str], None]) -> Path:
    """Return the folder of a repository's files, fetching files that the hub's cache lacks.

    Raises `BadInputError` for an unknown repository, `MachineError` without a network.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - slow to import

    from harness.models.hub_client import explained  # noqa: PLC0415 - slow to import

    say(f"Fetching the missing files of {repository} …")
    with explained(repository, f"{repository} could not be fetched", "run the same command again"):
        return Path(snapshot_download(repository, allow_patterns=_LOADED))


def describe_folder(path: Path, *, quantisation: str | None = None) -> Model:
    """Describe the model in a folder; `quantisation` overrides the quantisation in the files."""
    config = _json((path / CONFIG).read_bytes())
    config = {**config, **part(config, "text_config")}  # the language part of a vision model
    files = sorted(path.glob("*.safetensors"))
    elements = _elements(files)
    plain = bool(elements) and set(elements) <= set(_PLAIN)
    # A folder in the hub's cache is `…/snapshots/REVISION`.
    match = _CACHED.fullmatch(path.parent.parent.name) if path.parent.name == "snapshots" else None
    repository = f"{match['owner']}/{match['name']}" if match else None
    name = (repository or path.resolve().name).rpartition("/")[2]
    commonest = next((_PLAIN.get(dtype) for dtype, _ in elements.most_common(1)), None)
    bits = _mlx_bits(config)
    stated = _method(config) or (f"{bits}bit" if bits else None)
    of_files = quantisation or stated or commonest or "unknown"
    if bits:  # 32-bit words only; scales and the few other tensors are ignored
        elements = Counter({_PACKED: elements[_PACKED] * 32 // bits})
    kind = config.get("model_type")
    return Model(
        id=f"{slug(name)}-{slug(of_files)}",
        name=name,
        family=family_of(name),
        architecture=kind if isinstance(kind, str) and _ARCHITECTURE.fullmatch(kind) else None,
        quantisation=of_files,
        parameters=(sum(elements.values()) or None) if plain or bits else None,
        file_bytes=sum(file.stat().st_size for file in files) or None,
        repository=repository,
        layers=_whole(config, "num_hidden_layers"),
        vocabulary_size=_whole(config, "vocab_size"),
    )


def _table(file: Path) -> Mapping[str, Json]:
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
        return _json(stream.read(length)) if length <= _LONGEST_TABLE else {}


def _elements(files: Iterable[Path]) -> Counter[str]:
    """Return the total number of tensor elements of each type."""
    found: Counter[str] = Counter()
    for entry in (part(entry) for file in files for entry in _table(file).values()):
        dtype, shape = entry.get("dtype"), entry.get("shape")
        if isinstance(dtype, str) and isinstance(shape, list):
            found[dtype] += prod(size for size in shape if isinstance(size, int))
    return found


def _method(config: Mapping[str, Json]) -> str | None:
    """Return the quantisation method in the config: `AWQ`, `GPTQ`, `FP8`."""
    method = part(config, "quantization_config").get("quant_method")
    if not isinstance(method, str):
        return None
    return method.upper() if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}", method) else None


def _mlx_bits(config: Mapping[str, Json]) -> int | None:
    """Return the bits per weight of `mlx_lm`'s quantisation, if they are equal in all layers."""
    entry = part(config, "quantization")
    by_layer = any(isinstance(each, dict) for each in entry.values())
    return None if by_layer else _whole(entry, "bits")


def _whole(config: Mapping[str, Json], name: str) -> int | None:
    value = config.get(name)
    return value if isinstance(value, int) and value > 0 else None


def _json(data: bytes) -> Mapping[str, Json]:
    try:
        return part(orjson.loads(data))
    except orjson.JSONDecodeError:
        return {}
