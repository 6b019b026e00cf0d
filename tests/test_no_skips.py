"""Does a skipped test fail the run exactly where skips are forbidden?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPING = (
    "import pytest\n\ndef test_it():\n    pytest.skip('no browser')\n\ndef test_more(): pass\n"
)
PASSING = "def test_it(): pass\n"


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [(SKIPPING, "", 0), (SKIPPING, "0", 0), (SKIPPING, "1", 1), (PASSING, "1", 0)],
)
def test_the_exit_code(tmp_path: Path, text: str, value: str, code: int) -> None:
    done = run(tmp_path, text, value)

    assert done.returncode == code, done.stdout


def test_what_was_not_run_is_said_loudly(tmp_path: Path) -> None:
    done = run(tmp_path, SKIPPING, "1")

    assert "1 TESTS WERE NOT RUN" in done.stdout
    assert "DRAFTMAP_NO_SKIPS is set" in done.stdout


def run(folder: Path, text: str, value: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_example.py").write_text(text, encoding="utf-8")
    options = [
        "-p",
        "tests.no_skips",
        "-p",
        "no:randomly",
        "-c",
        os.devnull,
        "--rootdir",
        str(folder),
    ]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        cwd=ROOT,
        env={**os.environ, "DRAFTMAP_NO_SKIPS": value, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
