"""Cache slow results under a digest of their inputs and of the project's code."""

import hashlib
import platform
import shutil
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec

import estimates
import pipeline
import planner
import schemas

# Libraries that results depend on; the gate installs only some of these libraries.
LIBRARIES = (
    *("jsonschema-rs", "msgspec", "orjson", "numpy", "duckdb", "pyarrow"),
    *("altair", "vl-convert-python"),
)
CODE = {".csv", ".py", ".json", ".toml", ".sql", ".jinja"}
_DIGEST_BYTES = 32


@dataclass(slots=True)
class Cache:
    """Compressed values in a folder, one per file; without a folder, nothing is cached.

    The cache notes which entries it reads and writes, so that `prune` can remove all others.
    """

    folder: Path | None = None
    used: set[Path] = field(default_factory=set, init=False)

    def get(self, inputs: object) -> bytes | None:
        with suppress(OSError, zlib.error):
            if path := self._path(inputs):
                self.used.add(path)
                data = zlib.decompress(path.read_bytes())
                value = data[_DIGEST_BYTES:]
                return value if data == _sealed(path, value) else None
        return None

    def put(self, inputs: object, value: bytes, *, level: int = 1) -> None:
        """Cache a value; values that are compressed already are quicker with `level=0`."""
        if path := self._path(inputs):
            self.used.add(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.rmtree(path)
            path.write_bytes(zlib.compress(_sealed(path, value), level))

    def get_or_make(self, inputs: object, make: Callable[[], bytes], *, level: int = 1) -> bytes:
        """Return the cached value, or make it and cache it; `make` may depend only on `inputs`."""
        value = self.get(inputs)
        if value is None:
            value = make()
            self.put(inputs, value, level=level)
        return value

    def keep(self, inputs: object) -> None:
        """Keep an unread entry from being pruned, because another entry is derived from it."""
        if path := self._path(inputs):
            self.used.add(path)

    def prune(self) -> None:
        """Remove all entries that this cache object did not read, write or keep."""
        entries = self.folder.glob("*.zlib") if self.folder else ()
        for path in {*entries, *self.databases()} - self.used:
            path.unlink()

    def databases(self) -> set[Path]:
        """The databases in the folder, of this build and of earlier ones."""
        return set(self.folder.glob("*.duckdb") if self.folder else ())

    def _path(self, inputs: object) -> Path | None:
        if self.folder is None:
            return None
        digest = hashlib.sha256(own_digest().encode() + msgspec.json.encode(inputs)).hexdigest()
        return self.folder / f"{digest[:32]}.zlib"


def _sealed(path: Path, value: bytes) -> bytes:
    """Prefix a value with a digest of it and its file name, to detect a wrong or damaged file."""
    return hashlib.sha256(path.name.encode() + value).digest() + value


@cache
def own_digest() -> str:
    """A digest of the code, schemas, libraries and machine that results and pictures depend on."""
    digest = hashlib.sha256(f"{platform.python_version()} {platform.machine()}\n".encode())
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            digest.update(f"{name} {metadata.version(name)}\n".encode())
    for package in (schemas, estimates, planner, pipeline):
        root = Path(next(iter(package.__path__)))
        for path in sorted(root.rglob("*")):
            if path.suffix in CODE:
                digest.update(path.relative_to(root.parent).as_posix().encode() + b"\n")
                digest.update(path.read_bytes())
    return digest.hexdigest()
