"""What stands for a sequence of token ids in a result file?"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def token_digest(tokens: Sequence[int]) -> str:
    """First 16 hex digits of the SHA-256 over token ids as little-endian 32-bit integers."""
    return hashlib.sha256(np.asarray(tokens, dtype="<i4").tobytes()).hexdigest()[:16]
