"""What the advisor knows: pools of round costs and tokens per round, with their spreads.

log speedup = log tokens per round - log round cost. A round that drafts n tokens reads the target
once and the draft n times, so that a round cost is pooled as a multiple of 1 + n x (bytes of the
draft / bytes of the target's step): another draft, or the target in another quantisation, changes
the bytes more than the rest. `arithmetic.js` predicts from this on the site (design note 0015).
"""

from dataclasses import dataclass
from typing import TypeAlias

# A measured cell: speedup, both ends of its interval, and its stated request.
MeasuredHere: TypeAlias = tuple[float, float | None, float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDevice:
    """A device that can be chosen; `memory` is its video memory in GiB."""

    id: str
    label: str
    memory: int | None
    backends: tuple[str, ...]
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A target in one quantisation; `size` is the order of its size class.

    `step_bytes` is what a step of one token reads, where the size is known. A `mixture` of experts
    is not predicted.
    """

    id: str
    target: str
    quantisation: str
    label: str
    size: int
    step_bytes: int | None = None
    mixture: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One way to speculate: a method at a depth, with a draft model or with any.

    `scope` is `all` where a round costs the same on every task, else `task`. `targets` are those
    that it was measured with; `draft` is null where only the method and the depth are meant.
    `command` measures it for the words TARGET and TASK, null where the usual runner cannot.
    """

    method: str
    label: str
    depth: int | None
    scope: str
    draft: str | None = None
    draft_label: str | None = None
    command: str | None = None
    targets: tuple[str, ...] = ()
    draft_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Voters that measured the same thing: how many, mean logarithm, newest submissions.

    The mean of a cost is over what the bytes that a round reads would cost: `bytes_mean` is the
    mean logarithm of that, `bytes_variance` its variance between voters.
    """

    votes: int
    mean: float
    nearest: tuple[int, ...]
    bytes_mean: float = 0.0
    bytes_variance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How much voters of one level and method differ: variance of logarithms, and its freedom."""

    variance: float
    freedom: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PastError:
    """How wrong predictions of one kind were, each voter predicted from the others."""

    predictions: int
    voters: int
    median_error: float
    high_error: float
    with_interval: int
    held: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Everything that the advisor was fitted to, by key; keys are words joined by `|`."""

    devices: tuple[KnownDevice, ...]
    models: tuple[KnownModel, ...]
    tasks: tuple[tuple[str, str], ...]
    choices: tuple[Configuration, ...]
    pools: dict[str, Pool]
    spreads: dict[str, Spread]
    quantiles: dict[str, float]  # t by degrees of freedom; the keys of JSON are text
    errors: dict[str, PastError]
    submissions: tuple[tuple[str, str], ...]  # address and label
    measured: dict[str, MeasuredHere]


def key(*words: object) -> str:
    """Words joined by `|`; what is not known is left out, as SQL's `concat_ws` does."""
    return "|".join(str(word) for word in words if word is not None)


def depth_word(depth: int | None) -> str | None:
    """A depth as keys hold it: `n4`."""
    return None if depth is None else f"n{depth}"
