"""Read the requests that a log reports, using the forms in `schemas/vocabulary/server_log.toml`.

`serverlog.js` uses the same table in the same way. Lines that a terminal has wrapped are joined. A
line that matches a form's `signs` but none of its `lines` is listed as unread.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.vocabulary.documents import document

TABLE: Mapping[str, Any] = document("server_log")
_LINE = {name: re.compile(pattern) for name, pattern in TABLE["line"].items()}
_DIGITS = re.compile(r"[0-9.]+")
_MOST_PIECES, _END = 9, 40  # pieces of a wrapped line; characters to search near a cut
_UNITS = {
    "h": 3_600_000.0,
    "m": 60_000.0,
    "s": 1000.0,
    "ms": 1.0,
    "µs": 1e-3,
    "us": 1e-3,
    "ns": 1e-6,
}
_NUMBER = re.compile(r"(?:[0-9]{0,20}\.)?[0-9]{1,20}(?:e\+?[0-9]{1,3})?|[0-9]{1,20}\.")
_TOOK = re.compile(r"([0-9.]{1,20})(h|ms|m|s|µs|us|ns)")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """A known form of log line, or of answer in JSON; `server_log.toml` documents its fields."""

    of: str
    gives: str
    engine: str | None = None
    silent: bool = False
    hides: str | None = None
    words: Sequence[str] = ()
    signs: re.Pattern[str] = re.compile("")
    lines: tuple[re.Pattern[str], ...] = ()
    needs: tuple[str, ...] = ()
    unless: str | None = None
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Found:
    """The values read for one request, run, interval or line, named as in `server_log.toml`."""

    form: Form
    place: str
    figures: dict[str, str | float]
    finish: Literal["length", "stop"] | None = None

    def number(self, name: str) -> float | None:
        """Return a figure, converted from its first variant with a number: `ms` from `s`."""
        named: Mapping[str, float] = TABLE["figure"].get(name, {name: 1})
        for key, factor in named.items():
            value = self.figures.get(key)
            if isinstance(value, str) and key.endswith("took"):
                value = _milliseconds(value)
            elif isinstance(value, str):
                value = float(value) if _NUMBER.fullmatch(value) else None
            if value is not None:
                return value * factor + (key == "steps")  # without the first token
        return None

    def count(self, name: str) -> int | None:
        value = self.number(name)
        return None if value is None else int(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """Everything that a log reports, in order, and the lines that match only a form's `signs`.

    `models` lists the forms whose lines report a tool's two models separately, not requests.
    """

    found: tuple[Found, ...]
    unread: tuple[tuple[int, Form], ...]
    models: frozenset[str]


def _milliseconds(text: str) -> float | None:
    parts = _TOOK.findall(text)
    return sum(float(value) * _UNITS[unit] for value, unit in parts) if parts else None


FORMS = tuple(
    Form(
        **each
        | {"signs": re.compile(each["signs"]), "lines": tuple(map(re.compile, each["lines"]))}
    )
    for each in TABLE["form"]
)
ANSWERS = tuple(Form(**each) for each in TABLE["answer"])


class _Known:
    """The forms that may occur in a log, for quickly filtering its lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Search for the words of each form, even across a line break inserted by wrapping."""
        seen = ("".join(lines), " ".join(line.rstrip() for line in lines))
        self.forms = [
            form for form in FORMS if any(word in each for word in form.words for each in seen)
        ]
        self._words = [word for form in self.forms for word in form.words]
        self._signs = re.compile("|".join(form.signs.pattern for form in self.forms) or r"(?!)")

    def sign(self, line: str) -> re.Match[str] | None:
        has_word = any(word in line for word in self._words)
        return self._signs.search(line) if has_word else None

    def signed(self, line: str) -> Form | None:
        forms = self.forms if self.sign(line) else ()
        return next((form for form in forms if form.signs.search(line)), None)

    def hits(self, line: str) -> list["_Hit"]:
        """Match a line against the known forms; return each match with its values."""
        found = []
        for form in self.forms if self.sign(line) else ():
            match = form.signs.search(line) and next(
                filter(None, (each.search(line) for each in form.lines)), None
            )
            if match:
                figures = {name: value for name, value in match.groupdict().items() if value}
                if "series" in figures:  # remove blanks left by wrapping
                    figures["series"] = figures["series"].replace(" ", "")
                is_open = len(figures) < len(match.groupdict())
                found.append(_Hit(form=form, figures=figures, is_open=is_open, start=match.start()))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """A form's match in a line, beginning at `start`; `is_open` if more text could extend it."""

    form: Form
    figures: Mapping[str, str]
    is_open: bool
    start: int


