"""The forms in `schemas/vocabulary/server_log.toml`, and the answers in JSON that have one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.imports.foreign_names import finish_of
from harness.imports.json_values import MS_PER_S, Value
from schemas.vocabulary.documents import document

TABLE: Mapping[str, Any] = document("server_log")
_DEEPEST = 4  # the most objects around an answer
_NUMBER = re.compile(r"(?:[0-9]{0,20}\.)?[0-9]{1,20}(?:e\+?[0-9]{1,3})?|[0-9]{1,20}\.")
_TOOK = re.compile(r"([0-9.]{1,20})(h|ms|m|s|µs|us|ns)")
_COUNTS = ("tokens", "prompt_tokens", "cached", "drafted", "accepted", "rounds", "at_once")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """A known form of log line, or of answer in JSON; `server_log.toml` documents its fields."""

    of: str
    gives: str
    engine: str | None = None
    tool: str | None = None
    silent: str | None = None
    prints: str | None = None
    lists: bool = False
    hides: str | None = None
    words: Sequence[str] = ()
    signs: re.Pattern[str] = re.compile("")
    lines: tuple[re.Pattern[str], ...] = ()
    needs: tuple[str, ...] = ()
    unless: str | None = None
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Found:
    """The values read for one request, run, interval or line, named as in `server_log.toml`.

    In a log, they also have the part of the text that one run wrote, the server, its task, and
    whether the text has times (`is_timed`) or is of a program for one request (`is_alone`).
    """

    form: Form
    place: str
    figures: dict[str, str | float]
    finish: Literal["length", "stop"] | None = None
    part: int = 0
    server: str = ""
    task: str | None = None
    is_timed: bool = False
    is_alone: bool = False

    @property
    def is_request(self) -> bool:
        return self.form.gives == "request" and bool(self.number("tokens"))

    def number(self, name: str) -> float | None:
        """Return a figure, converted from its first variant with a number: `ms` from `s`."""
        named: Mapping[str, float] = TABLE["figure"].get(name, {name: 1})
        for key, factor in named.items():
            value = self.figures.get(key)
            if isinstance(value, str) and key.endswith("took"):
                times = [float(size) * TABLE["unit"][unit] for size, unit in _TOOK.findall(value)]
                value = sum(times) if times else None
            elif isinstance(value, str):
                value = float(value) if _NUMBER.fullmatch(value) else None
            if value is not None:
                return value * factor + (key == "steps")  # without the first token
        return None

    @property
    def is_silent(self) -> bool:
        """Whether the server would have printed counts here if it had drafted anything."""
        return self.form.silent in self.figures and not self.figures.keys() & {"share", "unclear"}

    @property
    def drafted(self) -> float | None:
        """The drafted tokens: stated, or the accepted and rejected tokens, or by the share."""
        drafted, accepted, rejected, share = map(
            self.number, ("drafted", "accepted", "rejected", "share")
        )
        if drafted is None and accepted is not None and rejected is not None:
            return accepted + rejected
        return round(accepted / share) if drafted is None and accepted and share else drafted

    @property
    def prompt_tokens(self) -> int | None:
        """The tokens of the prompt, with those from the cache."""
        read = self.count("prompt_tokens")
        return None if read is None else read + (self.count("cached") or 0)

    @property
    def prompt_ms(self) -> float | None:
        """The time of the prompt: stated, or by its speed."""
        read, rate = self.number("prompt_tokens"), self.number("prompt_rate")
        by_rate = read / rate * MS_PER_S if read and rate else None
        return by_rate if (stated := self.number("prompt_ms")) is None else stated

    @property
    def rate(self) -> float | None:
        """The tokens/s: stated, or by a time that includes the first token."""
        tokens, took_ms = self.number("tokens"), self.number("took_ms")
        by_took = tokens / took_ms * MS_PER_S if tokens and took_ms else None
        return by_took if (stated := self.number("rate")) is None else stated

    @property
    def step_ms(self) -> float | None:
        """The time of a token after the first, from the stated time, else from the speed."""
        ms, tokens, tpot_ms = map(self.number, ("ms", "tokens", "tpot_ms"))
        if ms is not None and tokens and tokens > 1:
            return ms / (tokens - 1)
        return tpot_ms or (MS_PER_S / self.rate if self.rate else None)

    def count(self, name: str) -> int | None:
        value = self.number(name)
        return None if value is None else int(value)


FORMS = tuple(
    Form(
        **each
        | {"signs": re.compile(each["signs"]), "lines": tuple(map(re.compile, each["lines"]))}
    )
    for each in TABLE["form"]
)
_ANSWERS = tuple(Form(**each) for each in TABLE["answer"])


def answers(row: Value, depth: int = 0) -> Iterator[Found]:
    """Yield the model answers in a JSON value: the value itself, or objects nested in it.

    Raises `BadInputError` if a figure is not a number of at least 0, or a count is not whole.
    """
    own = [form for form in _ANSWERS if _is_of(row, form)]
    for each in own:
        if each.lists:
            yield from _listed(row, each)
    form = next((form for form in own if not form.lists), None)
    if form is not None:
        figures: dict[str, str | float] = {}
        for name, paths in form.figures.items():
            read = Value.count if name in _COUNTS else Value.number
            for path in filter(row.has, reversed(paths.split())):
                figures[name] = read(row.at(path)) or 0.0
        yield Found(form=form, place=row.place, figures=figures, finish=finish_of(row))
    elif depth < _DEEPEST:
        for inner in row.inside():
            yield from answers(inner, depth + 1)


def _listed(row: Value, form: Form) -> Iterator[Found]:
    """Yield the requests of a value whose figures are lists; a list in a list is summed."""
    columns = {name: row.at(path) for name, path in form.figures.items() if row.has(path)}
    lists = {name: each.each() for name, each in columns.items() if isinstance(each.json, list)}
    size = min(map(len, lists.values()))
    if any(len(each) != size for each in lists.values()):
        row.refuse("lists of the same length")
    for at in range(size):
        figures: dict[str, str | float] = {
            name: _sum(lists[name][at] if name in lists else each) for name, each in columns.items()
        }
        yield Found(form=form, place=f"{row.source}: request {at + 1}", figures=figures)


def _sum(value: Value) -> float:
    parts = value.each() if isinstance(value.json, list) else [value]
    return sum(part.number() or 0.0 for part in parts)


def _is_of(row: Value, form: Form) -> bool:
    is_other = form.unless is not None and row.at(form.unless).json
    return not is_other and all(map(row.has, form.needs))


def repeats(requests: Sequence[Found]) -> list[bool]:
    """Return whether each request took its prompt from the cache: few tokens were left to read."""
    longest, found = 0.0, []
    if len(requests) == 1:  # nothing shows what was before
        return [False]
    read = [request.number("prompt_tokens") for request in requests]
    for request, tokens in zip(requests, read, strict=True):
        earlier = max(longest, request.number("cached") or 0.0)
        known = 1.0 if tokens is None and 1 in read else tokens
        is_short = known is not None and any(
            known <= most and known * by <= earlier for most, by in TABLE["cached"]
        )
        found.append(is_short or known == 1)
        longest = max(longest, tokens or 0.0)
    return found
