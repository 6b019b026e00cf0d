"""The runners by name. This module loads no engine: a runner is imported when it is used."""

from collections.abc import Callable
from functools import partial

from harness.features import ENGINES, Feature
from harness.runners.base import Adapter
from harness.runners.options import ConnectionOptions


def _connect(engine: Feature, options: ConnectionOptions) -> Adapter:
    adapter: Adapter = engine.load().connect(options)
    return adapter


# The function that connects each runner to its engine. Raises `BadInputError` if the options do not
# identify an engine.
CONNECT: dict[str, Callable[[ConnectionOptions], Adapter]] = {
    name: partial(_connect, engine) for name, engine in ENGINES.items()
}
