"""Connect to a running server, or start one, and identify its engine."""

import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.campaign.hidden_arguments import recorded
from harness.errors import BadInputError
from harness.openai.endpoints import Command, Endpoint
from harness.openai.listed_models import NO_PAGE, Served, choose, listed, offer
from harness.openai.server_identity import ServerIdentity, identify
from harness.runners.base import FailedError, Failure
from harness.runners.http import process
from harness.runners.http.client import (
    Client,
    ServerAddress,
    ServerError,
    ServerRefusedError,
    without_key,
)
from harness.runners.http.counted_rounds import Counters, read_counters
from harness.runners.http.process import ServerProcess
from harness.runners.http.session import Server, failure_of
from harness.runners.options import ConnectionOptions
from harness.runners.server_command import with_port


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(Server):
    """A server whose engine and measured model are identified.

    `drafts_nothing` means that a vLLM server was started without speculation: its metrics page
    lacks the counters that vLLM always shows with speculation.
    """

    identity: ServerIdentity
    served: Served
    has_counters: bool = False
    drafts_nothing: bool = False

    def counters(self) -> Counters | None:
        """Return the counters of the server's metrics page; `None` if there are none."""
        return read_counters(_page(self.client)) if self.has_counters else None


def connect(endpoint: Endpoint, options: ConnectionOptions, *, key: str | None) -> Connection:
    """Connect to a server and identify it.

    Raises `FailedError`, after ending a server that this call started.
    """
    limit_s = options.answer_limit_s
    if isinstance(endpoint, ServerAddress):
        return _identified(Client(address=endpoint, limit_s=limit_s, key=key), options.model)
    began = time.perf_counter()
    started = _started(endpoint, limit_s, key)
    load_s = time.perf_counter() - began
    address = ServerAddress(host=process.HOST, port=started.port)
    with ExitStack() as undo:
        undo.callback(started.end)
        server = _identified(Client(address=address, limit_s=limit_s, key=key), options.model)
        if death := started.death():  # another program answered on the port
            raise FailedError(death)
        undo.pop_all()
    return replace(server, process=started, load_s=load_s, argv=recorded(endpoint))


def _started(command: Command, limit_s: float, key: str | None) -> ServerProcess:
    port = process.free_port()
    program, *arguments = with_port(command, port)
    address = ServerAddress(host=process.HOST, port=port)
    asked = Client(address=address, limit_s=process.ASK_LIMIT_S, key=key)
    found = shutil.which(program)
    if found is None:
        detail = without_key(f"there is no program {program} on this machine", key)
        raise FailedError(Failure(reason="load-failed", detail=detail))
    try:
        return process.start_ready(
            Path(found), arguments, port=port, limit_s=limit_s, ask=lambda: _ask(asked)
        )
    except FailedError as error:
        detail = without_key(str(error), key)
        raise FailedError(replace(error.failure, detail=detail)) from error


def _ask(client: Client) -> None:
    """Raise `ServerError` unless the server is ready.

    A server without a `/health` page is ready once it answers a request for its models.
    """
    try:
        client.text("/health")
    except ServerRefusedError as error:
        if error.status not in NO_PAGE:
            raise
        listed(client)


def _identified(client: Client, model: str | None) -> Connection:
    try:
        identity = identify(client, model)
        if identity.name == "mlx-lm" and model is None:
            # This server lists the loaded model and the models on disk under different names, and
            # reloads the weights if a request uses such a name.
            only = identity.models[0] if len(identity.models) == 1 else None
            served = Served(id="", root=only.id if only else None)
        else:
            served = choose(identity.models, model, where=str(client.address))
    except ServerError as error:
        raise FailedError(failure_of(error, client, offers=offer(()))) from error
    except BadInputError as error:
        raise FailedError(Failure(reason="load-failed", detail=str(error))) from error
    page = ""
    with suppress(ServerError):
        page = _page(client)
    has_counters = read_counters(page) is not None
    return Connection(
        client=client,
        identity=identity,
        served=served,
        has_counters=has_counters,
        # vLLM started with speculation shows its counters from the start.
        drafts_nothing="\nvllm:" in page and not has_counters,
    )


def _page(client: Client) -> str:
    return client.text(f"{client.address.root}/metrics")
