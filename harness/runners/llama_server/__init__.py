"""The runner that starts any llama-server binary, a fresh one where an arm needs its own."""

from functools import partial

from harness.runners.base import Adapter
from harness.runners.llama_server.binary import find
from harness.runners.llama_server.launch import command_lines, one_server
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions


def connect(options: ConnectionOptions) -> Adapter:
    """The binary that the options name. It is not searched for before it is used."""
    return Adapter(
        open=partial(LlamaServerSession, options),
        identity=lambda: find(options.binary).identity(),
        commands=partial(command_lines, options=options),
        one_server=partial(one_server, options=options),
    )
