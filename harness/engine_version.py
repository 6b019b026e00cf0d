"""Which llama.cpp does an installed llama-cpp-python carry? Its library does not say, so we do.

Read off the git submodule of the package's source at each release.
"""

from __future__ import annotations

from importlib import metadata

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
