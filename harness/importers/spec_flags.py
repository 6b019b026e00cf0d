"""Which method do the flags of a llama-server ask for? As far as they say one, and its depth."""

from __future__ import annotations

import dataclasses
import itertools
import shlex

from harness.importers.methods import METHODS

_TYPE = "--spec-type"
_DEPTHS = ("--spec-draft-n-max", "--draft-max", "--draft-n", "--draft")
_NAMES = {"draft-simple": "draft-model"}


def method_of(flags: str) -> str | None:
    """The method as `--map method=` takes it; `None` for no type, several, or an unknown one."""
    said = _values(flags)
    kind = said.get(_TYPE, "")
    kind = _NAMES.get(kind, kind.removeprefix("draft-"))
    cls = METHODS.get(kind)
    if cls is None or kind == "none":
        return None
    depth = next((said[flag] for flag in _DEPTHS if flag in said), "")
    takes_depth = any(field.name == "n_max" for field in dataclasses.fields(cls))
    return f"{kind}:n_max={depth}" if takes_depth and depth.isdecimal() else kind


def _values(flags: str) -> dict[str, str]:
    """Each flag with the word that follows it, or after its `=`."""
    try:
        words = shlex.split(flags)
    except ValueError:
        return {}  # an open quotation mark: nothing certain can be read
    said = dict(itertools.pairwise(words))
    return said | dict(word.split("=", 1) for word in words if "=" in word)
