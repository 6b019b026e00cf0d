"""The results for which expectations were written: no result that is merged later breaks a test."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMUNITY = ROOT / "results" / "community"
_ADDRESSES = set((ROOT / "tests/data/addresses-of-results.txt").read_text("utf-8").split())
FIRST = tuple(
    path for path in sorted(COMMUNITY.glob("*.json")) if f"submissions/{path.stem}/" in _ADDRESSES
)
