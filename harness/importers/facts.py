"""What does `--map` say, and what is still missing? Facts that the files themselves do not have."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import BadInputError, suggestion
from schemas.vocabulary.axes import AXES

KEYS: dict[str, str] = {
    "target": 'name of the target, such as "Qwen3-8B"',
    "quantisation": "quantisation of the target, such as Q4_K_M or BF16",
    "parameters": "parameters of the target, such as 8.2B",
    "active_parameters": "parameters per token, for a mixture of experts, such as 3B",
    "target_sha256": "SHA-256 of the target's file of weights",
    "target_bytes": "size of that file in bytes",
    "draft": "name of the draft model",
    "draft_quantisation": "quantisation of the draft model",
    "draft_parameters": "parameters of the draft model, such as 0.6B",
    "method": "how drafts are made: mtp, draft-model, ngram-simple, eagle3, other:name=medusa ...",
    "n_max": "most tokens drafted in a round",
    "backend": "cuda, vulkan, metal, rocm, sycl, cpu ...",
    "gpu": 'name of the GPU, such as "NVIDIA GeForce RTX 3090"; of several with commas between',
    "vram_mib": "its memory in MiB, such as 24576; of several that of each",
    "gpu_driver": "version of its driver",
    "cpu": "name of the processor",
    "cpu_architecture": "x86_64, aarch64 ...",
    "cpu_cores": "logical cores of the processor",
    "ram_mib": "main memory in MiB",
    "os": "linux, windows, macos, freebsd, other",
    "os_version": "version of the system",
    "engine": "name of the engine, where the format does not fix it",
    "engine_version": "version of the engine",
    "engine_commit": "commit of the engine",
    "build": "build number of the engine, such as 9789",
    "date": "day of the measurement, or of its publication: 2026-05-17",
    "context": "context in tokens",
    "max_output_tokens": "length at which an answer was cut, in tokens",
    "sampling": "greedy or other",
    "thinking": "whether the model's thinking mode was on: true or false",
    "concurrency": "requests in flight at once",
    "rate_counts": "what a rate of this tool counts: all tokens, or steps (all but the first)",
    "threads": "threads for single tokens",
    "batch": "logical batch in tokens",
    "micro_batch": "physical batch in tokens",
    "gpu_layers": "layers of the target asked onto the GPU, -1 for all",
    "measured_from": "start of the measurement in UTC: 2026-05-17T09:00:00Z",
    "measured_until": "end of the measurement in UTC",
} | {name: axis.imported for name, axis in AXES.items() if axis.imported is not None}
_PREFIXES = ("arm", "task")
_BILLION, _MILLION = 1e9, 1e6
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([BM]?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the user gave and what the files say; the user wins. Remembers what nobody stated."""

    given: Mapping[str, str]
    read: Mapping[str, str]
    missing: dict[str, None] = field(default_factory=dict)

    def text(self, key: str) -> str | None:
        """A fact, or `None`."""
        return self.given.get(key, self.read.get(key))

    def need(self, key: str) -> str:
        """A fact that a result cannot be without; an empty text when nobody says it."""
        found = self.text(key)
        if found is None:
            self.missing[key] = None
        return found or ""

    def whole(self, key: str) -> int | None:
        """A whole number; layers on the GPU may be -1."""
        found = self.text(key)
        if found is None:
            return None
        if not re.fullmatch(r"-?[0-9]{1,15}", found):
            message = f"--map {key}={found!r}: expected a whole number ({KEYS[key]})"
            raise BadInputError(message)
        return int(found)

    def number(self, key: str) -> float | None:
        """A number such as 0.8."""
        found = self.text(key)
        if found is None:
            return None
        if not _NUMBER.fullmatch(found):
            message = f"--map {key}={found!r}: expected a number ({KEYS[key]})"
            raise BadInputError(message)
        return float(found)

    def size(self, key: str, named: str | None = None) -> int | None:
        """A number of parameters: `8.2B`, `135M` or in full; else the one that a name gives."""
        found = self.text(key) or named
        if found is None:
            return None
        match = _SIZE.fullmatch(found)
        if match is None:
            message = f"--map {key}={found!r}: expected {KEYS[key]}"
            raise BadInputError(message)
        unit = {"B": _BILLION, "M": _MILLION, "": 1.0}[match[2].upper()]
        return round(float(match[1]) * unit)

    def below(self, prefix: str) -> dict[str, str]:
        """What is given as `prefix.NAME=value`, by name."""
        start = f"{prefix}."
        return {k.removeprefix(start): v for k, v in self.given.items() if k.startswith(start)}


def parse_facts(options: Sequence[str]) -> dict[str, str]:
    """The facts of all `--map` options: `key=value`, or a TOML file of such."""
    found: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if equals:
            found[key.strip()] = value.strip()
        elif option.endswith(".toml"):
            found |= _of_toml(Path(option))
        else:
            message = f"--map {option!r}: expected key=value, or a file that ends in .toml"
            raise BadInputError(message)
    for key in found:
        _check(key)
    return found


def for_part(facts: Mapping[str, str], part: str, parts: Iterable[str]) -> dict[str, str]:
    """The facts for one part of the files: those for all, and `PART/key` for this one."""
    known = set(parts)
    for key in facts:
        scope, slash, _ = key.partition("/")
        if slash and scope not in known:
            message = f"--map {key}: the files have no part {scope!r}.{suggestion(scope, known)}"
            raise BadInputError(message)
    common = {key: value for key, value in facts.items() if "/" not in key}
    start = f"{part}/"
    return common | {k.removeprefix(start): v for k, v in facts.items() if k.startswith(start)}


def missing_message(part: str, missing: Iterable[str]) -> str:
    """One line that names every fact that is missing, with what it is."""
    options = ", ".join(f"{key}=… ({KEYS[key]})" for key in missing)
    return f"{part}: the files do not say everything; give with --map: {options}"


def _check(key: str) -> None:
    plain = key.rpartition("/")[2]
    if plain in KEYS or (plain.split(".")[0] in _PREFIXES and "." in plain):
        return
    message = f"--map has no key {plain!r}.{suggestion(plain, KEYS)}"
    raise BadInputError(message)


def _of_toml(path: Path) -> dict[str, str]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"--map {path} cannot be read: {error.strerror}"
        raise BadInputError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"--map {path}: not TOML: {error}"
        raise BadInputError(message) from error
    return dict(_flat(table, ""))


def _flat(table: Mapping[str, object], prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, bool):
            yield f"{prefix}{key}", str(value).lower()
        else:
            yield f"{prefix}{key}", str(value)
