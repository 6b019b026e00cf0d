"""Read JSON objects from JSON Lines, lists, concatenated objects, and streamed answers."""

import re
from collections.abc import Iterator
from dataclasses import replace

from harness.errors import BadInputError
from harness.imports.json_object import JsonObject, parse
from harness.imports.source_files import Given, text

_CHUNK = "data:"  # begins each line of a streamed answer
# With `include_usage`, the times are in a chunk after the chunk that ends the answer.
_ENDS = re.compile(r'"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]')


def lines(file: Given) -> Iterator[JsonObject]:
    """Yield the objects of JSON Lines, of a list, or of objects that span several lines."""
    whole = text(file)
    try:
        value = parse(whole, file.name)
    except BadInputError:
        # Each object begins a line with the first object's indentation; its contents are indented
        # further.
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
    """Whether a file contains streamed answers, chunk by chunk."""
    return text(file).lstrip().startswith(_CHUNK)


def last_chunks(file: Given) -> Given:
    """Return a file with one line per streamed answer: its last chunk, which has the timings."""
    ends, repeats = [], False
    for line in filter(None, map(str.strip, text(file).splitlines())):
        chunk = line.removeprefix(_CHUNK).strip()
        is_end = '"timings"' in chunk and _ENDS.search(chunk) is not None
        if is_end and not repeats:
            ends.append(chunk)
        repeats = is_end  # the chunk after a chunk with times repeats the times
    return replace(file, data="\n".join(ends).encode() or b"{}")
