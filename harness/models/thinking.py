"""Check whether a chat template has a switch for thinking, and set the switch."""

import re
from collections.abc import Mapping

# The switch's names in templates: first that of Qwen, GLM and others, then that of DeepSeek and
# Granite.
SWITCHES = ("enable_thinking", "thinking")
# Thoughts need more tokens than an answer alone.
OUTPUT_TOKENS = 1024
# Templates are untrusted, so no regular expression searches for an end that may be missing.
_OPENS, _CLOSES = re.compile(r"\{[%{]"), re.compile(r"[%}]\}")
_TEXTS = re.compile(r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)", re.DOTALL)
_OPENED = re.compile(r"<think(?:ing)?>\s*$")


def has_switch(template: str | None) -> bool:
    """Whether the template reads one of the variables that switch thinking on or off."""
    blocks = (_CLOSES.split(part, maxsplit=1)[0] for part in _OPENS.split(template or "")[1:])
    code = " ".join(_TEXTS.sub(" ", block) for block in blocks)
    return any(re.search(rf"(?<![\w.]){name}(?!\w)", code) for name in SWITCHES)


def arguments(*, thinking: bool) -> Mapping[str, bool]:
    """Return template variables that switch thinking on or off, under every known name."""
    return dict.fromkeys(SWITCHES, thinking)


def state(template: str | None, rendered: str, *, asked: bool) -> bool | None:
    """Return whether the model thinks: as `asked`, but `None` for a template without a switch.

    A prompt that ends with an open thinking tag makes the model think in any case.
    """
    if _OPENED.search(rendered):
        return True
    return asked if has_switch(template) else None
