"""Say what settings of a campaign are not the usual ones: they make its cells cells of their own.

Usual are prompts as the suite has them, greedy sampling, an f16 cache, flash attention as the
engine decides, and weights where the layers are. A setting that nobody stated counts as usual.
"""

from dataclasses import dataclass

from schemas.submission import Settings

_USUAL_CACHE = "f16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What differs from the usual settings, in words; `None` where a setting is the usual one.

    The seed of the draws is no condition: another seed is another sample of the same.
    """

    context_depth: int | None = None
    token_choice: str | None = None
    cache_types: str | None = None
    attention: str | None = None
    loading: str | None = None

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
        attention=None if settings.flash_attention == "auto" else settings.flash_attention,
        loading=", ".join(_loading(settings)) or None,
    )


def _token_choice(settings: Settings) -> str | None:
    if settings.sampling == "greedy":
        return None
    known = settings.temperature is not None
    return f"temperature {settings.temperature:g}" if known else "not greedy"


def _cache_types(settings: Settings) -> str | None:
    types = settings.kv_type_k or _USUAL_CACHE, settings.kv_type_v or _USUAL_CACHE
    if types == (_USUAL_CACHE, _USUAL_CACHE):
        return None
    return types[0] if types[0] == types[1] else " and ".join(types)


def _loading(settings: Settings) -> list[str]:
    layers = settings.cpu_expert_layers
    parts = []
    if layers:
        count = "all layers" if layers < 0 else f"{layers} layer{'s' if layers > 1 else ''}"
        parts.append(f"experts of {count} on the CPU")
    if settings.split_mode is not None:
        parts.append(f"split mode {settings.split_mode}")
    return [*parts, *(settings.server_arguments or ())]
