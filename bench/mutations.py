"""Count how many changes to valid files the gate detects: `python -m bench.mutations`.

Every field of every valid example is changed in every way; the figures are written to a file that
the site shows. Long campaigns are cut to their first trials, because the other trials have the same
fields.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.leaf_changes import SAYS_LESS, is_optional, mutations
from schemas import contract

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "bench" / "figures" / "mutations.json"
FOLDERS = (ROOT / "tests" / "data" / "valid", ROOT / "results" / "community")
KEPT_TRIALS = 12


def main() -> int:
    """Write and print the figures; return 1 if a change was accepted without a reason."""
    figures = count()
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command
    unexplained = [entry for entry in figures["accepted"] if entry["reason"] is None]
    return 1 if unexplained else 0


def count() -> dict[str, Any]:
    """Count the mutations of all examples: how many were made, rejected and accepted."""
    made: Counter[str] = Counter()
    accepted: Counter[tuple[str, str]] = Counter()
    for document in examples():
        for mutation in mutations(document):
            made[mutation.kind] += 1
            if contract.findings(mutation.data) == ():
                accepted[mutation.kind, mutation.place] += 1
    return {
        "examples": len(list(examples())),
        "mutations": made.total(),
        "rejected": made.total() - accepted.total(),
        "by_kind": {
            kind: {"made": n, "accepted": sum(m for (k, _), m in accepted.items() if k == kind)}
            for kind, n in sorted(made.items())
        },
        "accepted": [
            {"kind": kind, "place": place, "times": n, "reason": reason(kind, place)}
            for (kind, place), n in sorted(accepted.items())
        ],
    }


def reason(kind: str, place: str) -> str | None:
    """The reason to accept a mutation, or `None`."""
    return SAYS_LESS if kind == "removal" and is_optional(place) else None


def examples() -> Iterator[dict[str, Any]]:
    """Return the valid examples; long examples are shortened but remain valid."""
    for path in sorted(entry for folder in FOLDERS for entry in folder.glob("*.json")):
        document: dict[str, Any] = json.loads(path.read_bytes())
        document["trials"] = sorted(document["trials"], key=lambda t: t["order"])[:KEPT_TRIALS]
        answered = {trial["prompt"] for trial in document["trials"]}
        suite = document["suite"]
        suite["prompts"] = [prompt for prompt in suite["prompts"] if prompt["id"] in answered]
        assert contract.findings(json.dumps(document).encode()) == (), path
        yield document


if __name__ == "__main__":
    sys.exit(main())
