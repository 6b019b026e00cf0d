"""Record the environment variables that change how an engine computes."""

import re
from collections.abc import Mapping

from harness.machine.engines import SERVER_ARGUMENTS
from schemas.submission import Variable

_CHANGES_ENGINES = re.compile(r"(?:GGML|LLAMA|CUDA|HIP|HSA|OMP|KMP|GOMP)_[A-Z0-9_]+")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW")
_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9.,:=_-]{0,64}")


def variables(environment: Mapping[str, str]) -> tuple[Variable, ...]:
    """The variables that a result records, sorted by name."""
    return tuple(
        Variable(name=name, value=value)
        for name, value in sorted(environment.items())
        if _CHANGES_ENGINES.fullmatch(name)
        and not name.startswith(SERVER_ARGUMENTS)
        and not _SECRET.search(name)
        and _HARMLESS_VALUE.fullmatch(value)
    )
