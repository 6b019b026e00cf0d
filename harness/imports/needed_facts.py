"""The facts that an import needs, from the files and from `--map`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from harness.errors import BadInputError, suggestion
from schemas.codec import Json
from schemas.rig import Architecture, Backend, System
from schemas.submission import Axes, Task
from schemas.vocabulary.axes import AXES

_Value = TypeVar("_Value")
RateCounts = Literal["tokens", "steps"]
Size = Annotated[str, Meta(pattern=r"^[0-9]+(\.[0-9]+)?[BbMm]?$")]


def _fact(description: str, at: str = "") -> Any:  # noqa: ANN401 - the default of a field
    return field(default=None, metadata={"help": description, "at": at})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFacts(Axes):
    """The known facts about a measurement; `None` means unknown.

    Each field is a key of `--map`, with its help text, and `at` is its place in a result: a part of
    the rig, such as the CPU, and a field. `schemas/vocabulary/axes.toml` describes the axes.
    """

    target: str | None = _fact('name of the target, such as "Qwen3-8B"', at="target.name")
    quantisation: str | None = _fact(
        "quantisation of the target, such as Q4_K_M or BF16", at="target.quantisation"
    )
    parameters: Size | None = _fact("parameters of the target, such as 8.2B")
    active_parameters: Size | None = _fact(
        "parameters per token, for a mixture of experts, such as 3B"
    )
    target_sha256: str | None = _fact("SHA-256 of the target's weight file", at="target.sha256")
    target_bytes: int | None = _fact(
        "size of the target's weight file in bytes", at="target.file_bytes"
    )
    draft: str | None = _fact("name of the draft model")
    draft_quantisation: str | None = _fact("quantisation of the draft model")
    draft_parameters: Size | None = _fact("parameters of the draft model, such as 0.6B")
    method: str | None = _fact(
        "how drafts are made: mtp, draft-model, ngram-simple, eagle3, other:name=medusa ..."
    )
    n_max: int | None = _fact("maximum number of tokens drafted in a round")
    backend: Backend | None = _fact("cuda, vulkan, metal, rocm, sycl, cpu ...", at="engine.backend")
    gpu: str | None = _fact(
        'name of the GPU, such as "NVIDIA GeForce RTX 3090"; several are separated by commas'
    )
    vram_mib: int | None = _fact(
        "memory of the GPU in MiB, such as 24576; with several GPUs, the memory of each GPU",
        at="gpu.vram_mib",
    )
    gpu_driver: str | None = _fact("version of the GPU driver", at="gpu.driver")
    cpu: str | None = _fact("name of the CPU", at="cpu.name")
    cpu_architecture: Architecture | None = _fact("x86_64, aarch64 ...", at="cpu.architecture")
    cpu_cores: int | None = _fact("logical cores of the CPU", at="cpu.logical_cores")
    ram_mib: int | None = _fact("main memory in MiB", at="machine.ram_mib")
    os: System | None = _fact("linux, windows, macos, freebsd, other", at="os.family")
    os_version: str | None = _fact("version of the operating system", at="os.version")
    engine: str | None = _fact(
        "name of the engine, if the format does not imply it", at="engine.name"
    )
    engine_version: str | None = _fact("version of the engine", at="engine.version")
    engine_commit: str | None = _fact("commit of the engine", at="engine.commit")
    build: int | None = _fact("build number of the engine, such as 9789", at="engine.build_number")
    date: str | None = _fact("day of the measurement or of its publication, such as 2026-05-17")
    dataset: str | None = _fact(
        "data set of a serving benchmark, such as sharegpt; the benchmark's default is "
        "random tokens"
    )
    task: Task | None = _fact("task of the prompts, such as code or chat")
    context: int | None = _fact("context in tokens", at="settings.context_tokens")
    max_output_tokens: int | None = _fact(
        "maximum length of an answer in tokens", at="settings.max_output_tokens"
    )
    sampling: Literal["greedy", "other"] | None = _fact("greedy or other", at="settings.sampling")
    thinking: bool | None = _fact(
        "whether the model's thinking mode was on", at="settings.thinking"
    )
    concurrency: int | None = _fact("number of concurrent requests")
    rate_counts: RateCounts | None = _fact(
        "what the tool's rates count: tokens (every token) or steps (every token but the first)"
    )
    threads: int | None = _fact("threads for decoding single tokens", at="settings.threads")
    batch: int | None = _fact("logical batch size in tokens", at="settings.batch_tokens")
    micro_batch: int | None = _fact(
        "physical batch size in tokens", at="settings.micro_batch_tokens"
    )
    gpu_layers: int | None = _fact("layers of the target requested on the GPU, -1 for all")
    measured_from: str | None = _fact("start of the measurement in UTC: 2026-05-17T09:00:00Z")
    measured_until: str | None = _fact("end of the measurement in UTC")

    def __or__(self, other: Self) -> Self:
        """Merge two sets of facts; the right operand takes precedence."""
        stated = {key: value for key, value in asdict(other).items() if value is not None}
        return replace(self, **stated)

    def part_of_rig(self, part: str, /, **others: Json) -> dict[str, Json]:
        """Return the known fields of a part of a result, such as `engine`, after some others."""
        places = {each.name: each.metadata.get("at", "") for each in fields(self)}
        places |= {axis: f"settings.{axis}" for axis in AXES}
        found = {at: getattr(self, key) for key, at in places.items() if at.startswith(f"{part}.")}
        known = {at.partition(".")[2]: each for at, each in found.items() if each is not None}
        return others | known


def agreed(values: Iterable[_Value | None]) -> _Value | None:
    """Return the only distinct value, ignoring `None`; `None` if the values differ."""
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None


KEYS: dict[str, str] = {
    each.name: each.metadata["help"] for each in fields(ImportedFacts) if each.metadata
} | {name: axis.imported for name, axis in AXES.items() if axis.imported is not None}
_TYPES = get_type_hints(ImportedFacts, include_extras=True)
_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}
ARM = "arm."


def parse_map(options: Sequence[str]) -> dict[str, str]:
    """Split all `--map` options into keys and values. Raises `BadInputError` for an unknown key."""
    found: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise BadInputError(f"--map {option!r}: expected key=value")
        found[key.strip()] = value.strip()
    for key in found:
        if key not in KEYS and not key.startswith(ARM):
            raise BadInputError(f"--map has no key {key!r}.{suggestion(key, KEYS)}")
    return found


def typed(stated: Mapping[str, str]) -> ImportedFacts:
    """Convert the `--map` values from strings to the types of their fields."""
    return ImportedFacts(**{key: _typed(key, text) for key, text in stated.items() if key in KEYS})


def _typed(key: str, text: str) -> Any:  # noqa: ANN401 - of the type of that field
    with suppress(msgspec.ValidationError):
        value = msgspec.convert(text, _TYPES[key], strict=False)
        # Python parses "nan" and "inf" as numbers, which a result cannot store.
        if not isinstance(value, float) or math.isfinite(value):
            return value
    kind = get_args(_TYPES[key])[0]
    if get_origin(kind) is Literal:
        wrong = f"not accepted.{suggestion(text, get_args(kind))}"
    elif kind in _KINDS:
        wrong = f"expected {_KINDS[kind]} ({KEYS[key]})"
    else:
        wrong = f"expected {KEYS[key]}"
    raise BadInputError(f"--map {key}={text!r}: {wrong}")