def printed(text: str, name: str) -> Printed:
    """Return everything that a log reports; `name` is the name of its file."""
    found: list[Found] = []
    unread: list[tuple[int, Form]] = []
    last: dict[tuple[str, ...], Found] = {}
    tasks: dict[str, str] = {}
    hidden: set[str | None] = set()
    models: set[str] = set()
    lines = text.splitlines()
    known = _Known(lines)
    for number, line, hits in _unwrapped(lines if known.forms else (), known):
        server = match[0].strip() if (match := _LINE["server"].search(line)) else ""
        if slot := _LINE["slot"].search(line):
            tasks[server] = slot[0]
        if not hits and (form := known.signed(line)):
            unread.append((number, form))
        for hit in hits:
            form, figures = hit.form, hit.figures
            if form.of in hidden:
                models.add(form.of)
                continue
            hidden.add(form.hides)
            key = (form.of, server, tasks.get(server, ""))
            own = last.get(key)
            is_whole = form.gives in ("request", "run")
            if own is None or not is_whole or own.figures.keys() & figures.keys():
                own = last[key] = Found(form=form, place="", figures={})
                found.append(own)
            own.figures |= figures
            if not own.place or figures.keys() & {"rate", "s"}:
                own.place = f"{name}: line {number}"
    return Printed(found=tuple(found), unread=tuple(unread), models=frozenset(models))


def repeats(requests: Sequence[Found]) -> list[bool]:
    """Return whether each request took its prompt from the cache: few tokens were left to read."""
    longest, found = 0.0, []
    for request in requests:
        tokens, cached = request.number("prompt_tokens"), request.number("cached") or 0.0
        earlier = max(longest, cached)
        found.append(
            tokens is not None
            and any(tokens <= most and tokens * by <= earlier for most, by in TABLE["cached"])
        )
        longest = max(longest, tokens or 0.0)
    return found


def _unwrapped(lines: Sequence[str], known: _Known) -> Iterator[tuple[int, str, list[_Hit]]]:
    """Yield each line's number, text and matches, after joining lines that a terminal wrapped."""
    at = 0
    while at < len(lines):
        best, pieces = lines[at].rstrip(), 1
        own, hits, taken = known.signed(best), known.hits(best), [best]
        rest = [line.rstrip() for line in lines[at + 1 : at + _MOST_PIECES]]
        goes_on = any(hit.is_open for hit in hits) if hits else _goes_on(best, rest, known)
        for piece in rest if goes_on else ():
            if known.sign(piece) and (hits or len(taken) > 1 or not _begins(best, piece, known)):
                break
            taken.append(piece)
            for line in _joined(taken):
                more = known.hits(line)
                is_own = own is None or any(hit.form is own for hit in more)
                if is_own and _count(more) > _count(hits) and _keeps(more, hits):
                    best, pieces, hits = line, len(taken), more
            if hits and not any(hit.is_open for hit in hits):
                break
        digits = rest[pieces - 1] if pieces <= len(rest) else ""
        if best[-1:].isdecimal() and _DIGITS.fullmatch(digits) and hits:
            best, pieces, hits = f"{best}{digits}", pieces + 1, known.hits(f"{best}{digits}")
        yield at + 1, best, hits
        at += pieces


def _joined(pieces: Sequence[str]) -> tuple[str, ...]:
    """Join the pieces of a wrapped line in three ways, and return all three.

    The first suits a line cut between words, the second a line cut at a fixed width, the third a
    line cut anywhere.
    """
    width = max(map(len, pieces))
    ends = [piece if len(piece) == width else f"{piece} " for piece in pieces[:-1]]
    return " ".join(pieces), "".join((*ends, pieces[-1])), "".join(pieces)


def _keeps(more: Sequence[_Hit], hits: Iterable[_Hit]) -> bool:
    """Whether `more`, from a joined line, keeps all values of `hits`; a value may gain digits."""
    return all(
        any(
            own.form is hit.form
            and all(own.figures.get(key, "").startswith(text) for key, text in hit.figures.items())
            for own in more
        )
        for hit in hits
    )


def _count(hits: Iterable[_Hit]) -> int:
    return sum(len(hit.figures) for hit in hits)


def _goes_on(line: str, rest: Sequence[str], known: _Known) -> bool:
    """Whether a line without matches continues: a form's sign or match begins in this line."""
    if not rest or known.sign(line):
        return bool(rest)
    start = line[-_END:]
    return _begins(line, rest[0], known) or any(
        match.start() < len(start) < match.end() - len(glue)
        for glue in (" ", "")
        if (match := known.sign(f"{start}{glue}{rest[0][:_END]}"))
    )


def _begins(line: str, piece: str, known: _Known) -> bool:
    """Whether `piece` has a form's sign, but the match begins in the preceding `line`."""
    return known.sign(piece) is not None and any(
        hit.start < len(line) for glue in (" ", "") for hit in known.hits(f"{line}{glue}{piece}")
    )
