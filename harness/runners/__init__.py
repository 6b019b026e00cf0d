"""The runners by name. Nothing here loads an engine: a runner is imported when it is used."""

from collections.abc import Callable
from functools import partial

from harness.features import ENGINES, Feature
from harness.runners.base import Adapter
from harness.runners.options import ConnectionOptions


def _connect(engine: Feature, options: ConnectionOptions) -> Adapter:
    adapter: Adapter = engine.load().connect(options)
    return adapter


# How each runner is connected to its engine. Raises `BadInputError` for options that do not say so.
CONNECT: dict[str, Callable[[ConnectionOptions], Adapter]] = {
    name: partial(_connect, engine) for name, engine in ENGINES.items()
}
