"""How fast can a machine at most read the weights of a model?

Every step of a target, however wide, reads the weights that a token uses once. Their bytes over
the bandwidth of the memory they lie in is the least time of a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemas.submission import Model


def bytes_per_token(model: Model) -> float | None:
    """Bytes of the weights that one token uses: of a mixture of experts only the active share."""
    if model.file_bytes is None:
        return None
    if model.active_parameters is None:
        return float(model.file_bytes)
    if model.parameters is None:
        return None
    return model.file_bytes * min(1.0, model.active_parameters / model.parameters)
