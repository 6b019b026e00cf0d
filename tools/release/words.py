"""Check that all files state the same version, and read the version's notes from the changelog.

The version is in `pyproject.toml`; `CITATION.cff`, the changelog and the tag must agree with it.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

_HEADING = re.compile(r"^## (\S+) \((\S+)\)$", re.MULTILINE)
_CITED = re.compile(r"^version: (\S+)$", re.MULTILINE)
_CITED_DAY = re.compile(r"^date-released: (\S+)$", re.MULTILINE)
_DAY = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
UNRELEASED = "unreleased"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The version in each file; `noted`, `day`, `notes` are from the changelog's first section."""

    version: str
    cited: str | None
    cited_day: str | None
    noted: str | None
    day: str | None
    notes: str


def read(root: Path) -> Words:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (root / "CITATION.cff").read_text("utf-8")
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    first, *later = [*_HEADING.finditer(changelog), None, None][:2]
    end = later[0].start() if later[0] else len(changelog)
    return Words(
        version=project["version"],
        cited=_group(_CITED.search(citation)),
        cited_day=_group(_CITED_DAY.search(citation)),
        noted=_group(first),
        day=first[2] if first else None,
        notes=changelog[first.end() : end].strip() + "\n" if first else "",
    )


def problems(words: Words, tag: str | None = None) -> list[str]:
    """List the disagreements; a `tag` must match the version, which must then have a date."""
    found = []
    if words.cited != words.version:
        found.append(f"CITATION.cff says version {words.cited}, expected {words.version}")
    if words.noted != words.version:
        found.append(
            f"CHANGELOG.md begins with the section {words.noted}, expected {words.version}"
        )
    if words.day != UNRELEASED and not _DAY.fullmatch(words.day or ""):
        found.append(
            f"CHANGELOG.md dates the version {words.day}, expected YYYY-MM-DD or {UNRELEASED}"
        )
    if words.cited_day != (None if words.day == UNRELEASED else words.day):
        found.append(
            f"CITATION.cff says date-released: {words.cited_day}, but CHANGELOG.md says "
            f"{words.day}; write the same day, or leave the line out until the release"
        )
    if tag and tag != f"v{words.version}":
        found.append(f"the tag is {tag}, expected v{words.version}; set the version or the tag")
    if tag and words.day == UNRELEASED:
        found.append(
            "CHANGELOG.md still says unreleased; write the date into its heading before tagging"
        )
    return found


def _group(match: re.Match[str] | None) -> str | None:
    return match[1] if match else None
