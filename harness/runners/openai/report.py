"""What goes into a result about the engine and its settings? What the server says, nothing else."""

from typing import get_args

from harness.campaign.model import Campaign
from harness.errors import BadInputError, suggestion
from harness.machine.detect import machine
from harness.runners.base import EngineReport, Failure
from harness.runners.devices import Backend
from harness.runners.http.client import ServerRefusedError, ServerSilentError
from harness.runners.openai.address import OTHER_VARIABLE, VARIABLE
from harness.runners.openai.client import Client
from harness.runners.openai.identity import Identity, Served, shown
from schemas.submission import Engine, Machine, Reason, Settings

_BACKENDS: dict[str, Backend] = {name: name for name in get_args(Backend)}
# How builds for one backend mark their version: `0.32.0+cpu`, `0.11.0+cu129`, `0.9.1+rocm631`.
_MARKS: tuple[tuple[str, Backend], ...] = (("cpu", "cpu"), ("cu", "cuda"), ("rocm", "rocm"))


def report_on(
    identity: Identity, served: Served, campaign: Campaign, backend: str | None
) -> EngineReport:
    """Engine and settings. A backend that nobody tells is `other`, the processor where all is."""
    return EngineReport(
        engine=Engine(
            runner="openai",
            name=identity.shown_name,
            version=identity.version or "unknown",  # a measured campaign must name one
            commit=identity.commit,
            build_number=identity.build_number,
            backend=_BACKENDS[backend] if backend else backend_of(identity, machine()),
        ),
        settings=Settings(
            sampling="greedy",
            max_output_tokens=campaign.settings.max_output_tokens,
            context_tokens=served.context_tokens,
        ),
    )


def backend_of(identity: Identity, described: Machine) -> Backend:
    """The backend in the mark of a version; without a GPU there is only the processor."""
    mark = (identity.version or "").partition("+")[2]
    unmarked: Backend = "other" if described.gpus else "cpu"
    return next((backend for start, backend in _MARKS if mark.startswith(start)), unmarked)


def check_backend(name: str | None) -> None:
    """Raise `BadInputError` for a backend that the format does not know."""
    if name is not None and name not in _BACKENDS:
        message = f"--backend {name!r} is none.{suggestion(name, _BACKENDS)}"
        raise BadInputError(message)


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
