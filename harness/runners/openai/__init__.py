"""The runner that asks servers which speak OpenAI's protocol."""

from collections.abc import Callable

from harness.campaign.model import Campaign
from harness.runners.openai import endpoints
from harness.runners.openai.served import ServedModels
from harness.runners.openai.session import OpenAiServer
from harness.runners.options import ConnectionOptions

build = OpenAiServer


def check(options: ConnectionOptions, campaign: Campaign) -> None:
    """Raise `BadInputError` when the servers do not fit the campaign."""
    endpoints.check(endpoints.endpoints(options), campaign)


def preview(options: ConnectionOptions, campaign: Campaign) -> tuple[str, ...]:
    """The commands that start the servers, where they are ours to start."""
    return endpoints.command_lines(endpoints.endpoints(options), campaign)


def served(options: ConnectionOptions, say: Callable[[str], None]) -> ServedModels:
    """The models that the servers offer."""
    return ServedModels(options=options, say=say)
