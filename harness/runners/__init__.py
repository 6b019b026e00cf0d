"""The runners by name. Nothing here loads an engine: a runner is imported when it is used."""

from collections.abc import Callable
from importlib import import_module

from harness.runners.base import Adapter
from harness.runners.options import ConnectionOptions

Connect = Callable[[ConnectionOptions], Adapter]


def _of_module(name: str) -> Connect:
    """The function `connect` of a module, which is imported on the first call."""

    def connect(options: ConnectionOptions) -> Adapter:
        adapter: Adapter = import_module(f"{__name__}.{name}").connect(options)
        return adapter

    return connect


# How each runner is connected to its engine. Raises `BadInputError` for options that do not say so.
CONNECT: dict[str, Connect] = {
    "llama-cpp-python": _of_module("inprocess"),
    "llama-server": _of_module("llama_server"),
    "openai": _of_module("openai"),
    "mlx": _of_module("mlx"),
}
