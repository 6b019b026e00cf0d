"""The command-line options for connecting to an engine."""

from dataclasses import dataclass, fields
from functools import partial

from harness.options import option
from schemas.rig import BACKENDS

_SERVERS = "Servers (--runner openai)"
_server = partial(option, panel=_SERVERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """Options to start an engine or connect to it, and the time limits for its answers."""

    answer_limit_s: float = option(
        "Maximum time for one answer, or for starting a server. Default: 15m.",
        name="timeout",
        metavar="SECONDS",
        panel="How it runs",
        least=0.1,
        default=900.0,
    )
    binary: str | None = None
    command: str = "run"  # the name of the measuring command, as typed
    plain_alone: bool = False  # whether a server without speculation is enough
    base_url: str | None = _server(
        "A server on this machine without speculation, such as http://127.0.0.1:8000; "
        "--spec-base-url names the server with speculation. The API key, if any, is read from "
        "DRAFTMAP_API_KEY.",
        metavar="URL",
        usual=True,
    )
    spec_base_urls: tuple[str, ...] = _server(
        "A server that runs the same model with speculation; one URL for each --method, in the "
        "same order.",
        name="spec-base-url",
        metavar="URL",
        default=(),
    )
    server_command: str | None = _server(
        "Instead of --base-url: a command that starts the server. The server is restarted for "
        "every block. Example: 'vllm serve MODEL --port {port}'.",
        metavar="COMMAND",
    )
    spec_server_commands: tuple[str, ...] = _server(
        "Instead of --spec-base-url: the command that starts the server with speculation; "
        "one command for each --method.",
        name="spec-server-command",
        metavar="COMMAND",
        default=(),
    )
    model: str | None = _server(
        "The target's name on the servers, if they offer several models.",
        name="served-model",
        metavar="NAME",
    )
    spec_models: tuple[str, ...] = _server(
        "The target's name with speculation, one for each --method, if the server at --base-url "
        "offers the target with and without speculation, as Ollama does. Cannot be combined with "
        "--spec-base-url.",
        name="spec-served-model",
        metavar="NAME",
        default=(),
    )
    backend: str | None = _server(
        "The backend of the servers, if they do not report their backend: cpu, cuda, vulkan, "
        "metal, rocm, sycl and so on. Also needed for a llama-server without --list-devices.",
        metavar="BACKEND",
        choices=tuple(BACKENDS),
    )
    device_names: tuple[str, ...] = _server(
        "A card that the servers compute on, such as 'RTX 4090' or 'RTX 4090 24 GB', if it "
        "cannot be detected. Repeat the option for several cards.",
        name="device-name",
        metavar="NAME",
        default=(),
    )

    @property
    def names_servers(self) -> bool:
        """Whether servers are named by URL or command."""
        given = (self.base_url, self.spec_base_urls, self.server_command, self.spec_server_commands)
        return any(given)

    def given_for_servers(self) -> list[str]:
        """Return those of the given options that only `--runner openai` uses."""
        return [
            declared.flag(each.name)
            for each in fields(self)
            if (declared := each.metadata.get("option")) and declared.panel == _SERVERS
            if getattr(self, each.name)
        ]
