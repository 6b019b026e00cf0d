"""Say what settings of a campaign are not the usual ones: they make its cells cells of their own.

Usual are prompts as the suite has them, greedy sampling, an f16 cache, flash attention as the
engine decides, and weights where the layers are. A setting that nobody stated counts as usual.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.submission import Settings

_USUAL_CACHE = "f16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What differs from the usual settings, in words; `None` where a setting is the usual one.

    The seed of the draws is no condition: another seed is another sample of the same. `options` are
    the words with which `draftmap run` measures under these conditions.
    """

    context_depth: int | None = None
    token_choice: str | None = None
    cache_types: str | None = None
    attention: str | None = None
    loading: str | None = None
    options: str | None = None

    @property
    def label(self) -> str | None:
        """All of it in one line, such as `context 4096, KV q8_0`; `None` where all is usual."""
        depth = None if self.context_depth is None else f"context {self.context_depth}"
        attention = None if self.attention is None else f"flash attention {self.attention}"
        cache = None if self.cache_types is None else f"KV {self.cache_types}"
        parts = (depth, self.token_choice, cache, attention, self.loading)
        return ", ".join(filter(None, parts)) or None


def conditions(settings: Settings) -> Conditions:
    """The conditions of a campaign with these settings."""
    return Conditions(
        context_depth=settings.context_depth_tokens,
        token_choice=_token_choice(settings),
        cache_types=_cache_types(settings),
        attention=_unless_usual(settings.flash_attention, "auto"),
        loading=", ".join(_loading(settings)) or None,
        options=" ".join(_options(settings)) or None,
    )


def _token_choice(settings: Settings) -> str | None:
    if settings.sampling == "greedy":
        return None
    known = settings.temperature is not None
    return f"temperature {settings.temperature:g}" if known else "not greedy"


def _cache_types(settings: Settings) -> str | None:
    keys, values = settings.kv_type_k or _USUAL_CACHE, settings.kv_type_v or _USUAL_CACHE
    return _unless_usual(keys if keys == values else f"{keys} and {values}", _USUAL_CACHE)


def _loading(settings: Settings) -> list[str]:
    layers = settings.cpu_expert_layers
    parts = []
    if layers:
        count = "all layers" if layers < 0 else f"{layers} layer{'s' if layers > 1 else ''}"
        parts.append(f"experts of {count} on the CPU")
    if settings.split_mode is not None:
        parts.append(f"split mode {settings.split_mode}")
    return [*parts, *(settings.server_arguments or ())]


def _options(settings: Settings) -> Iterator[str]:
    unusual = {
        "context-depth": settings.context_depth_tokens,
        "temperature": settings.temperature,
        "cache-type-k": _unless_usual(settings.kv_type_k, _USUAL_CACHE),
        "cache-type-v": _unless_usual(settings.kv_type_v, _USUAL_CACHE),
        "flash-attention": _unless_usual(settings.flash_attention, "auto"),
        "split-mode": settings.split_mode,
    }
    yield from (f"--{name} {value}" for name, value in unusual.items() if value is not None)
    layers = settings.cpu_expert_layers
    if layers:
        yield "--cpu-moe" if layers < 0 else f"--n-cpu-moe {layers}"
    yield from (f"--server-arg='{argument}'" for argument in settings.server_arguments or ())


def _unless_usual(value: str | None, usual: str) -> str | None:
    return None if value == usual else value
