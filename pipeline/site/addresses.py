"""Find the web addresses of the repository and of the site."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

REPOSITORY = "DRAFTMAP_REPOSITORY"
SITE = "DRAFTMAP_SITE_URL"
# The user part of an address is dropped, because it may hold a token.
REMOTE = re.compile(
    r"(?:https://(?:[^/@]*@)?|ssh://(?:[^/@]*@)?|[^/@:]+@)"
    r"(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d+)?[/:](?P<path>[A-Za-z0-9_./-]+?)"
    r"(?:\.git)?/?"
)


def repository_address(root: Path) -> str | None:
    """The repository's web address: from the environment, pyproject.toml or the Git remote."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    declared = project.get("urls", {}).get("Repository")
    return web_address(os.environ.get(REPOSITORY) or declared or _origin(root))


def site_address(given: str | None) -> str | None:
    """The address where the site will be served, with a trailing slash; `None` if it is unknown."""
    address = given or os.environ.get(SITE)
    return address.rstrip("/") + "/" if address else None


def web_address(remote: str) -> str | None:
    """A Git remote's web address: `git@host.example:a/b.git` becomes `https://host.example/a/b`."""
    found = REMOTE.fullmatch(remote)
    return f"https://{found['host']}/{found['path']}" if found else None


def _origin(root: Path) -> str:
    command = ("git", "-C", str(root), "remote", "get-url", "origin")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)  # noqa: S603 - fixed words and our own folder
    except FileNotFoundError:  # without git there is no remote
        return ""
    return done.stdout.strip()
