"""Name the settings of a campaign that differ from the defaults; they distinguish its results."""

from dataclasses import dataclass

from schemas.submission import Settings
from schemas.vocabulary.axes import AXES

# The first rounds of an answer differ from later rounds, and a shorter answer has few later rounds.
_DEFAULT_OUTPUT_TOKENS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class NonDefaultSettings:
    """The settings that are not the defaults, in words; a field is `None` for a default.

    `loading` names the axes that have `words` in `axes.toml`, such as the placement of layers.
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


def non_default(settings: Settings) -> NonDefaultSettings:
    """The settings that differ from the defaults."""
    values = ((axis, axis.non_default(settings)) for axis in AXES.values())
    changed = [(axis, value) for axis, value in values if value is not None]
    flags = [flag for axis, value in changed if axis.identity for flag in axis.flags(value)]
    limit = settings.max_output_tokens  # the limit, not the length of one answer
    short = None if limit is None or limit >= _DEFAULT_OUTPUT_TOKENS else limit
    flags += ["--max-tokens", str(short)] if short else []
    return NonDefaultSettings(
        context_depth=settings.context_depth_tokens,
        token_choice=_token_choice(settings),
        answer_limit=f"answers of {short} tokens" if short else None,
        cache_types=_cache_types(settings),
        attention=AXES["flash_attention"].non_default(settings),
        loading=", ".join(filter(None, (axis.named(value) for axis, value in changed))) or None,
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
