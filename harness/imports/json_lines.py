"""Read the objects of JSON Lines, of lists, of several objects, and of streamed answers."""

import re
from collections.abc import Iterator
from dataclasses import replace

from harness.errors import BadInputError
from harness.imports.json_object import JsonObject, parse
from harness.imports.source_files import Given, text

_CHUNK = "data:"  # a line of a streamed answer
# With `include_usage` the times are in a chunk after the one that ends the answer.
_ENDS = re.compile(r'"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]')


def lines(file: Given) -> Iterator[JsonObject]:
    """The objects of JSON Lines, of one list, or of one or several objects over any lines."""
    whole = text(file)
    try:
        value = parse(whole, file.name)
    except BadInputError:
        # Each object begins a line, indented like the first one; its contents are indented further.
        before, brace, _ = whole.partition("{")
        indent = before.rpartition("\n")[2]
        is_first = brace and not before.strip()
        objects = re.split(rf"\n(?={re.escape(indent)}\{{)", whole) if is_first else []
        if len(objects) < 2:  # noqa: PLR2004 - several
            raise
        number = 1
        for each in objects:
            if each.strip():
                place = f"{file.name}: line {number}"
                yield JsonObject.of(place, parse(each, place))
            number += each.count("\n") + 1
        return
    if isinstance(value, list):
        yield from JsonObject.of(file.name, {"": value}).children("")
    else:
        yield JsonObject.of(file.name, value)


def is_stream(file: Given) -> bool:
    """Whether a file holds streamed answers, chunk by chunk."""
    return text(file).lstrip().startswith(_CHUNK)


def last_chunks(file: Given) -> Given:
    """The final chunk of each streamed answer, one a line: it has the times of llama-server."""
    ends, repeats = [], False
    for line in filter(None, map(str.strip, text(file).splitlines())):
        chunk = line.removeprefix(_CHUNK).strip()
        is_end = '"timings"' in chunk and _ENDS.search(chunk) is not None
        if is_end and not repeats:
            ends.append(chunk)
        repeats = is_end  # the chunk after one with times repeats them
    return replace(file, data="\n".join(ends).encode() or b"{}")
