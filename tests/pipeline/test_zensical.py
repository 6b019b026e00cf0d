"""The pages are plain enough for the theme's successor: Zensical builds them all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.sites import built_site

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_successor_of_the_theme_builds_every_page(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = built_site(tmp_path_factory.getbasetemp())
    # It builds below its configuration only, so the project is laid out anew.
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "pipeline/site/theme", tmp_path / "pipeline/site/theme")
    shutil.copytree(site.with_name(f"{site.name}-source"), tmp_path / "docs")

    done = subprocess.run(
        (Path(sys.executable).with_name("zensical"), "build", "-f", "mkdocs.yml"),
        cwd=tmp_path,
        env={**os.environ, "DRAFTMAP_DOCS_DIR": "docs", "DRAFTMAP_SITE_DIR": "built"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "No issues found" in done.stdout + done.stderr
    pages = {path.relative_to(site) for path in site.rglob("*.html")}
    assert pages == {
        path.relative_to(tmp_path / "built") for path in tmp_path.rglob("built/**/*.html")
    }
