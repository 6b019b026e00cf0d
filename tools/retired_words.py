"""Find words that `retired_words.toml` lists as retired: `python -m tools.retired_words`.

The program prints file, line, the retired words and their replacement. The exit code is 1 if there
are any.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_suffix(".toml")
KINDS = {".css", ".jinja", ".js", ".md", ".py", ".sql", ".toml", ".yml"}
# Not checked: other people's texts, prompts of suites, and the list itself with its test.
FOREIGN = re.compile(
    r"results/|tests/(data|captures)/|harness/campaign/suites/|tools/retired|"
    "tests/test_vocabulary|CONTRIBUTING"
)


@cache
def entries() -> tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]:
    """Read the table: words of which a match contains one, the pattern, and the replacement."""
    flags = re.IGNORECASE | re.MULTILINE
    return tuple(
        (tuple(each["seek"]), re.compile(each["pattern"], flags), each["instead"])
        for each in tomllib.loads(TABLE.read_text("utf-8"))["retired"]
    )


def retired(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the retired words in a text: line, words, and what to write instead."""
    lower = text.lower()
    for seek, pattern, instead in entries():
        if any(each in lower for each in seek):
            for found in pattern.finditer(text):
                yield text.count("\n", 0, found.start()) + 1, found[0].strip(), instead


def main() -> int:
    """Print every retired word in the texts of the project."""
    command = ("git", "ls-files")
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    paths = [Path(each) for each in listed.splitlines() if not FOREIGN.match(each)]
    lines = [
        f"{path}:{line}: {words!r}: write {instead}\n"
        for path in paths
        if path.suffix in KINDS
        for line, words, instead in retired(path.read_text("utf-8"))
    ]
    sys.stdout.writelines(lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
