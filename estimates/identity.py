"""Name the device, rig, voter, target, arms and unusual settings of a submission.

Labels are for readers; slugs (`device`, `target`, `rig`, `address_stem`, `setting`) are for
addresses.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from estimates.arguments import of_all_arms
from estimates.depths import ArmSetting, setting
from estimates.gpu_names import short_name, vendor_of
from estimates.used_gpus import used_cards
from schemas.codec import file_name, slug
from schemas.rig import LLAMA_CPP
from schemas.submission import Engine, Gpu, Language, Machine, Settings, Submission
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS, model_name
from schemas.vocabulary.axes import AXES
from schemas.vocabulary.say import TIMES

_MIB_PER_GIB = 1024
# The first rounds of an answer differ from later rounds, and a shorter answer has few later rounds.
_DEFAULT_OUTPUT_TOKENS = 32
LOW_POWER = "low-power mode"
LANGUAGES: dict[Language, str] = {"de": "German", "fr": "French", "zh": "Chinese", "ja": "Japanese"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NonDefaultSettings:
    """The settings that are not the defaults, in words; a field is `None` for a default.

    `loading` names the axes that have `words` in `axes.toml`, such as the placement of layers, and
    the arguments that separate results (`argument_effects.toml`).
    `measured_with` are the arguments with which `draftmap run` measures the same setting.
    """

    context_depth: int | None = None
    token_choice: str | None = None
    answer_limit: str | None = None
    cache_types: str | None = None
    attention: str | None = None
    loading: str | None = None
    measured_with: tuple[str, ...] = ()

    @property
    def label(self) -> str | None:
        """All settings on one line, such as `context 4096, KV q8_0`; `None` if all are defaults."""
        depth = None if self.context_depth is None else f"context {self.context_depth}"
        attention = None if self.attention is None else f"flash attention {self.attention}"
        cache = None if self.cache_types is None else f"KV {self.cache_types}"
        parts = (depth, self.token_choice, self.answer_limit, cache, attention, self.loading)
        return ", ".join(filter(None, parts)) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity(NonDefaultSettings):
    """All names of one submission.

    For GPU backends, `device` names the GPUs that the engine ran on, with their memory. For other
    backends it names the processor and its number of threads, because virtual machines may share a
    processor's name but not its speed. `vram_gib` is the sum of these GPUs' memory. `processor` is
    the marketing name of the first GPU, or of the CPU. `machine` is a digest of the hardware, `rig`
    names a machine with one engine build and one backend, `voter` a contributor on one machine. A
    model with thinking on is a separate target. `conditions` lists the settings that differ from
    the defaults; each also has its own field, from `NonDefaultSettings`. `suite_label` names a
    later version of a suite, whose prompts differ from the first version's. `address_stem` is a
    cell's address without the arm's setting.
    """

    device: str
    device_label: str
    device_name: str
    device_kind: Literal["gpu", "cpu"]
    vram_gib: int | None
    vendor: str
    processor: str | None
    machine: str
    voter: str
    rig: str
    rig_label: str
    engine_label: str
    engine_build: str
    target: str
    target_label: str
    quantisation: str
    conditions: str | None
    suite_label: str | None
    address_stem: str
    settings: tuple[ArmSetting, ...]


def identify(submission: Submission) -> Identity:
    """Name everything in a submission. The same file always gets the same names."""
    machine, engine, target = submission.machine, submission.engine, submission.target
    cards, cpu = _cards(submission), machine.cpu
    processor = cards[0].name if cards else cpu.name
    name, label = _cards_label(cards) if cards else cpu_label(cpu.name, cpu.logical_cores)
    named = model_name(target.name)
    shown_target = f"{named}, thinking" if submission.settings.thinking else named
    device, target_slug, quantisation = (
        slug(name, limit=None) for name in (label, shown_target, target.quantisation)
    )
    digest = _machine(machine)
    changed = non_default(submission.settings, (*_circumstances(submission),))
    major = int(submission.suite.version.partition(".")[0])
    suite = f"{submission.suite.id} {major}" if major > 1 else None
    differs = (slug(name, limit=None) for name in (suite, changed.label) if name is not None)
    where = device, engine.backend_label, _engine_slug(engine)
    return Identity(
        device=device,
        device_label=label,
        device_name=name,
        device_kind="gpu" if cards else "cpu",
        vram_gib=_gib(_total_mib(cards)),
        vendor=(cards[0].vendor if cards else None) or vendor_of(processor or ""),
        processor=processor,
        machine=digest,
        voter=f"{submission.contributor or 'anonymous'}@{digest}",
        rig=f"{device}-{engine.backend_label}-{_build_digest(digest, engine)}",
        rig_label=f"{label} · {engine.backend_label} · {_engine_build(engine)}",
        engine_label=_engine_label(engine),
        engine_build=_engine_build(engine),
        target=target_slug,
        target_label=shown_target,
        quantisation=quantisation,
        conditions=changed.label,
        suite_label=suite,
        address_stem=_joined("-", *where, target_slug, quantisation, *differs),
        settings=tuple(setting(arm, submission) for arm in submission.arms),
        **asdict(changed),
    )


def _circumstances(submission: Submission) -> Iterator[str]:
    """The server's arguments, the low-power mode, and a language other than English."""
    yield from of_all_arms(submission)
    if submission.machine.power_mode == "low":
        yield LOW_POWER
    if language := submission.suite.language:
        yield f"{LANGUAGES[language]} text"


