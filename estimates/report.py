"""What does a summary look like as JSON?

The one form that the terminal's `--json` and the pipeline share: the field names of
`estimates.model`, and a field that is not known is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.codec import encode

if TYPE_CHECKING:
    from estimates.model import Summary
    from schemas.codec import Json


def to_json(summary: Summary) -> Json:
    """Estimates, prompts and flags as JSON values, in the order in which they were derived."""
    return encode(summary)
