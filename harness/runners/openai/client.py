"""How is a server asked? Plain HTTP with JSON, one connection per question; answers may stream."""

import http.client
import json
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from harness.runners.http.client import ServerRefusedError, ServerSilentError, one_line
from harness.runners.llama_server.exchange import BadAnswerError
from harness.runners.openai.address import Address, without_key
from schemas.codec import Json

_OK = 200
_MOST_BYTES = 64 * 1024 * 1024
_LONGEST_LINE = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A server's address, how long to wait for an answer, and the key that it may want."""

    address: Address
    limit_s: float
    key: str | None = field(default=None, repr=False)

    def get(self, path: str) -> Json:
        """The JSON at a path. Raises `ServerSilentError` or `ServerRefusedError`."""
        return _json(self.text(path), path)

    def text(self, path: str) -> str:
        """The text at a path. Raises as `get` does."""
        with self._asked("GET", path, None) as response:
            return _whole(response)

    def software(self, path: str) -> str | None:
        """What the server calls itself in the header of an answer. Raises as `get` does."""
        with self._asked("GET", path, None) as response:
            return response.getheader("Server")

    def post(self, path: str, body: Json) -> Json:
        """The JSON answer to a JSON question. Raises as `get` does."""
        with self._asked("POST", path, body) as response:
            return _json(_whole(response), path)

    def lines(self, path: str, body: Json) -> Iterator[bytes]:
        """The lines of a streamed answer, each as soon as it is there. Raises as `get` does."""
        until = time.monotonic() + self.limit_s
        with self._asked("POST", path, body) as response:
            while line := response.readline(_LONGEST_LINE):
                if time.monotonic() > until:
                    raise self._late(path)
                yield line

    @contextmanager
    def _asked(self, verb: str, path: str, body: Json | None) -> Iterator[http.client.HTTPResponse]:
        connection = self._connection()
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(verb, path, data, self._headers(with_body=data is not None))
            response = connection.getresponse()
            if response.status != _OK:
                said = without_key(one_line(_whole(response)), self.key)
                raise ServerRefusedError(response.status, said)
            yield response
        except TimeoutError as error:
            raise self._late(path) from error
        except (OSError, http.client.HTTPException) as error:
            message = f"no answer to {path} from {self.address}: {error or type(error).__name__}"
            raise ServerSilentError(message) from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if self.address.secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=self.limit_s, context=context)
        return http.client.HTTPConnection(host, port, timeout=self.limit_s)

    def _headers(self, *, with_body: bool) -> dict[str, str]:
        headers = {"Content-Type": "application/json"} if with_body else {}
        return {**headers, "Authorization": f"Bearer {self.key}"} if self.key else headers

    def _late(self, path: str) -> ServerSilentError:
        message = f"no answer to {path} within {self.limit_s:.0f} s; raise --answer-timeout"
        return ServerSilentError(message, late=True)


def _whole(response: http.client.HTTPResponse) -> str:
    return response.read(_MOST_BYTES).decode("utf-8", "replace")


def _json(text: str, path: str) -> Json:
    try:
        answer: Json = json.loads(text)
    except ValueError as error:
        message = f"the answer to {path} is not JSON"
        raise ServerSilentError(message) from error
    return answer


_END = b"[DONE]"
_SHOWN = 80


def events(lines: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """The JSON objects of a stream, each when its line is there.

    Raises `BadAnswerError` for a line that is none, an error that the server tells in the middle,
    and a stream that ends without its end mark.
    """
    for line in lines:
        name, _, data = line.strip().partition(b":")
        if name != b"data":
            continue  # blank lines part events, others are comments or names of events
        data = data.strip()
        if data == _END:
            return
        yield _event(data)
    message = "the stream was cut off before its end"
    raise BadAnswerError(message)


def _event(data: bytes) -> dict[str, Json]:
    try:
        value: Json = json.loads(data)
    except ValueError as error:
        shown = data[:_SHOWN].decode("utf-8", "replace")
        message = f"a line of the stream is not JSON: {shown}"
        raise BadAnswerError(message) from error
    if not isinstance(value, dict):
        message = "a line of the stream is no JSON object"
        raise BadAnswerError(message)
    if value.get("error"):
        message = f"the server broke off: {one_line(data.decode('utf-8', 'replace'))}"
        raise BadAnswerError(message)
    return value
