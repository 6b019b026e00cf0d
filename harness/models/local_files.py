"""Find the GGUF files that other programs keep on this disk, without opening any of them."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from harness.machine.lenient_json import part
from harness.models.hub import OTHER_KINDS

_OLLAMA_MODEL = "application/vnd.ollama.image.model"
_LATER = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")
_LEAST_BYTES = 10_000_000  # smaller files are vocabularies and tests


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """A model's file: the program that keeps the file, the model's name, the path and the size."""

    of: str
    name: str
    path: str
    bytes: int


def local_files(home: Path, environment: Mapping[str, str] = os.environ) -> tuple[LocalFile, ...]:
    """Return the models of LM Studio, Ollama, llama.cpp and the hub's cache, each file once."""
    hub = environment.get("HF_HUB_CACHE") or Path(
        environment.get("HF_HOME") or home / ".cache" / "huggingface", "hub"
    )
    folders = {
        "LM Studio": (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"),
        "llama.cpp": (
            Path(environment.get("LLAMA_CACHE") or home / ".cache" / "llama.cpp"),
            home / "Library" / "Caches" / "llama.cpp",
        ),
        "the hub's cache": (Path(hub),),
    }
    listed = [
        (of, path.name, path)
        for of, places in folders.items()
        for place in places
        for path in sorted(place.rglob("*.gguf"))
        if not (path.name.startswith(OTHER_KINDS) or _LATER.search(path.name))
    ]
    ollama = Path(environment.get("OLLAMA_MODELS") or home / ".ollama" / "models")
    listed += [("Ollama", name, path) for name, path in _of_ollama(ollama)]
    found: dict[Path, LocalFile] = {}
    for of, name, path in listed:
        size = path.stat().st_size if path.is_file() else 0
        if size >= _LEAST_BYTES:
            entry = LocalFile(of=of, name=name, path=str(path), bytes=size)
            found.setdefault(path.resolve(), entry)
    return tuple(found.values())


def _of_ollama(models: Path) -> Iterator[tuple[str, Path]]:
    """Yield names and files of Ollama's models; Ollama's manifests refer to blobs by digest."""
    for manifest in sorted((models / "manifests").rglob("*")):
        if not manifest.is_file():
            continue
        try:
            layers = part(orjson.loads(manifest.read_bytes())).get("layers")
        except (OSError, orjson.JSONDecodeError):
            continue
        for layer in map(part, layers if isinstance(layers, list) else ()):
            if layer.get("mediaType") == _OLLAMA_MODEL:
                blob = str(layer.get("digest")).replace(":", "-")
                yield ":".join(manifest.parts[-2:]), models / "blobs" / blob
