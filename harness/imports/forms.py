"""Read the figures that a text states, by the forms in `schemas/vocabulary/server_log.toml`.

`forms.js` reads the same table in the same way. Lines that a terminal has wrapped are joined. A
line that matches a form's `signs` but none of its `lines` is listed as unread.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from harness.imports.foreign_names import finish_of
from harness.imports.json_values import Value, rows
from harness.imports.source_files import Given
from schemas.vocabulary.documents import document

TABLE: Mapping[str, Any] = document("server_log")
_JSON = re.compile(TABLE["json"])
_CHUNK = "data:"  # begins each line of a streamed answer
# With `include_usage`, the times are in a chunk after the chunk that ends the answer.
_ENDS = re.compile(r'"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]')
_LINE = {name: re.compile(pattern) for name, pattern in TABLE["line"].items()}
_DIGITS = re.compile(r"[0-9.]+")
# Pieces of a wrapped line, characters to search near a cut, objects around an answer.
_MOST_PIECES, _NEAR, _DEEPEST = 9, 40, 4
_NUMBER = re.compile(r"(?:[0-9]{0,20}\.)?[0-9]{1,20}(?:e\+?[0-9]{1,3})?|[0-9]{1,20}\.")
_TOOK = re.compile(r"([0-9.]{1,20})(h|ms|m|s|µs|us|ns)")
_COUNTS = ("tokens", "prompt_tokens", "cached", "drafted", "accepted", "rounds", "at_once")


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

    def count(self, name: str) -> int | None:
        value = self.number(name)
        return None if value is None else int(value)


class StatedText(NamedTuple):
    """Everything that a text states, in order, and the lines that match only a form's `signs`.

    `models` lists the forms whose lines report a tool's two models separately, not requests.
    """

    found: list[Found]
    unread: list[tuple[int, Form]]
    models: set[str]


class _Hit(NamedTuple):
    """A form's match in a line, beginning at `start`; `is_open` if more text could extend it."""

    form: Form
    figures: Mapping[str, str]
    is_open: bool
    start: int


FORMS = tuple(
    Form(
        **each
        | {"signs": re.compile(each["signs"]), "lines": tuple(map(re.compile, each["lines"]))}
    )
    for each in TABLE["form"]
)
_ANSWERS = tuple(Form(**each) for each in TABLE["answer"])


def stated(file: Given) -> StatedText:
    """Return everything that a file states, in the lines of a log or in answers in JSON.

    Raises `BadInputError` for JSON that cannot be read, and for a wrong figure in it.
    """
    log = logged(file)
    if log is not None:
        return log
    return StatedText(
        [each for row in rows(_last_chunks(file)) for each in answers(row)], [], set()
    )


def logged(file: Given) -> StatedText | None:
    """Return what the lines of a log report; `None` for answers in JSON, but not lines in JSON."""
    whole = file.text
    is_json = _JSON.match(whole) is not None
    if whole.lstrip().startswith(_CHUNK) or (is_json and '"predicted_n"' in whole):
        return None
    log = printed(whole, file.name)
    return log if not is_json or any(e.form.gives == "request" for e in log.found) else None


def _last_chunks(file: Given) -> Given:
    """Return a file with one line for each streamed answer: its last chunk, which has the times."""
    if not file.text.lstrip().startswith(_CHUNK):
        return file
    ends, was_end = [], False
    for line in file.text.splitlines():
        chunk = line.strip().removeprefix(_CHUNK).strip()
        is_end = '"timings"' in chunk and _ENDS.search(chunk) is not None
        if is_end and not was_end:  # the chunk after a chunk with times repeats the times
            ends.append(chunk)
        was_end = is_end or (was_end and not chunk)
    return replace(file, data="\n".join(ends).encode() or b"{}")


def printed(whole: str, name: str) -> StatedText:
    """Return everything that a log reports; `name` is the name of its file."""
    read = StatedText([], [], set())
    last: dict[tuple[str, ...], Found] = {}
    tasks: dict[str, str] = {}
    hidden: set[str | None] = set()
    for number, line, hits in _unwrapped(whole.splitlines()):
        server = match[0].strip() if (match := _LINE["server"].search(line)) else ""
        if slot := _LINE["slot"].search(line):
            tasks[server] = slot[0]
        if not hits and (form := _signed(line)):
            read.unread.append((number, form))
        for form, figures, _, _ in hits:
            if form.of in hidden:
                read.models.add(form.of)
                continue
            hidden.add(form.hides)
            key = (form.of, server, tasks.get(server, ""))
            own = last.get(key)
            is_whole = form.gives in ("request", "run")
            if own is None or not is_whole or own.figures.keys() & figures.keys():
                own = last[key] = Found(form=form, place="", figures={})
                read.found.append(own)
            own.figures |= figures
            if not own.place or figures.keys() & {"rate", "s"}:
                own.place = f"{name}: line {number}"
    return read


