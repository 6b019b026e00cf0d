"""How is a server reached, so that it can be asked? Found running, or started and waited for."""

import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError
from harness.runners.base import Failure
from harness.runners.http import process
from harness.runners.http.client import ServerRefusedError, ServerSilentError
from harness.runners.http.counters import Counters, read_counters
from harness.runners.http.process import ServerProcess
from harness.runners.openai import command
from harness.runners.openai.address import Address, without_key
from harness.runners.openai.client import Client
from harness.runners.openai.command import Command, Door, Doors, door_of, speculation
from harness.runners.openai.identity import Identity, Served, choose, identify
from harness.runners.openai.report import failure_of

_ASK_LIMIT_S = 5.0
# What servers answer that have no page of that name.
_NO_PAGE = (404, 405, 501)
_NOTHING = Counters(rounds=0, drafted=0, accepted=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long to wait for a server to start, and for one answer."""

    startup_s: float
    answer_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A server that answers. `process` and `load_s` are there if the harness started it.

    `drafts_nothing` says that its metrics page has no counters of speculation though its engine
    always shows them: it was started without.
    """

    client: Client
    identity: Identity
    served: Served
    process: ServerProcess | None = None
    load_s: float | None = None
    argv: tuple[str, ...] | None = None
    has_counters: bool = False
    drafts_nothing: bool = False

    @property
    def model(self) -> str:
        """What the server calls the target."""
        return self.served.id

    def counters(self) -> Counters | None:
        """What its metrics page has counted so far; `None` where there is no such page."""
        if self.drafts_nothing:
            return _NOTHING
        return read_counters(_page(self.client)) if self.has_counters else None


def connect(
    door: Door, *, model: str | None, limits: Limits, key: str | None
) -> Connection | Failure:
    """Reach a server and ask it who it is. It is ended again if it does not say."""
    if isinstance(door, Address):
        client = Client(address=door, limit_s=limits.answer_s, key=key)
        return _known(client, model)
    began = time.perf_counter()
    started = _start(door, limits, key)
    if isinstance(started, Failure):
        return started
    server, client = started
    load_s = time.perf_counter() - began
    with ExitStack() as undo:
        undo.callback(server.end)
        found = _known(client, model)
        if isinstance(found, Failure):
            return found
        death = server.death()
        if death is not None:  # then it was another program that answered at the port
            return death
        undo.pop_all()
    return replace(found, process=server, load_s=load_s, argv=command.shown(door))


def _start(
    words: Command, limits: Limits, key: str | None
) -> tuple[ServerProcess, Client] | Failure:
    port = process.free_port()
    program, *arguments = command.with_port(words, port)
    found = shutil.which(program)
    if found is None:
        return Failure(reason="load-failed", detail=f"there is no program {program}")
    try:
        server = process.start(Path(found), arguments, port=port)
    except OSError as error:
        detail = f"{Path(program).name} cannot be started: {error.strerror}"
        return Failure(reason="load-failed", detail=detail)
    address = Address(host=process.HOST, port=port)
    asked = Client(address=address, limit_s=_ASK_LIMIT_S, key=key)
    failure = server.wait_until_ready(limits.startup_s, ask=lambda: _ask(asked))
    if failure is not None:
        server.end()
        return replace(failure, detail=without_key(failure.detail, key))
    return server, replace(asked, limit_s=limits.answer_s)


def _ask(client: Client) -> None:
    """Raise until the server is ready. Not every one has a page for its health."""
    try:
        client.text("/health")
    except ServerRefusedError as error:
        if error.status not in _NO_PAGE:
            raise
        client.text(f"{client.address.api}/models")


def _known(client: Client, model: str | None) -> Connection | Failure:
    try:
        identity = identify(client)
        served = choose(identity.models, model, where=str(client.address))
    except (ServerSilentError, ServerRefusedError) as error:
        return failure_of(error, client)
    except BadInputError as error:
        return Failure(reason="load-failed", detail=str(error))
    page = ""
    with suppress(ServerSilentError, ServerRefusedError):
        page = _page(client)
    has_counters = read_counters(page) is not None
    return Connection(
        client=client,
        identity=identity,
        served=served,
        has_counters=has_counters,
        # vLLM shows its counters from its start on, if it was started with speculation.
        drafts_nothing="\nvllm:" in page and not has_counters,
    )


def _page(client: Client) -> str:
    return client.text(f"{client.address.root}/metrics")


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
