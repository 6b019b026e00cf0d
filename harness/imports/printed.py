"""Read a log by the forms in `schemas/vocabulary/server_log.toml`, as `forms.js` does.

Lines that a terminal has wrapped are joined. A line that matches a form's `signs` but none of its
`lines` is listed as unread. A text is one to many runs, its parts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from harness.imports.forms import FORMS, TABLE, Form, Found, answers
from harness.imports.json_values import rows
from harness.imports.source_files import Given

_JSON = re.compile(TABLE["json"])
_LINE = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in TABLE["line"].items()}
_MOST_PIECES, _NEAR = 9, 40  # pieces of a wrapped line, characters to search next to a cut
_DIGITS = re.compile(r"[0-9.]+")
_SLACK_S = 1  # by which lines of one log may be out of order
_DAY = 1_000_000  # of a time such as 1130235959


class StatedText(NamedTuple):
    """Everything that a text states, in order, and the lines that match only a form's `signs`.

    `models` lists the forms whose lines report a tool's two models separately, not requests.
    """

    found: list[Found]
    unread: list[tuple[int, Form]]
    models: set[str]


class _Hit(NamedTuple):
    """A form's match in a line, and its end; `is_open` if more text could extend it."""

    form: Form
    figures: Mapping[str, str]
    is_open: bool
    end: int


class _Where(NamedTuple):
    """A line's origin: server, slot and task, and the time of a clock in s."""

    server: str
    slot: tuple[str, str] | None
    task: str | None
    clock: str
    time: float | None
    is_alone: bool


@dataclass(slots=True)
class _Part:
    """The statements of one run so far, from which follows where another run begins."""

    number: int
    once: set[str] = field(default_factory=set)
    last: dict[tuple[str | None, ...], Found] = field(default_factory=dict)
    tasks: dict[tuple[str, str], int] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    drafted: str | None = None  # the task of the last statistics
    style: str | None = None  # the name that a build gives to the tokens so far

    def enter(self, where: _Where) -> None:
        if where.time is not None:
            self.times[where.clock] = where.time
        if where.slot and where.task:
            self.tasks[where.slot] = int(where.task)

    def ends_before(self, where: _Where) -> bool:
        """Whether an earlier time, another day, or an earlier task of a slot begins a run."""
        before, time = self.times.get(where.clock), where.time
        if where.slot and where.task and int(where.task) < self.tasks.get(where.slot, 0):
            return True
        return None not in (before, time) and not -_SLACK_S <= (time or 0) - (before or 0) <= _DAY

    def repeats(self, hit: _Hit, where: _Where) -> bool:
        """Whether figures that a run or its request states only once begin another run."""
        own, gives = self.last.get(_key(hit, where)), hit.form.gives
        if hit.figures.get("once") in self.once:
            return True
        if None not in (style := hit.figures.get("style"), self.style) and style != self.style:
            return True
        if own is None:
            return "kind" in hit.figures and self.drafted not in {None, where.task}
        is_once = gives == "run" or (
            gives == "request" and (where.task is not None or where.is_alone)
        )
        return is_once and bool(hit.figures.keys() & own.figures.keys())


def stated(file: Given) -> StatedText:
    """Return everything that a file states, in the lines of a log or in answers in JSON.

    Raises `BadInputError` for JSON that cannot be read, and for a wrong figure in it.
    """
    log = logged(file)
    if log is not None:
        return log
    found = [each for row in rows(_cleaned(file)) for each in answers(row)]
    return StatedText(found, [], set())


def logged(file: Given) -> StatedText | None:
    """Return what the lines of a log report; `None` for answers in JSON, but not lines in JSON."""
    whole = _cleaned(file).text
    is_json = _JSON.match(whole) is not None
    if is_json and '"predicted_n"' in whole:
        return None
    log = printed(whole, file.name)
    return log if not is_json or any(e.form.gives == "request" for e in log.found) else None


def _cleaned(file: Given) -> Given:
    """Undo what people and terminals do to a text: quotes, colours, numbers of lines, commas."""
    text = file.text
    for each in TABLE["clean"]:
        unless = each.get("unless")
        if re.search(each.get("when", ""), text) and not (unless and re.search(unless, text)):
            put = each["put"].replace("$", "\\")
            text = re.sub(each["find"], put, text, flags=re.MULTILINE)
    return file if text == file.text else replace(file, data=text.encode())


def printed(whole: str, name: str) -> StatedText:
    """Return everything that a log reports; `name` is the name of its file."""
    read = StatedText([], [], set())
    part, is_begun = _Part(1), False
    tasks: dict[str, tuple[str, bool]] = {}
    hidden: set[str | None] = set()
    for number, line, hits in _unwrapped(whole.splitlines()):
        where, form = _where(line, hits, tasks), _signed(line)
        others = [hit for hit in hits if hit.form.of not in hidden]
        is_title = form is None and _LINE["begins"].search(line) is not None
        if is_begun and (
            is_title or part.ends_before(where) or any(part.repeats(e, where) for e in others)
        ):
            part, is_begun, others = _Part(part.number + 1), False, hits
            hidden.clear()
            if where.slot is None:
                tasks.clear()
        part.enter(where)
        if form and not hits:
            read.unread.append((number, form))
        for hit in hits:
            if hit.form.of in hidden:
                read.models.add(hit.form.of)
                continue
            is_begun = True
            hidden.add(hit.form.hides)
            _add(hit, where, part, read.found, f"{name}: line {number}")
    return read