def answers(row: Value, depth: int = 0) -> Iterator[Found]:
    """Yield the model answers in a JSON value: the value itself, or objects nested in it.

    Raises `BadInputError` if a figure is not a number of at least 0, or a count is not whole.
    """
    form = next((form for form in _ANSWERS if _is_of(row, form)), None)
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


def _is_of(row: Value, form: Form) -> bool:
    is_other = form.unless is not None and row.at(form.unless).json
    return not is_other and all(map(row.has, form.needs))


def repeats(requests: Sequence[Found]) -> list[bool]:
    """Return whether each request took its prompt from the cache: few tokens were left to read."""
    longest, found = 0.0, []
    for request in requests:
        tokens = request.number("prompt_tokens") or 0.0
        is_known = request.number("prompt_tokens") is not None
        earlier = max(longest, request.number("cached") or 0.0)
        is_short = any(tokens <= most and tokens * by <= earlier for most, by in TABLE["cached"])
        found.append(is_known and is_short)
        longest = max(longest, tokens)
    return found


@lru_cache(maxsize=16)  # a line is tried alone, and as the end of the line before
def _signs(line: str) -> tuple[tuple[Form, re.Match[str]], ...]:
    """Return the forms whose sign is in a line, each with its match; words make this fast."""
    return tuple(
        (form, match)
        for form in FORMS
        if any(word in line for word in form.words) and (match := form.signs.search(line))
    )


def _signed(line: str) -> Form | None:
    return next((form for form, _ in _signs(line)), None)


def _hits(line: str) -> list[_Hit]:
    """Match a line against the forms; return each match with its values."""
    found = []
    for form, _ in _signs(line):
        if match := next(filter(None, (each.search(line) for each in form.lines)), None):
            figures = {name: value for name, value in match.groupdict().items() if value}
            if "series" in figures:  # remove blanks left by wrapping
                figures["series"] = figures["series"].replace(" ", "")
            found.append(_Hit(form, figures, len(figures) < match.re.groups, match.start()))
    return found


def _unwrapped(lines: Sequence[str]) -> Iterator[tuple[int, str, list[_Hit]]]:
    """Yield each line's number, text and matches, after joining lines that a terminal wrapped."""
    at = 0
    while at < len(lines):
        best, pieces = lines[at].rstrip(), 1
        own, hits, taken = _signed(best), _hits(best), [best]
        rest = [line.rstrip() for line in lines[at + 1 : at + _MOST_PIECES]]
        goes_on = any(hit.is_open for hit in hits) if hits else _goes_on(best, rest)
        for piece in rest if goes_on else ():
            if _signs(piece) and (hits or len(taken) > 1 or not _begins(best, piece)):
                break
            taken.append(piece)
            for line in _joined(taken):
                more = _hits(line)
                is_own = own is None or any(hit.form is own for hit in more)
                if is_own and _count(more) > _count(hits) and _keeps(more, hits):
                    best, pieces, hits = line, len(taken), more
            if hits and not any(hit.is_open for hit in hits):
                break
        digits = rest[pieces - 1] if pieces <= len(rest) else ""
        if best[-1:].isdecimal() and _DIGITS.fullmatch(digits) and hits:
            best, pieces, hits = f"{best}{digits}", pieces + 1, _hits(f"{best}{digits}")
        yield at + 1, best, hits
        at += pieces


def _joined(pieces: Sequence[str]) -> tuple[str, ...]:
    """Join the pieces of a line cut between words, at a fixed width, or anywhere."""
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


def _goes_on(line: str, rest: Sequence[str]) -> bool:
    """Whether a line without matches continues: a form's sign or match begins in this line."""
    if not rest or _signs(line):
        return bool(rest)
    start = line[-_NEAR:]
    return _begins(line, rest[0]) or any(
        match.start() < len(start) < match.end() - len(glue)
        for glue in (" ", "")
        for _, match in _signs(f"{start}{glue}{rest[0][:_NEAR]}")
    )


def _begins(line: str, piece: str) -> bool:
    """Whether `piece` has a form's sign, but the match begins in the preceding `line`."""
    return bool(_signs(piece)) and any(
        hit.start < len(line) for glue in (" ", "") for hit in _hits(f"{line}{glue}{piece}")
    )
