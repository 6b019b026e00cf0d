"""The runner for servers with OpenAI's API."""

from functools import partial

from harness.openai import endpoints
from harness.openai.reported_device import check_options
from harness.openai.served import NamedModels
from harness.openai.session import OpenAiSession
from harness.runners.base import Adapter
from harness.runners.options import ConnectionOptions


def connect(options: ConnectionOptions) -> Adapter:
    """Return an adapter for the servers that the options name.

    Raises `BadInputError` for invalid or contradictory options.
    """
    check_options(options)
    found = endpoints.endpoints(options)
    endpoints.api_key()
    return Adapter(
        open=partial(OpenAiSession, options),
        commands=partial(endpoints.command_lines, found),
        served=partial(NamedModels, options),
        seen=lambda _campaign: NamedModels(options, say=lambda _text: None).seen(),
    )