def _add(hit: _Hit, where: _Where, part: _Part, found: list[Found], place: str) -> None:
    """Add figures to those of their request or run, else as figures of their own."""
    key, form, figures = _key(hit, where), hit.form, hit.figures
    # The task of a request may be stated after its first lines.
    own = part.last.get(key) or part.last.get(_key(hit, where._replace(task=None)))
    is_whole = form.gives in ("request", "run")
    if own is None or not is_whole or own.figures.keys() & figures.keys():
        own = Found(form=form, place="", figures={}, part=part.number, server=where.server)
        found.append(own)
    own.task, part.last[key] = where.task, own
    own.figures |= figures
    own.is_timed, own.is_alone = bool(part.times), where.is_alone
    if "once" in figures:
        part.once.add(figures["once"])
    if "kind" in figures:
        part.drafted = where.task
    part.style = part.style or figures.get("style")
    if not own.place or figures.keys() & {"rate", "s"}:
        own.place = place


def _where(line: str, hits: Sequence[_Hit], tasks: dict[str, tuple[str, bool]]) -> _Where:
    """Return the origin of a line.

    `tasks` has the last task of each server, and whether its line had nothing but a prefix: figures
    without a prefix belong to such a task.
    """
    server = match[0].strip() if (match := _LINE["server"].search(line)) else ""
    if slot := _LINE["slot"].search(line):
        tasks[server] = slot["task"], not hits
    worker = (server, slot["slot"]) if slot else None
    clock, time = server, None
    if stamp := _LINE["stamp"].search(line):
        clock, time = "date", float(re.sub(r"\D", "", stamp[0]))
    elif since := _LINE["clock"].search(line):
        time = int(since["minutes"] or 0) * 60 + float(since["seconds"])
    is_alone = _LINE["alone"].search(line) is not None
    is_other = slot is None and any(hit.form.gives == "request" for hit in hits)
    task, is_bare = tasks.get(server, (None, False))
    return _Where(server, worker, task if is_bare or not is_other else None, clock, time, is_alone)


def _key(hit: _Hit, where: _Where) -> tuple[str | None, ...]:
    """Return the subject of a line's figures: those of one subject belong together."""
    task = hit.figures.get("kind") or where.task
    return hit.form.of, where.server, task, hit.figures.get("series")


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
        matches = [match for each in form.lines if (match := each.search(line))]
        if match := min(matches, key=re.Match.start, default=None):
            figures = {name: value for name, value in match.groupdict().items() if value}
            if "row" in figures:  # remove blanks left by wrapping
                figures["row"] = figures["row"].replace(" ", "")
            found.append(_Hit(form, figures, len(figures) < match.re.groups, match.end()))
    return found


def _unwrapped(lines: list[str]) -> Iterator[tuple[int, str, list[_Hit]]]:
    """Yield each line's number, text and matches; lines that add figures to it are joined to it.

    A line that has figures after its figures is several lines in one.
    """
    at = 0
    while at < len(lines):
        whole = lines[at].rstrip()
        hits = _hits(whole)
        if (end := max((hit.end for hit in hits), default=0)) and _hits(whole[end:]):
            yield at + 1, whole[:end], hits
            lines[at] = whole[end:]
            continue
        best, taken, spaced, tight = whole, 1, whole, whole
        rest = lines[at + 1 : at + _MOST_PIECES]
        is_cut = not hits and bool(rest) and _crosses(whole, rest[0])
        for number, piece in enumerate(rest if is_cut or _signs(whole) else (), 2):
            is_whole = bool(hits) and not any(hit.is_open for hit in hits)
            if is_whole or (_signs(piece) and not (is_cut and number == 2)):  # noqa: PLR2004
                break
            spaced, tight = f"{spaced} {piece.strip()}", f"{tight}{piece.rstrip()}"
            for line in (spaced, tight):
                if _count(more := _hits(line)) > _count(hits):
                    best, taken, hits = line, number, more
        digits = lines[at + taken] if at + taken < len(lines) else ""
        if hits and best[-1:].isdecimal() and _DIGITS.fullmatch(digits):  # cut in a number
            best, taken = f"{best}{digits}", taken + 1
            hits = _hits(best)
        yield at + 1, best, hits
        at += taken


def _count(hits: Iterable[_Hit]) -> int:
    return sum(len(hit.figures) for hit in hits)


def _crosses(line: str, piece: str) -> bool:
    """Whether a form's sign begins in a line and ends in the next."""
    start = line[-_NEAR:]
    return any(
        match.start() < len(start)
        for glue in ("", " ")
        for _, match in _signs(f"{start}{glue}{piece[:_NEAR]}")
    )
