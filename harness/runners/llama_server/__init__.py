"""The runner that starts any llama-server binary, a fresh one for each arm and block.

ik_llama.cpp's is started once where the arms differ in their depth alone.
"""

from functools import partial

from harness.runners.base import Adapter
from harness.runners.llama_server.binary import find
from harness.runners.llama_server.launch import command_lines, one_server
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions


def connect(options: ConnectionOptions) -> Adapter:
    """The binary that the options name. It is searched for when it is used."""
    return Adapter(
        open=partial(LlamaServerSession, options),
        identity=lambda: find(options.binary).identity(),
        commands=partial(command_lines, options=options),
        one_server=partial(one_server, options=options),
    )
