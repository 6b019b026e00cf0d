"""Decide whose figures count, and how much, wherever something is derived from several people.

A voice is one person: an account, or the person whom a published page names. A published figure
counts only after a maintainer has compared it with its page, so its person is known, like an
account that maintainers marked as known or the author of a listed import. Anybody can open an
account, so unknown voices count only if nobody known has measured, and at least three agree.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

AGREEING = 3  # unknown voices that count together, if nobody known has measured
ALIKE = 1.25  # voices agree if their figures are within this factor of their median
MOST_OF_A_SOURCE = 3.0  # voices that the people of one source have together


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """One person's positive figure."""

    person: str
    value: float
    known: bool


def counting(voices: Iterable[Voice]) -> tuple[Voice, ...]:
    """The voices that count: all known ones, else at least three that agree, else none."""
    listed = tuple(voices)
    if known := tuple(each for each in listed if each.known):
        return known
    if not listed:
        return ()
    middle = median(math.log(each.value) for each in listed)
    alike = tuple(x for x in listed if abs(math.log(x.value) - middle) <= math.log(ALIKE))
    return alike if len({each.person for each in alike}) >= AGREEING else ()


def weights(sources: Mapping[str, str]) -> Mapping[str, float]:
    """Each person's weight, at most 1, from the person's source: one source has at most three."""
    people = Counter(sources.values())
    return {
        person: min(1.0, MOST_OF_A_SOURCE / people[source]) for person, source in sources.items()
    }
