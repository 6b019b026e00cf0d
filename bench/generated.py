"""Check that the gate accepts generated valid files: `python -m bench.generated [COUNT]`.

The default number of files is 10,000. Each file is judged like a pull request: under its canonical
name, sent by its contributor. The figures are written to a file that the site shows.
"""

import json
import sys
from pathlib import Path
from typing import Any

from estimates.identity import canonical_name
from pipeline.intake.authorship import Sending, sending_findings
from schemas import contract
from schemas.codec import FILE_NAME
from schemas.finding import ROOT, Finding, in_file, shown
from schemas.sending import LETTERS
from tests.generated import submission_bytes

OUTPUT = Path(__file__).parent / "figures" / "generated.json"
DEFAULT_COUNT = 10_000


def main() -> int:
    """Write and print the figures; return 1 if a valid submission was rejected."""
    figures = count(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_COUNT)
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command
    return 1 if figures["rejected"] else 0


def count(number: int) -> dict[str, Any]:
    """Count the rejected submissions among those generated from the seeds 0, 1, 2 …."""
    rejected: dict[int, str] = {}
    for seed in range(number):
        data = submission_bytes(seed)
        found = in_file(refusals(data), f"seed {seed}")
        if found:
            rejected[seed] = found[0].line()
    return {
        "submissions": number,
        "rejected": len(rejected),
        "first_rejections": list(rejected.values())[:20],
    }


def refusals(data: bytes) -> tuple[Finding, ...]:
    """The gate's findings on a submission sent by its contributor; any letters are permitted."""
    read = contract.read(data)
    if isinstance(read, tuple):
        return read
    name = canonical_name(read, data)
    findings = tuple(
        sending_findings(name, read, Sending(author=read.contributor, labels=frozenset({LETTERS})))
    )
    if findings or FILE_NAME.fullmatch(name):
        return findings
    return (Finding(path=ROOT, message=f"the name is {shown(name)}", rule="path-name"),)


if __name__ == "__main__":
    sys.exit(main())
