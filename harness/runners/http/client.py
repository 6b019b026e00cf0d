"""How is a server on this machine asked? Plain HTTP with JSON, one connection per question."""

import http.client
import json
from dataclasses import dataclass

from schemas.codec import Json

_OK = 200


class ServerSilentError(Exception):
    """No complete answer came: refused, cut off or too late. `late` says that it was the last."""

    def __init__(self, detail: str, *, late: bool = False) -> None:
        super().__init__(detail)
        self.late = late


class ServerRefusedError(Exception):
    """The server answered that it will not; the message is its own, cut to one line."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"HTTP {status}: {message}")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A server's address and how long to wait for it."""

    host: str
    port: int
    limit_s: float

    def get(self, path: str) -> str:
        """The text at a path. Raises `ServerSilentError` or `ServerRefusedError`."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Json) -> Json:
        """The JSON answer to a JSON question. Raises as `get` does, also for a broken answer."""
        text = self._ask("POST", path, json.dumps(body).encode())
        try:
            answer: Json = json.loads(text)
        except ValueError as error:
            message = f"the answer to {path} is not JSON"
            raise ServerSilentError(message) from error
        return answer

    def _ask(self, verb: str, path: str, body: bytes | None) -> str:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.limit_s)
        headers = {"Content-Type": "application/json"} if body else {}
        try:
            connection.request(verb, path, body, headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except TimeoutError as error:
            message = f"no answer to {path} within {self.limit_s:.0f} s"
            raise ServerSilentError(message, late=True) from error
        except (OSError, http.client.HTTPException) as error:
            message = f"no answer to {path}: {error or type(error).__name__}"
            raise ServerSilentError(message) from error
        finally:
            connection.close()
        if response.status != _OK:
            raise ServerRefusedError(response.status, one_line(text))
        return text


_PAGE_STARTS = ("<!doctype html", "<html")
_WEB_PAGE = "a web page, not the answer of a server for models"


def one_line(text: str) -> str:
    """The server's message: `error.message` of its JSON, or the start of whatever it said."""
    try:
        said = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        said = _WEB_PAGE if text.lstrip().lower().startswith(_PAGE_STARTS) else text
    return " ".join(str(said).split())[:200]
