"""The runners by name. Nothing here loads an engine: a runner is imported when it is used."""

from collections.abc import Callable

from harness.features import ENGINES, Feature
from harness.runners.base import Adapter
from harness.runners.options import ConnectionOptions

Connect = Callable[[ConnectionOptions], Adapter]


def _connecting(engine: Feature) -> Connect:
    """The function `connect` of an engine, whose module is imported on the first call."""

    def connect(options: ConnectionOptions) -> Adapter:
        adapter: Adapter = engine.load().connect(options)
        return adapter

    return connect


# How each runner is connected to its engine. Raises `BadInputError` for options that do not say so.
CONNECT = {name: _connecting(engine) for name, engine in ENGINES.items()}
