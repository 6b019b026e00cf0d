"""How is a server reached, so that it can be asked? Found running, or started and waited for."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.runners.base import Failure
from harness.runners.openai import command
from harness.runners.openai.address import Address
from harness.runners.openai.client import Client
from harness.runners.openai.failures import failure_of
from harness.runners.openai.identity import Identity, identify
from harness.runners.openai.key import without_key
from harness.runners.openai.listing import choose
from harness.runners.server import process
from harness.runners.server.client import ServerRefusedError, ServerSilentError
from harness.runners.server.counters import Counters, read_counters

if TYPE_CHECKING:
    from harness.runners.openai.doors import Command, Door
    from harness.runners.openai.listing import Served
    from harness.runners.server.process import ServerProcess

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
