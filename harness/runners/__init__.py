"""The runners by name. This module loads no engine: a runner is imported when it is used."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from harness.features import ENGINES
from harness.runners.base import Adapter
from harness.runners.options import ConnectionOptions


def _connect(module: str, options: ConnectionOptions) -> Adapter:
    adapter: Adapter = import_module(module).connect(options)
    return adapter


# The function that connects each runner to its engine. Raises `BadInputError` if the options do not
# identify an engine.
CONNECT: dict[str, Callable[[ConnectionOptions], Adapter]] = {
    name: partial(_connect, module) for name, module in ENGINES.items()
}
