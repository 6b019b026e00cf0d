"""Find the model files that other programs keep on this disk, without opening any of them.

The cache of the Hugging Face hub is read without its client, which is slow to import.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from huggingface_hub import constants

from harness.machine.lenient_json import part

# Kinds of files that many repositories contain and that are not language models.
OTHER_KINDS = ("mmproj", "imatrix")
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


def cached_files(repository: str, cache_dir: Path | None = None) -> Mapping[str, Path]:
    """Return a repository's files in the hub's cache by name, each in its latest version."""
    snapshots = repository_folder(repository, cache_dir) / "snapshots"
    if not snapshots.is_dir():
        return {}
    return {
        path.relative_to(revision).as_posix(): path
        for revision in sorted(snapshots.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for path in sorted(revision.rglob("*"))
        if path.is_file()
    }


def repository_folder(repository: str, cache_dir: Path | None = None) -> Path:
    """Return the folder of a repository in the hub's cache, whose layout the hub documents."""
    folder = cache_dir or Path(constants.HF_HUB_CACHE)
    return folder / f"models--{repository.replace('/', '--')}"
