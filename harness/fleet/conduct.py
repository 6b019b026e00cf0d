"""Conducts a fleet: gives every cell to a device that can measure it, until all are done.

The scheduler of dask.distributed carries orders and answers, knows who is alive and keeps a device
for one cell at a time. Which cell goes where is decided here, and what came back is written here.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from distributed import Client, Future, Scheduler

from harness import __version__
from harness.errors import BadInputError
from harness.fleet import network, worker
from harness.fleet.job import Order, Outcome
from harness.fleet.ledger import Entry, Ledger
from harness.fleet.matrix import Matrix
from harness.fleet.placement import GRACE_S, Cell, Device, Place, assign
from harness.fleet.worker import LocalWorkers
from schemas.vocabulary.say import count

_TICK_S = 0.2
_IDLE_S = 30.0
_INTERRUPTED = 130
_USELESS_TO_REPEAT = (1, 2)


@dataclass(slots=True)
class State:
    """How a cell stands, for the table."""

    cell: Cell
    word: str = "waits"
    place: Place | None = None
    line: str = ""
    seconds: float | None = None
    files: tuple[str, ...] = ()


@dataclass(slots=True)
class _Running:
    """A cell on a device."""

    cell: Cell
    device: Device
    answer: Future
    attempt: int


@dataclass(slots=True, kw_only=True)
class Fleet:
    """A matrix that is measured, and where its results go."""

    matrix: Matrix
    ledger: Ledger
    observe: Callable[["Fleet"], None] = lambda _fleet: None
    say: Callable[[str], None] = lambda _text: None
    grace_s: float = GRACE_S
    states: dict[str, State] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    _running: dict[str, _Running] = field(default_factory=dict)
    _attempts: Counter[str] = field(default_factory=Counter)
    _left: dict[Place, float] = field(default_factory=dict)
    _strangers: set[str] = field(default_factory=set)
    _idle_since: float | None = None

    def __post_init__(self) -> None:
        """Every cell, with what an earlier start has done already."""
        done = self.ledger.done()
        for cell in self.matrix.cells:
            entry = done.get(cell.id)
            self.states[cell.id] = State(cell) if entry is None else _done(cell, entry)
        for place in self.ledger.journals().values():
            self._left[place] = time.monotonic()

    @property
    def pending(self) -> list[Cell]:
        return [state.cell for state in self.states.values() if state.word == "waits"]

    @property
    def failed(self) -> list[State]:
        return [state for state in self.states.values() if state.word == "failed"]

    def left_s(self) -> float | None:
        """How long the rest takes if every cell takes as long as those that are done."""
        took = [each.seconds for each in self.states.values() if each.seconds is not None]
        open_cells = sum(each.word in ("waits", "runs") for each in self.states.values())
        if not took or not self.devices:
            return None
        return open_cells * (sum(took) / len(took)) / len(self.devices)

    async def measure(self, address: network.Address, keys: Path, locals_: LocalWorkers) -> None:
        """Measure all cells. Raises `MachineError` where the address cannot be used."""
        network.configure()
        security = network.security(address, keys)
        network.require_usable(address)
        scheduler = await Scheduler(
            host=address.host,
            port=address.port,
            protocol=address.scheme,
            security=security,
            dashboard=False,
            dashboard_address=f"{network.LOOPBACK}:0",
        )
        try:
            here = address.here(scheduler.port)
            locals_.start(here)
            async with Client(str(here), asynchronous=True, security=security) as client:
                client.subscribe_topic(worker.TOPIC, self._told)
                while self.pending or self._running:
                    await self._tick(scheduler, client, locals_)
                    self.observe(self)
                    await asyncio.sleep(_TICK_S)
        finally:
            locals_.stop()
            await scheduler.close()

    async def _tick(self, scheduler: Any, client: Any, locals_: LocalWorkers) -> None:  # noqa: ANN401 - of the library
        locals_.restart()
        await self._meet(scheduler, client)
        for address in [*self._running]:
            running = self._running[address]
            if running.answer.done() or address not in scheduler.workers:
                del self._running[address]
                await self._end(running)
        free = [each for address, each in self.devices.items() if address not in self._running]
        now = time.monotonic()
        away = {place for place, since in self._left.items() if now - since > self.grace_s}
        journals = self.ledger.journals()
        for cell, device in assign(self.pending, free, journals=journals, away=away):
            self._start(client, cell, device, resume=journals.get(cell.id) == device.place)
        self._say_if_idle(now)

    def _say_if_idle(self, now: float) -> None:
        """Say from time to time what is waited for, while nothing is measured."""
        if self._running or not self.pending:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since > _IDLE_S:
            self._idle_since = now
            needs = ", ".join(name for name in self.pending[0].resources() if name != "device")
            what = f"one that offers {needs}" if needs and self.devices else "a worker"
            self.say(f"{count(len(self.pending), 'cell')} wait for {what}.")

    async def _meet(self, scheduler: Any, client: Any) -> None:  # noqa: ANN401 - of the library
        """Learn who came and who went."""
        here = set(scheduler.workers)
        for address in [*self.devices]:
            if address not in here:
                gone = self.devices.pop(address).place
                self._left[gone] = time.monotonic()
                self.say(f"{gone} is gone.")
        for address in here - set(self.devices) - self._strangers:
            try:
                answers = await client.run(worker.describe, workers=[address])
                version, device = answers[address]
            except (OSError, KeyError, ValueError, RuntimeError):
                continue  # it went again
            if version != __version__:
                self._strangers.add(address)
                self.say(f"{device.place} has version {version}, not {__version__}: not used.")
                continue
            self.devices[address] = device
            self._left.pop(device.place, None)
            self.say(f"{device.place} is here: {device.about}.")

    def _start(self, client: Any, cell: Cell, device: Device, *, resume: bool) -> None:  # noqa: ANN401 - of the library
        address = next(where for where, each in self.devices.items() if each is device)
        self._attempts[cell.id] += 1
        attempt = self._attempts[cell.id]
        self.ledger.add(Entry(cell=cell.id, event="started", rig=device.rig, device=device.name))
        order = Order(cell=cell.id, arguments=cell.arguments, resume=resume)
        answer = client.submit(
            worker.measure,
            order,
            key=f"{cell.id}-{attempt}",
            workers=[address],
            resources=cell.resources(),
            retries=0,
            pure=False,
        )
        self._running[address] = _Running(cell, device, answer, attempt)
        state = self.states[cell.id]
        state.word, state.place, state.line = "runs", device.place, "resumed" if resume else ""

    async def _end(self, running: _Running) -> None:
        """Write what came back, or decide whether the cell is tried again."""
        cell, place, answer = running.cell, running.device.place, running.answer
        if answer.status != "finished":  # its worker is gone, or failed by itself
            why = "its worker was lost"
            if answer.status == "error":
                why = f"its worker failed: {await answer.exception()}"
            await answer.cancel(force=True)
            self._again(running, why)
            return
        outcome: Outcome = await answer
        answer.release()
        last = next((line for line in reversed(outcome.lines) if line), "no reason was given")
        if outcome.code == _INTERRUPTED:
            self._again(running, "interrupted")
        elif outcome.files:
            try:
                entry = self.ledger.keep(cell, place, outcome.files, outcome.seconds)
            except BadInputError as error:
                self._fail(running, str(error))
                return
            self.states[cell.id] = _done(cell, entry)
            self.say(f"{cell.id} is done on {place}.")
        elif outcome.code in _USELESS_TO_REPEAT:
            self._fail(running, last)
        else:
            self._again(running, last)

    def _again(self, running: _Running, why: str) -> None:
        if running.attempt >= self.matrix.attempts:
            self._fail(running, why)
            return
        self._note(running, "lost", why)
        state = self.states[running.cell.id]
        state.word, state.line = "waits", why
        self.say(f"{running.cell.id} on {running.device.place}: {why}; it is tried again.")

    def _fail(self, running: _Running, why: str) -> None:
        self._note(running, "failed", why)
        state = self.states[running.cell.id]
        state.word, state.line = "failed", why.removeprefix("Error: ")
        self.say(f"{running.cell.id} failed on {running.device.place}: {state.line}")

    def _note(self, running: _Running, event: Literal["lost", "failed"], why: str) -> None:
        rig, device = running.device.place
        entry = Entry(cell=running.cell.id, event=event, rig=rig, device=device, why=why)
        self.ledger.add(entry)

    def _told(self, event: tuple[float, dict[str, str]]) -> None:
        """A line of a child about its progress."""
        news = event[1]
        state = self.states.get(news["cell"])
        if state is not None and state.word == "runs" and news["line"]:
            state.line = news["line"]


def _done(cell: Cell, entry: Entry) -> State:
    return State(cell, "done", entry.place, seconds=entry.seconds, files=entry.files)
