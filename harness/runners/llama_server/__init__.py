"""The runner that starts any llama-server binary, a fresh one for each arm and block."""

from harness.campaign.model import Campaign
from harness.runners.llama_server.binary import find
from harness.runners.llama_server.launch import command_lines
from harness.runners.llama_server.session import LlamaServer
from harness.runners.options import ConnectionOptions

build = LlamaServer


def identify(options: ConnectionOptions) -> str:
    """The binary, so that another build of it is another engine."""
    return find(options.binary).identity()


def preview(options: ConnectionOptions, campaign: Campaign) -> tuple[str, ...]:
    """The servers of the campaign. Raises `BadInputError` for an arm that the binary lacks."""
    return command_lines(campaign, options.binary)
