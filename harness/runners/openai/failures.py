"""What does it mean when a server does not answer as it should? A reason, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runners.base import Failure
from harness.runners.openai.key import OTHER_VARIABLE, VARIABLE
from harness.runners.openai.listing import shown
from harness.runners.server.client import ServerRefusedError, ServerSilentError

if TYPE_CHECKING:
    from harness.runners.openai.client import Client
    from harness.runners.openai.listing import Served
    from schemas.submission import Reason

_NO_KEY = (401, 403)
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_ERROR = 500
_PHRASES: tuple[tuple[str, Reason], ...] = (
    ("out of memory", "out-of-memory"),
    ("maximum context length", "context-too-small"),
    ("exceeds the available context size", "context-too-small"),
    ("context length", "context-too-small"),
)


def failure_of(error: Exception, client: Client, *, models: tuple[Served, ...] = ()) -> Failure:
    """What an exchange that went wrong means: of the server, the request or the time."""
    match error:
        case ServerSilentError(late=True):
            return Failure(reason="timed-out", detail=str(error))
        case ServerSilentError() if _is_refused(error):
            detail = f"nothing listens at {client.address}; start the server, or correct its URL"
            return Failure(reason="crashed", detail=detail)
        case ServerRefusedError():
            return _refused(error, client, models)
        case _:
            return Failure(reason="bad-answer", detail=str(error))


def _is_refused(error: ServerSilentError) -> bool:
    return isinstance(error.__cause__, ConnectionRefusedError)


def _refused(error: ServerRefusedError, client: Client, models: tuple[Served, ...]) -> Failure:
    said = str(error)
    lower = said.lower()
    reason: Reason = next((why for phrase, why in _PHRASES if phrase in lower), "bad-answer")
    return Failure(reason=reason, detail=said + _advice(error.status, client, models))


def _advice(status: int, client: Client, models: tuple[Served, ...]) -> str:
    if status in _NO_KEY:
        if client.key is None:
            return f"; the server wants a key: set {VARIABLE}"
        return f"; the server refused the key in {VARIABLE} (or {OTHER_VARIABLE})"
    if status == _NOT_FOUND and not models:
        return "; correct the URL, or look which server listens there"
    if status == _NOT_FOUND:
        return f"; it offers {shown(models)}: choose with --served-model, or correct the URL"
    if status == _TOO_MANY:
        return "; the server limits requests: lift its limit, or lower --concurrency"
    return "; its own log says more" if status >= _SERVER_ERROR else ""
