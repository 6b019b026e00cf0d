"""How does a server for one arm come to be? Its command line, a free port, and its own answer."""

import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError
from harness.runners.base import Failure
from harness.runners.http import process
from harness.runners.http.client import Client, ServerSilentError
from harness.runners.http.process import ServerProcess
from harness.runners.llama_server.arguments import arguments
from harness.runners.llama_server.binary import Binary, find, without_places

_ASK_LIMIT_S = 5.0
# A port that was free may be taken a moment later, by anybody.
_PORTS_TO_TRY = 3
_TAKEN = "couldn't bind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Starts servers of one binary for a campaign. `port` finds a port that is free now."""

    campaign: Campaign
    binary: Binary
    startup_limit_s: float
    port: Callable[[], int] = field(default=process.free_port)

    def arguments(self, arm: ArmPlan, *, port: int) -> tuple[str, ...] | Failure:
        """What stands after the program's name, or why this binary cannot run the arm."""
        return arguments(
            arm,
            self.campaign,
            abilities=self.binary.abilities,
            port=port,
            threads=self.binary.threads(self.campaign),
        )

    def shown(self, arm: ArmPlan) -> tuple[str, ...]:
        """The arguments of an arm as they may be published."""
        argv = self.arguments(arm, port=0)
        return () if isinstance(argv, Failure) else without_places(argv)

    def start(self, arm: ArmPlan) -> ServerProcess | Failure:
        """A server that is ready for requests, or why there is none; nothing is left then."""
        failure = Failure(reason="load-failed", detail="no port is free")
        for _ in range(_PORTS_TO_TRY):
            started = self._start(arm, self.port())
            if not isinstance(started, Failure):
                return started
            failure = started
            if _TAKEN not in failure.detail:
                break
        return failure

    def _start(self, arm: ArmPlan, port: int) -> ServerProcess | Failure:
        argv = self.arguments(arm, port=port)
        if isinstance(argv, Failure):
            return argv
        # Who answers at the port may be somebody else's server: ours knows this name.
        name = f"draftmap-{secrets.token_hex(8)}"
        try:
            server = process.start(self.binary.path, (*argv, "-a", name), port=port)
        except OSError as error:
            detail = f"{self.binary.path.name} cannot be started: {error.strerror}"
            return Failure(reason="load-failed", detail=detail)
        failure = server.wait_until_ready(self.startup_limit_s, ask=lambda: _is_ours(port, name))
        if failure is not None:
            server.end()
            return failure
        return server


def _is_ours(port: int, name: str) -> None:
    """Raise what the client raises, until the server that was named so is ready."""
    client = Client(host=process.HOST, port=port, limit_s=_ASK_LIMIT_S)
    client.get("/health")
    if name not in client.get("/v1/models"):
        message = f"another server answers at port {port}"
        raise ServerSilentError(message)


_ANY_PORT = 0


def command_lines(campaign: Campaign, path: str | None) -> tuple[str, ...]:
    """One line for each arm; the port, 0 here, is a free one. Raises `BadInputError`."""
    binary = find(path)
    launcher = Launcher(campaign=campaign, binary=binary, startup_limit_s=0)
    return tuple(
        shlex.join((str(binary.path), *_arguments(launcher, arm))) for arm in campaign.arms
    )


def _arguments(launcher: Launcher, arm: ArmPlan) -> tuple[str, ...]:
    argv = launcher.arguments(arm, port=_ANY_PORT)
    if isinstance(argv, Failure):
        message = f"{arm.id}: {argv.detail}; name another --server-binary or another --method"
        raise BadInputError(message)
    return argv
