"""Which environment variables change an engine's behaviour? An allow-list, without anything secret.

`LLAMA_ARG_…` is left out: these are arguments of llama.cpp's programs, which get all of theirs on
the command line and never see the person's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schemas.submission import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

ARGUMENTS = "LLAMA_ARG_"
_CHANGES_ENGINES = re.compile(r"(?:GGML|LLAMA|CUDA|HIP|HSA|OMP|KMP|GOMP)_[A-Z0-9_]+")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW")
_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9.,:=_-]{0,64}")


def variables(environment: Mapping[str, str]) -> tuple[Variable, ...]:
    """The variables that are told in a result, by name."""
    return tuple(
        Variable(name=name, value=value)
        for name, value in sorted(environment.items())
        if _CHANGES_ENGINES.fullmatch(name)
        and not name.startswith(ARGUMENTS)
        and not _SECRET.search(name)
        and _HARMLESS_VALUE.fullmatch(value)
    )
