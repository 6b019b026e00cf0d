"""The installed versions: of the binding, of the llama.cpp in it, and of this tool.

The binding does not report its llama.cpp; it is the git submodule of each release's source.
"""

import re
from importlib import metadata
from pathlib import Path

from harness.machine.command import output

PACKAGE = "llama-cpp-python"
_VENDORED_COMMITS = {"0.3.36": "0c1e57098"}


def package_version() -> str | None:
    """The installed version of the binding, or `None` when there is none."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def vendored_commit(version: str | None) -> str | None:
    """The commit of llama.cpp inside a version of the binding, where it is known."""
    return _VENDORED_COMMITS.get(version or "")


_ROOT = Path(__file__).parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def commit(root: Path = _ROOT) -> str | None:
    """The commit that is checked out, or `None` outside a checkout and for an installed package."""
    if not (root / ".git").exists():
        return None
    found = (output("git", "-C", str(root), "rev-parse", "HEAD") or "").strip()
    return found if _COMMIT.fullmatch(found) else None
