"""Which commit of Draftmap is running? Known when it runs from a git checkout."""

from __future__ import annotations

import re
from pathlib import Path

from harness.detect.command import output

_ROOT = Path(__file__).parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def commit(root: Path = _ROOT) -> str | None:
    """The commit that is checked out, or `None` outside a checkout and for an installed package."""
    if not (root / ".git").exists():
        return None
    said = (output("git", "-C", str(root), "rev-parse", "HEAD") or "").strip()
    return said if _COMMIT.fullmatch(said) else None
