"""Read the objects of JSON Lines, of lists, of several objects, and of streamed answers."""

import re
from collections.abc import Iterator
from dataclasses import replace

from harness.errors import BadInputError
from harness.importers.files import Given, text
from harness.importers.json_object import JsonObject, parse

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]\n]')
_CHUNK = "data:"  # a line of a streamed answer
# With `include_usage` the times are in a chunk after the one that ends the answer.
_ENDS = re.compile(r'"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]')


def lines(file: Given) -> Iterator[JsonObject]:
    """The objects of JSON Lines, of one list, or one object or several, over any lines."""
    whole = text(file)
    try:
        value = parse(whole, file.name)
    except BadInputError:
        rows = whole if _is_one_line(whole) else _one_a_line(whole)
        if not _is_one_line(rows) or rows.strip().count("\n") == 0:
            raise
        yield from _by_line(file, rows)
        return
    if isinstance(value, list):
        yield from JsonObject.of(file, {"": value}).children("")
    else:
        yield JsonObject.of(file, value)


def is_stream(file: Given) -> bool:
    """Whether a file holds streamed answers, chunk by chunk."""
    return text(file).lstrip().startswith(_CHUNK)


def last_chunks(file: Given) -> Given:
    """The chunk that ends each streamed answer, one a line: it has the times of llama-server."""
    chunks = [line[len(_CHUNK) :].strip() for line in text(file).splitlines() if line.strip()]
    before = ["", *chunks]  # a chunk after one with times repeats them
    ends = [each for each, last in zip(chunks, before, strict=False) if _ends(each, last)]
    return replace(file, data="\n".join(ends).encode() or b"{}")


def _is_one_line(whole: str) -> bool:
    """Whether the first line looks like a whole object, as in JSON Lines."""
    first = next((line.strip() for line in whole.split("\n") if line.strip()), "")
    return first.startswith("{") and first.endswith("}")


def _one_a_line(whole: str) -> str:
    """Objects over several lines, each joined on its first one; the lines after it stay empty."""
    depth = held = 0

    def placed(token: re.Match[str]) -> str:
        nonlocal depth, held
        sign = token[0]
        if sign == "\n" and depth:
            held += 1
            return " "
        depth += (sign in "{[") - (sign in "}]")
        if depth or not held:
            return sign
        ends, held = "\n" * held, 0
        return sign + ends

    return _TOKENS.sub(placed, whole)


def _by_line(file: Given, whole: str) -> Iterator[JsonObject]:
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            place = f"{file.name}: line {number}"
            yield JsonObject.of(file, parse(line, place), place)


def _ends(chunk: str, last: str) -> bool:
    is_end, was_end = ('"timings"' in each and _ENDS.search(each) for each in (chunk, last))
    return bool(is_end and not was_end)
