"""The runner that asks servers which speak OpenAI's protocol."""

from functools import partial

from harness.runners.base import Adapter
from harness.runners.openai import endpoints
from harness.runners.openai.report import check_backend
from harness.runners.openai.served import NamedModels
from harness.runners.openai.session import OpenAiSession
from harness.runners.options import ConnectionOptions


def connect(options: ConnectionOptions) -> Adapter:
    """The servers that the options name. Raises `BadInputError` when they name no usable set."""
    check_backend(options.backend)
    found = endpoints.endpoints(options)
    endpoints.api_key()
    return Adapter(
        open=partial(OpenAiSession, options),
        commands=partial(endpoints.command_lines, found),
        served=partial(NamedModels, options),
    )
