"""Addresses of devices and models that have another name now still lead to what they are about."""

import shutil
import tomllib
from importlib import resources
from pathlib import Path

_FILES = ("badges", "data")
_PAGE = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Moved</title>\n'
    '<meta http-equiv="refresh" content="0; url={to}">\n<meta name="robots" content="noindex">\n'
    '<p>This page has moved: <a href="{to}">{to}</a></p>\n</html>\n'
)


def write_moved(site: Path) -> None:
    """Write a page at every old address of `moved.toml` whose new one is there, and its files."""
    text = (resources.files("pipeline.site") / "moved.toml").read_text("utf-8")
    for old, new in tomllib.loads(text).items():
        if not (site / new / "index.html").is_file() or (site / old).exists():
            continue
        (site / old).mkdir(parents=True)
        to = "../" * (old.count("/") + 1) + f"{new}/"
        (site / old / "index.html").write_text(_PAGE.format(to=to), "utf-8")
        for kind in _FILES:
            if (site / kind / f"{new}.json").is_file():
                shutil.copyfile(site / kind / f"{new}.json", site / kind / f"{old}.json")
