"""The HTTP client of all server runners: JSON, one connection for each request.

One deadline covers a whole answer, even if its bytes arrive slowly. httpx and http.client only have
timeouts for single reads, so this module adds a small class to the standard library's client.
"""

import http.client
import io
import json
import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from schemas.codec import Json

_OK = 200
_REDIRECTS = range(300, 400)
_MOST_BYTES = 64 * 1024 * 1024
_PIECE = 64 * 1024
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LONGEST_REFUSAL = 64 * 1024
_SHOWN = 200
_PAGE_STARTS = ("<!doctype html", "<html")
_WEB_PAGE = "a web page, not a model server's answer"


class ServerError(Exception):
    """The server's answer is missing or unusable."""


class ServerSilentError(ServerError):
    """No complete answer arrived: the connection failed or broke, or the time ran out (`late`)."""

    def __init__(self, detail: str, *, late: bool = False) -> None:
        super().__init__(detail)
        self.late = late


class ServerRefusedError(ServerError):
    """The server refused a request; the message is the server's, cut to one line."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"HTTP {status}: {message}")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A server on this machine.

    `api` is the path of the OpenAI routes, `root` the prefix of all paths.
    """

    host: str
    port: int
    secure: bool = False
    root: str = ""
    api: str = "/v1"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.root}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client of one server: its address, its API key, if any, and the time limit per answer.

    Every request raises `ServerSilentError` or `ServerRefusedError` if it fails.
    """

    address: ServerAddress
    limit_s: float
    key: str | None = field(default=None, repr=False)

    def get(self, path: str) -> Json:
        return as_json(self.text(path), path)

    def text(self, path: str) -> str:
        with self._asked("GET", path, None) as response:
            return _whole(response, path)

    def listens(self) -> bool:
        """Whether any program accepts connections at the address now."""
        try:
            socket.create_connection((self.address.host, self.address.port), self.limit_s).close()
        except OSError:
            return False
        return True

    def software(self, path: str) -> str | None:
        """Request a path and return the `Server` header, in which the server names its software."""
        with self._asked("GET", path, None) as response:
            return response.getheader("Server")

    def post(self, path: str, body: Json) -> Json:
        with self._asked("POST", path, body) as response:
            return as_json(_whole(response, path), path)

    def lines(self, path: str, body: Json) -> Iterator[bytes]:
        """Yield the lines of a streamed answer, each as soon as it arrives."""
        with self._asked("POST", path, body) as response:
            yield from _lines(response, path)

    @contextmanager
    def _asked(self, verb: str, path: str, body: Json | None) -> Iterator[http.client.HTTPResponse]:
        until_s = time.monotonic() + self.limit_s
        connection = self._connection()
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.connect()
            connection.request(verb, path, data, headers)
            with _Response(connection.sock, until_s=until_s, method=verb) as response:
                response.begin()
                if response.status != _OK:
                    raise ServerRefusedError(response.status, self._refusal(response))
                yield response
        except TimeoutError as error:
            message = f"no answer to {path} within {self.limit_s:g} s; raise --timeout"
            raise ServerSilentError(message, late=True) from error
        except ssl.SSLError as error:
            message = f"{self.address} does not support TLS; write http:// in its URL"
            if isinstance(error, ssl.SSLCertVerificationError):
                message = (
                    f"the certificate of {self.address} is not trusted: {error.verify_message}"
                )
            raise ServerSilentError(message) from error
        except (OSError, http.client.HTTPException) as error:
            why = printable(str(error))[:_SHOWN] or type(error).__name__
            raise ServerSilentError(f"no answer to {path} from {self.address}: {why}") from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if self.address.secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=self.limit_s, context=context)
        return http.client.HTTPConnection(host, port, timeout=self.limit_s)

    def _refusal(self, response: http.client.HTTPResponse) -> str:
        if response.status in _REDIRECTS:
            return "the server redirects to another address; give that address as the server's URL"
        text = response.read(_LONGEST_REFUSAL).decode("utf-8", "replace")
        return without_key(one_line(text), self.key)


class _Response(http.client.HTTPResponse):
    """A response with an overall deadline, headers included."""

    def __init__(self, sock: socket.socket, *, until_s: float, method: str) -> None:
        super().__init__(sock, method=method)
        unlimited, self.fp = self.fp, io.BufferedReader(_Reads(sock, until_s))
        unlimited.close()


class _Reads(io.RawIOBase):
    """A reader of a socket; each read is limited to the time left until a deadline."""

    def __init__(self, sock: socket.socket, until_s: float) -> None:
        self._sock = sock
        self._bytes = sock.makefile("rb", buffering=0)
        self._until_s = until_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._sock.settimeout(left_s)
        return self._bytes.readinto(buffer)

    def close(self) -> None:
        self._bytes.close()
        super().close()


def _lines(response: http.client.HTTPResponse, path: str) -> Iterator[bytes]:
    """Yield lines without their line break; event streams have three kinds of line breaks."""
    held, read, halved = bytearray(), 0, False
    while piece := response.read1(_PIECE):
        read += len(piece)
        if read > _MOST_BYTES:
            raise _too_large(path)
        first, *others = _LINE_END.split(piece.removeprefix(b"\n" if halved else b""))
        held += first
        for other in others:
            yield bytes(held)
            held = bytearray(other)
        halved = piece.endswith(b"\r")  # a \r\n may be split between two pieces
    yield bytes(held)


def _whole(response: http.client.HTTPResponse, path: str) -> str:
    data = response.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise _too_large(path)
    if response.length:
        raise ServerSilentError(f"the answer to {path} was cut off")
    return data.decode("utf-8", "replace")


def _too_large(path: str) -> ServerSilentError:
    most = _MOST_BYTES // 1024**2
    return ServerSilentError(
        f"the answer to {path} is larger than {most} MiB, the most that the harness reads"
    )


def as_json(text: str, path: str) -> Json:
    """Parse the answer to a request for `path`. Raises `ServerSilentError` if it is not JSON."""
    try:
        return parsed(text)
    except ValueError as error:
        raise ServerSilentError(f"the answer to {path} is not JSON") from error


def parsed(text: str) -> Json:
    """Parse JSON so that all strings can be encoded as UTF-8. Raises `ValueError` for invalid JSON.

    An unpaired surrogate (such as the escape D800) cannot be encoded, so it is replaced by `?`.
    """
    try:
        answer: Json = json.loads(text)
        if "\\ud" in text.lower():
            answer = json.loads(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError(*error.args) from error
    return answer


def one_line(text: str) -> str:
    """Return a server's message: `error.message` in the JSON, else the start of the text."""
    try:
        message = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        message = _WEB_PAGE if text.lstrip().lower().startswith(_PAGE_STARTS) else text
    return printable(str(message))[:_SHOWN]


def printable(text: str) -> str:
    """Return a string on one line, without control characters."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def without_key(text: str, key: str | None) -> str:
    """Remove the API key from a text, since servers repeat keys in their messages."""
    return text.replace(key, "(the key)") if key else text
