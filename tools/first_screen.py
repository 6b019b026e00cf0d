"""Write what the README shows first, of the results: `python -m tools.first_screen`.

The map for light and for dark pages, the badges, and one finding with its figures. `make picture`
calls it, and a test compares what it writes with what is there.
"""

from pathlib import Path

from pipeline.data.database import open_database
from pipeline.site.pages import strips
from pipeline.site.rows import read
from tools import badge, finding, picture

ROOT = Path(__file__).resolve().parents[1]
IMAGES = "site_src/assets/images"
README = "README.md"


def files(results: Path, readme: str) -> dict[str, str]:
    """The text of each file, by its path in the repository. Raises what `open_database` raises."""
    with open_database(results) as connection:
        groups, _ = strips.by_method(strips.default_rows(read(connection, "strip")))
        drawn = {name: badge.svg(each) for name, each in badge.of_site(connection)}
    maps = {f"map-{scheme}": picture.of_group(groups[0], scheme) for scheme in picture.SCHEMES}
    images = maps | {f"badge-{name}": text for name, text in drawn.items()}
    return {
        **{f"{IMAGES}/{name}.svg": text for name, text in images.items()},
        README: finding.inserted(readme, finding.sentence(groups[0])),
    }


if __name__ == "__main__":
    for name, text in files(ROOT / "results", (ROOT / README).read_text("utf-8")).items():
        (ROOT / name).write_text(text, "utf-8")
        print(name)  # noqa: T201 - the result of this command
