"""Start a llama-server for one arm on a free port, and check that no other server answers there."""

import secrets
from collections.abc import Callable, Sequence
from functools import partial

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError
from harness.machine.command_line import join_command
from harness.runners.base import FailedError, Failure
from harness.runners.http import process
from harness.runners.http.client import Client, ServerAddress, ServerSilentError
from harness.runners.llama_server.argv import arguments
from harness.runners.llama_server.binary import Binary, find
from harness.runners.options import ConnectionOptions

# A port that was free may be taken a moment later.
_PORTS_TO_TRY = 3
_TAKEN = "couldn't bind"
_ANY_PORT = 0
# Flags whose value is a path, an address or a key.
_PRIVATE = frozenset({"-m", "-md", "--model-draft", "--spec-draft-model", "--host", "--port", "-a"})


def start(
    arm: ArmPlan,
    campaign: Campaign,
    binary: Binary,
    *,
    limit_s: float,
    port: Callable[[], int] = process.free_port,
) -> process.ServerProcess:
    """Start a server and wait until it is ready. Raises `FailedError`, leaving no process."""
    failure = Failure(reason="load-failed", detail="no port is free")
    for _ in range(_PORTS_TO_TRY):
        at = port()
        argv = arguments(arm, campaign, abilities=binary.abilities, port=at)
        try:
            return _start(binary, argv, at, limit_s)
        except FailedError as error:
            failure = error.failure
        if _TAKEN not in failure.detail:
            # A server that ends immediately may lose the log line with the reason.
            if not process.is_taken(at):
                break
            detail = f"{failure.detail}; another program listens at port: {at}"
            failure = Failure(reason="load-failed", detail=detail)
    raise FailedError(failure)


def _start(binary: Binary, argv: Sequence[str], port: int, limit_s: float) -> process.ServerProcess:
    # Another server may answer on the port; only ours lists this model name.
    name = f"draftmap-{secrets.token_hex(8)}"
    ask = partial(_is_ours, port, name)
    words = (*argv, "-a", name)
    return process.start_ready(binary.path, words, port=port, limit_s=limit_s, ask=ask)


def _is_ours(port: int, name: str) -> None:
    """Raise a client's error unless the server is ready and offers the expected model name."""
    address = ServerAddress(host=process.HOST, port=port)
    client = Client(address=address, limit_s=process.ASK_LIMIT_S)
    client.text("/health")
    if name not in client.text("/v1/models"):
        raise ServerSilentError(f"a different server answers on port {port}")


def command_lines(campaign: Campaign, options: ConnectionOptions) -> tuple[str, ...]:
    """Return a command line for each server to be started; port 0 stands for a free port.

    Raises `BadInputError`.
    """
    binary, lines = find(options.binary), []
    binary.backend(campaign, options.backend)
    for arm in campaign.arms:
        try:
            argv = arguments(arm, campaign, abilities=binary.abilities, port=_ANY_PORT)
        except FailedError as error:
            raise BadInputError(f"{arm.id}: {error}") from error
        lines.append(join_command((str(binary.path), *argv)))
    return tuple(lines)


def without_places(argv: Sequence[str]) -> tuple[str, ...]:
    """Return arguments fit for publication, without paths and addresses."""
    shown: list[str] = []
    previous = ""
    for word in argv:
        if word not in _PRIVATE and previous not in _PRIVATE:
            shown.append(word)
        previous = word
    return tuple(shown)
