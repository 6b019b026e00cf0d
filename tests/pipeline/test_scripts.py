"""Scripts of the site lose their comments and nothing else."""

import re
from pathlib import Path

import pytest

from pipeline.site.build import PROSE, without_comments

SCRIPTS = sorted(PROSE.rglob("*.js"))


def test_only_lines_that_are_comments_are_dropped() -> None:
    script = "/**\n * Doc.\n *\n */\nconst a = 2; // kept\n  // gone\nf(a);\n/** One line. */\n"

    assert without_comments(script) == "const a = 2; // kept\nf(a);\n"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_dropped_line_is_within_a_text(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    dropped = [at for at, line in enumerate(lines) if not without_comments(line)]

    assert dropped
    # No text goes over several lines: each line opens and closes its back quotes. A pattern of
    # characters may have one.
    kept = re.sub(r"/\[.*?\]/", "", without_comments("".join(lines)))
    assert [line for line in kept.splitlines() if line.count("`") % 2] == []
    # A block of lines with asterisks is a whole comment.
    starts = [at for at in dropped if lines[at].lstrip().startswith("/**")]
    ends = [at for at in dropped if lines[at].rstrip().endswith("*/")]
    assert len(starts) == len(ends)
    assert all(
        set(range(start, end + 1)) <= {*dropped} for start, end in zip(starts, ends, strict=True)
    )
