"""The runner for any llama-server binary; a fresh server for every arm."""

from functools import partial

from harness.runners.base import Adapter
from harness.runners.llama_server.binary import find
from harness.runners.llama_server.launch import command_lines
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions


def connect(options: ConnectionOptions) -> Adapter:
    """Return the adapter of a llama-server, whose binary is looked up only on use."""
    return Adapter(
        open=partial(LlamaServerSession, options),
        identity=lambda: find(options.binary).identity(),
        commands=partial(command_lines, options=options),
        seen=lambda campaign: find(options.binary).report(campaign, options.backend).engine,
    )