def non_default(settings: Settings, arguments: tuple[str, ...] = ()) -> NonDefaultSettings:
    """The settings that differ from the defaults, and the server's `arguments` that do.

    The low-power mode and a language other than English are among the arguments.
    """
    values = ((axis, axis.non_default(settings)) for axis in AXES.values())
    changed = [(axis, value) for axis, value in values if value is not None]
    flags = [flag for axis, value in changed if axis.identity for flag in axis.flags(value)]
    loading = [*filter(None, (axis.named(value) for axis, value in changed)), *arguments]
    limit = settings.max_output_tokens  # the limit, not the length of one answer
    short = None if limit is None or limit >= _DEFAULT_OUTPUT_TOKENS else limit
    flags += ["--max-tokens", str(short)] if short else []
    return NonDefaultSettings(
        context_depth=settings.context_depth_tokens,
        token_choice=_token_choice(settings),
        answer_limit=f"answers of {short} tokens" if short else None,
        cache_types=_cache_types(settings),
        attention=AXES["flash_attention"].non_default(settings),
        loading=", ".join(loading) or None,
        measured_with=tuple(flags),
    )


def _token_choice(settings: Settings) -> str | None:
    if settings.sampling == "greedy":
        return None
    known = settings.temperature is not None
    return f"temperature {settings.temperature:g}" if known else "not greedy"


def _cache_types(settings: Settings) -> str | None:
    axes = AXES["kv_type_k"], AXES["kv_type_v"]
    if not any(axis.non_default(settings) for axis in axes):
        return None
    return " and ".join(dict.fromkeys(axis.value(settings) or str(axis.default) for axis in axes))


def _cards(submission: Submission) -> tuple[Gpu, ...]:
    """The cards that the engine ran on; empty if it ran on a CPU or an NPU."""
    machine, engine = submission.machine, submission.engine
    on_processor = engine.backend in ("cpu", "npu")
    if engine.backend == "openvino":
        on_processor = all(each.kind not in ("gpu", "igpu") for each in engine.devices or ())
    return () if on_processor else used_cards(machine, engine, submission.arms)


def _cards_label(cards: tuple[Gpu, ...]) -> tuple[str, str]:
    """The cards' name, and a label with the memory: per card if all are alike, else in total."""
    names = [short_name(card.name) for card in cards]
    alike = len({card.name for card in cards}) == 1
    count = len(cards) if len(cards) > 1 else None
    name = _joined(f" {TIMES} ", count, names[0]) if alike else " + ".join(names)
    sizes = [card.vram_mib for card in cards if card.vram_mib is not None]
    shown = _gib(max(sizes, default=None) if alike else _total_mib(cards))
    return name, name if shown is None else f"{name} {shown} GB"


def cpu_label(cpu: str | None, threads: int | None) -> tuple[str, str]:
    """The name of a processor, and a label that adds its number of threads."""
    name = short_name(cpu) if cpu else "unknown processor"
    return name, name if threads is None else f"{name} {threads} threads"


def _total_mib(cards: Iterable[Gpu]) -> int | None:
    sizes = [card.vram_mib for card in cards if card.vram_mib is not None]
    return sum(sizes) if sizes else None


def _gib(mib: int | None) -> int | None:
    return None if mib is None else math.floor(mib / _MIB_PER_GIB + 0.5)


def _machine(machine: Machine) -> str:
    """A digest of the machine's hardware, including all its cards, used or idle."""
    return _digest(
        machine.os.family if machine.os else None,
        machine.cpu.name,
        machine.cpu.logical_cores,
        machine.ram_mib,
        machine.gpus[0].name if machine.gpus else None,
        _total_mib(machine.gpus),
    )


def _build_digest(machine: str, engine: Engine) -> str:
    return _digest(
        machine,
        engine.runner,
        engine.name,
        engine.version,
        engine.package_version,
        engine.commit,
        engine.build_number,
        engine.backend_label,
    )


def engine_group(engine: Engine) -> tuple[str, str]:
    """The backend and the build: only results of one group must have equal answers and rounds.

    The same file and build accepted 36 % of the drafts with CUDA and 92 % with Vulkan
    (llama.cpp #26750).
    """
    return engine.backend_label, _engine_build(engine)


def _engine_build(engine: Engine) -> str:
    build = engine.version if engine.build_number is None else f"b{engine.build_number}"
    return _joined(" ", engine.name, build)


def _engine_label(engine: Engine) -> str:
    """The engine's name; for llama.cpp the runner's label, as its runners draft differently."""
    runner = RUNNERS.get(engine.runner)
    label = runner.engine_label if runner else None
    return label if label and engine.name == LLAMA_CPP else engine.name


def _engine_slug(engine: Engine) -> str | None:
    """The engine's slug in an address; `None` for the commonest engine, to keep addresses short."""
    label = _engine_label(engine)
    return None if label == RUNNERS[DEFAULT_RUNNER].engine_label else slug(label, limit=None)


def _digest(*parts: str | int | None) -> str:
    """The first eight hex digits of the MD5 of these values; unknown values are left out."""
    text = _joined("|", *parts)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8]


def _joined(separator: str, *parts: str | int | None) -> str:
    return separator.join(str(part) for part in parts if part is not None)


def canonical_name(submission: Submission, data: bytes) -> str:
    """The file name of a submission, from its machine, target, day and canonical bytes."""
    return file_name(
        machine=identify(submission).processor or "unknown",
        target=submission.target.id,
        measured_from=submission.measured_from,
        data=data,
    )
