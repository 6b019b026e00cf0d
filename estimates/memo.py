"""Cache the intermediate results that several figures of a submission share."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def once(derive: Callable[[S], T]) -> Callable[[S], T]:
    """Cache a function's result in the `__dict__` of its argument (a class without `__slots__`)."""
    name = f"{derive.__module__}.{derive.__qualname__}"

    @wraps(derive)
    def known(source: S) -> T:
        stored = vars(source)
        if name not in stored:
            stored[name] = derive(source)
        found: T = stored[name]
        return found

    return known
