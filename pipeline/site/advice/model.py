"""What does the advisor know, what can it be asked, and what does it answer? Plain values.

`Knowledge` is what the page loads as JSON: `site_src/assets/javascripts/advisor.js` does with it
what `pipeline.site.advice.answer` does.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    """A target in one quantisation; `size` is the order of its size class."""

    id: str
    target: str
    quantisation: str
    label: str
    size: int
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to speculate: a method at a depth, with a draft model or with any.

    `scope` is `all` where a round costs the same on every task, else `task`. `targets` are those
    that it was measured with; `draft` is null where only the method and the depth are meant.
    """

    method: str
    label: str
    depth: int | None
    scope: str
    draft: str | None = None
    draft_label: str | None = None
    draft_word: str | None = None
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Voters that measured the same thing: how many, mean logarithm, newest submissions."""

    votes: int
    mean: float
    nearest: tuple[int, ...]


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
    choices: tuple[Choice, ...]
    pools: dict[str, Pool]
    spreads: dict[str, Spread]
    reaches: dict[str, float]  # t by degrees of freedom; the keys of JSON are text
    errors: dict[str, PastError]
    submissions: tuple[tuple[str, str], ...]  # address and label
    measured: dict[str, tuple[float, float | None, float | None]]  # speedup and interval
    steps: dict[str, float]  # cost of a verification step in single ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a visitor wants to know. Without a device its memory may be known, or nothing."""

    backend: str
    size: int
    task: str
    device: str | None = None
    memory: int | None = None
    model: KnownModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to expect of one choice; without a second voter anywhere near there is no interval."""

    choice: Choice
    speedup: float
    low: float | None
    high: float | None
    round_cost: float
    tokens_per_round: float
    cost_level: str
    yield_level: str
    cost_votes: int
    yield_votes: int
    nearest: tuple[int, ...]
    error: PastError | None
    measured: tuple[float, float | None, float | None] | None
