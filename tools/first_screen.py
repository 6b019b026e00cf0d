"""Write the README's first screen from the results: `python -m tools.first_screen`.

The first screen has the picture of speculation and the map, each for light and for dark pages, the
badges, and one finding with its figures. `make picture` calls this program, and a test compares its
output with the stored files.
"""

import re
from pathlib import Path

from pipeline.data.database import open_database
from pipeline.site.pages import strips
from tools import badge, picture

ROOT = Path(__file__).resolve().parents[1]
IMAGES = "site_src/assets/images"
README = "README.md"
_PLACE = re.compile(r"(<!-- finding: make picture -->\n).*?(\n<!-- end of it -->)", re.DOTALL)


def files(results: Path, readme: str) -> dict[str, str]:
    """The text of the README and of each image, keyed by path. Raises like `open_database`."""
    with open_database(results) as connection:
        groups, _ = strips.by_method(strips.rows_by_method(connection))
        drawn = dict(badge.of_site(connection))
    maps = {f"map-{scheme}": picture.of_group(groups[0], scheme) for scheme in picture.SCHEMES}
    maps |= {f"speculation-{each}": picture.of_speculation(each) for each in picture.SCHEMES}
    images = maps | {f"badge-{name}": text for name, text in drawn.items()}
    return {
        **{f"{IMAGES}/{name}.svg": text for name, text in images.items()},
        README: inserted(readme, sentence(groups[0])),
    }


def sentence(group: strips.Group) -> str:
    """The finding about a group of rows, in the words of the site."""
    rows = [each.row for each in (*group.strips, *group.folded)]
    own = (
        f"**{group.label}: {group.finding} ({group.spread}).** A pair is one device with one model."
    )
    if {row.tier for row in rows} == {"published"}:
        own += " Published by others, without intervals."
    return own


def inserted(readme: str, finding: str) -> str:
    """Return the README with this finding. Raises `ValueError` if there is no place for it."""
    if not _PLACE.search(readme):
        raise ValueError(
            "the README lacks `<!-- finding: make picture -->` and `<!-- end of it -->`"
        )
    return _PLACE.sub(lambda match: f"{match[1]}{finding}{match[2]}", readme, count=1)


if __name__ == "__main__":
    for name, text in files(ROOT / "results", (ROOT / README).read_text("utf-8")).items():
        (ROOT / name).write_text(text, "utf-8")
        print(name)  # noqa: T201 - the result of this command
