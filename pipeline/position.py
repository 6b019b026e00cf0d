"""Where does a new result stand among its nearest neighbours in the collection?

Neighbours of an arm are the arms of the same method and tier in other results: on the same device
and backend if there are any, else with a target of the same size class. One result counts once, by
its fastest arm.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from estimates.understanding import overall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from estimates.understanding import ArmSaid, Understanding

Near = Literal["device", "size-class"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """An arm among its neighbours: how many there are, how many are slower, and their median."""

    arm: str
    near: Near
    results: int
    slower: int
    median_speedup: float


def positions(own: Understanding, collection: Iterable[Understanding]) -> tuple[Position, ...]:
    """The position of each speculative arm that has a figure and a neighbour."""
    others = [other for other in collection if other.tier == own.tier]
    found = (_position(arm, own, others) for arm in own.arms if arm.role == "speculation")
    return tuple(position for position in found if position is not None)


def _position(arm: ArmSaid, own: Understanding, others: Iterable[Understanding]) -> Position | None:
    said = overall(arm)
    if said is None or said.speedup is None:
        return None
    nearness: dict[Near, Callable[[Understanding], bool]] = {
        "device": lambda other: (other.device, other.backend) == (own.device, own.backend),
        "size-class": lambda other: other.size_class == own.size_class,
    }
    for near, is_near in nearness.items():
        speedups = [
            speedup
            for other in others
            if is_near(other) and (speedup := _fastest(other, arm.method)) is not None
        ]
        if speedups:
            return Position(
                arm=arm.arm,
                near=near,
                results=len(speedups),
                slower=sum(1 for speedup in speedups if speedup < said.speedup),
                median_speedup=median(speedups),
            )
    return None


def _fastest(other: Understanding, method: str) -> float | None:
    figures = [
        said.speedup
        for arm in other.arms
        if arm.role == "speculation"
        and arm.method == method
        and (said := overall(arm)) is not None
        and said.speedup is not None
    ]
    return max(figures, default=None)
