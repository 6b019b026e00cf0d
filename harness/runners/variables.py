"""Record the environment variables that change how an engine computes."""

from collections.abc import Mapping

from schemas.public_text import VARIABLES, is_number, is_word
from schemas.submission import Variable


def variables(environment: Mapping[str, str]) -> tuple[Variable, ...]:
    """Return the variables that a result records, sorted by name.

    Variables that name GPUs by serial number (`GPU-…`) are left out.
    """
    return tuple(
        Variable(name=name, value=value)
        for name, value in sorted(environment.items())
        if name in VARIABLES and (not value or is_number(value) or is_word(value))
    )
