"""Read the server-sent events of a streamed answer."""

from collections.abc import Iterable, Iterator

from harness.runners.http import client
from harness.runners.http.values import BadAnswerError
from schemas.codec import Json

_END = b"[DONE]"
_SHOWN = 80


def events(lines: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """The JSON objects of a stream, each when its line is there.

    Raises `BadAnswerError` for a line that is not a JSON object, for an error that the server
    reports midway, and for a stream without its end mark.
    """
    for line in lines:
        name, _, data = line.strip().partition(b":")
        if name != b"data":
            continue  # blank lines separate events, others are comments or names of events
        data = data.strip()
        if data == _END:
            return
        yield _event(data)
    message = "the stream was cut off before its end"
    raise BadAnswerError(message)


def _event(data: bytes) -> dict[str, Json]:
    try:
        value = client.parsed(data.decode("utf-8", "replace"))
    except ValueError as error:
        shown = data[:_SHOWN].decode("utf-8", "replace")
        message = f"a line of the stream is not JSON: {shown}"
        raise BadAnswerError(message) from error
    if not isinstance(value, dict):
        message = "a line of the stream is not a JSON object"
        raise BadAnswerError(message)
    if value.get("error"):
        message = f"the server broke off: {client.one_line(data.decode('utf-8', 'replace'))}"
        raise BadAnswerError(message)
    return value
