"""Which server answers for an arm now? Those that run stay; of those we start, one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.runners.openai.address import Address
from harness.runners.openai.connection import Connection, connect
from harness.runners.openai.doors import door_of, speculation

if TYPE_CHECKING:
    from harness.model import ArmPlan, Campaign
    from harness.runners.base import Failure
    from harness.runners.openai.connection import Limits
    from harness.runners.openai.doors import Door, Doors


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What it takes to reach the servers of a campaign."""

    doors: Doors
    model: str | None
    limits: Limits
    key: str | None


class Servers:
    """The servers of a campaign. One that the harness starts is fresh for each arm and block."""

    def __init__(self, campaign: Campaign, access: Access) -> None:
        self._access = access
        self._methods = speculation(campaign)
        self._running: dict[Address, Connection] = {}
        self._started: Connection | None = None
        self._turn: tuple[str, int] | None = None

    def of(self, arm: ArmPlan, block: int) -> Connection | Failure:
        """The server of an arm in a block."""
        door = door_of(arm, self._access.doors, self._methods)
        if isinstance(door, Address):
            return self._at(door)
        if self._started is not None and self._turn == (arm.id, block):
            return self._started
        self.end()
        found = self._connect(door)
        if isinstance(found, Connection):
            self._started, self._turn = found, (arm.id, block)
        return found

    def has_turn(self, arm: ArmPlan, block: int) -> bool:
        """Whether the server of an arm and block is there, and need not be started."""
        door = door_of(arm, self._access.doors, self._methods)
        return isinstance(door, Address) or self._turn == (arm.id, block)

    def distrust(self) -> None:
        """Whatever comes next gets a fresh server, where they are started."""
        self._turn = None

    def end(self) -> None:
        """End the server that was started, if one runs."""
        server = self._started.process if self._started else None
        self._started, self._turn = None, None
        if server is not None:
            server.end()

    def _at(self, address: Address) -> Connection | Failure:
        found = self._running.get(address) or self._connect(address)
        if isinstance(found, Connection):
            self._running[address] = found
        return found

    def _connect(self, door: Door) -> Connection | Failure:
        access = self._access
        return connect(door, model=access.model, limits=access.limits, key=access.key)
