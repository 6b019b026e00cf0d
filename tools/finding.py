"""Write one finding with its figures into the README: that of the first strips of the home page."""

import re

from pipeline.site.pages.strips import Group

_PLACE = re.compile(r"(<!-- finding: make picture -->\n).*?(\n<!-- end of it -->)", re.DOTALL)


class NoPlaceError(ValueError):
    """The README has no place for the finding."""


def sentence(group: Group) -> str:
    """What the rows of a group show, in the site's own words."""
    rows = [each.row for each in (*group.strips, *group.folded)]
    own = (
        f"**{group.label}: {group.finding} ({group.spread}).** A pair is one device with one model."
    )
    if {row.tier for row in rows} == {"published"}:
        own += " Published by others, without intervals."
    return own


def inserted(readme: str, finding: str) -> str:
    """A README with this finding in its place. Raises `NoPlaceError` where it has none."""
    if not _PLACE.search(readme):
        raise NoPlaceError(
            "the README lacks `<!-- finding: make picture -->` and `<!-- end of it -->`"
        )
    return _PLACE.sub(lambda match: f"{match[1]}{finding}{match[2]}", readme, count=1)
