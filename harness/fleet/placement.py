"""Decides which device measures which cell. Pure: no network and no clock.

A cell that was interrupted has a journal on its device, so it waits for that device as long as the
device is there, and some time longer; only then does another one measure it from the beginning.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

GRACE_S = 60.0


class Place(NamedTuple):
    """A device of a rig; the part of its identity that outlives its worker."""

    rig: str
    device: str

    def __str__(self) -> str:
        """As people write it: `desk:0`."""
        return f"{self.rig}:{self.device}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination of the matrix: one `run`, and what its device must have."""

    id: str
    target: str
    methods: tuple[str, ...]
    arguments: tuple[str, ...]
    backend: str | None = None
    rig: str | None = None
    memory_gib: float = 0.0

    def resources(self) -> dict[str, float]:
        """What the cell takes from a worker: its only device, and what that must offer."""
        needs = {"device": 1.0}
        if self.rig is not None:
            needs[f"rig-{self.rig}"] = 1.0
        if self.backend is not None:
            needs[f"backend-{self.backend}"] = 1.0
        if self.memory_gib:
            needs["memory-gib"] = self.memory_gib
        return needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device that a worker owns; `backends` is `None` where nobody said what it offers."""

    rig: str
    name: str
    about: str = ""
    backends: tuple[str, ...] | None = None
    memory_gib: float | None = None
    address: str = ""

    @property
    def place(self) -> Place:
        return Place(self.rig, self.name)

    def resources(self) -> dict[str, float]:
        """What its worker offers to the scheduler."""
        offers = {"device": 1.0, f"rig-{self.rig}": 1.0}
        offers |= {f"backend-{name}": 1.0 for name in self.backends or ()}
        if self.memory_gib is not None:
            offers["memory-gib"] = self.memory_gib
        return offers

    def can(self, cell: Cell) -> bool:
        """Whether it has what the cell needs."""
        return (
            cell.rig in (None, self.rig)
            and (cell.backend is None or self.backends is None or cell.backend in self.backends)
            and (not cell.memory_gib or (self.memory_gib or 0.0) >= cell.memory_gib)
        )


def assign(
    pending: Sequence[Cell],
    free: Sequence[Device],
    *,
    journals: Mapping[str, Place],
    away: Collection[Place] = (),
) -> list[tuple[Cell, Device]]:
    """A cell for every free device that has one to measure, in the order of the matrix.

    `journals` says where an interrupted cell was; `away` are the places that were given up.
    """
    left = list(pending)
    found: list[tuple[Cell, Device]] = []
    for device in free:
        fitting = [cell for cell in left if device.can(cell)]
        own = [cell for cell in fitting if journals.get(cell.id) == device.place]
        new = [c for c in fitting if c.id not in journals or journals[c.id] in away]
        if own or new:
            cell = (own or new)[0]
            left.remove(cell)
            found.append((cell, device))
    return found


class Planned(NamedTuple):
    """A cell on a device, from one second to another; `None` where nobody can say."""

    cell: Cell
    device: Device | None
    begins_s: float | None
    ends_s: float | None


def planned(
    cells: Iterable[Cell], devices: Sequence[Device], seconds: Mapping[str, float | None]
) -> list[Planned]:
    """Who measures what and when: each cell in turn on the device that is free first."""
    free_s: dict[Place, float | None] = {device.place: 0.0 for device in devices}
    found: list[Planned] = []
    for cell in cells:
        able = [device for device in devices if device.can(cell)]
        if not able:
            found.append(Planned(cell, None, None, None))
            continue
        device = min(able, key=lambda each: _or_last(free_s[each.place]))
        begins_s, takes_s = free_s[device.place], seconds.get(cell.id)
        ends_s = None if begins_s is None or takes_s is None else begins_s + takes_s
        free_s[device.place] = ends_s
        found.append(Planned(cell, device, begins_s, ends_s))
    return found


def _or_last(seconds: float | None) -> float:
    return float("inf") if seconds is None else seconds
