"""Read the checked-out commit of this tool."""

import re
from pathlib import Path

from harness.machine.command import output

_ROOT = Path(__file__).parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def commit(root: Path = _ROOT) -> str | None:
    """The checked-out commit; `None` outside a checkout and for an installed package."""
    if not (root / ".git").exists():
        return None
    found = (output("git", "-C", str(root), "rev-parse", "HEAD") or "").strip()
    return found if _COMMIT.fullmatch(found) else None
