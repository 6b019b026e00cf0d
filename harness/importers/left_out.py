"""Collect what results cannot hold, so that a person learns what an import lost."""

from collections import Counter
from collections.abc import Iterable


class LeftOut:
    """What results cannot hold, counted by kind with the first place."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._lines = list(lines)
        self._first: dict[str, str] = {}
        self._times: Counter[str] = Counter()

    def add(self, what: str, place: str) -> None:
        """One more of a kind."""
        self._first.setdefault(what, place)
        self._times[what] += 1

    def lines(self) -> tuple[str, ...]:
        """One line for each kind."""
        counted = (
            f"{what} ({times} times, first at {self._first[what]})"
            if times > 1
            else f"{what} ({self._first[what]})"
            for what, times in self._times.items()
        )
        return (*self._lines, *counted)
