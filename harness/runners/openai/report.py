"""Report the engine and settings of a server, as far as it states them."""

from dataclasses import replace
from typing import get_args

from harness.campaign.axes import recorded
from harness.campaign.model import Campaign
from harness.errors import BadInputError, suggestion
from harness.machine.detect import machine
from harness.runners.base import EngineReport
from harness.runners.openai.identity import ServerIdentity
from harness.runners.openai.models import Served
from schemas.rig import Backend
from schemas.submission import Engine, Machine

_BACKENDS: dict[str, Backend] = {name: name for name in get_args(Backend)}
# How builds for one backend mark their version: `0.32.0+cpu`, `0.11.0+cu129`, `0.9.1+rocm631`.
_MARKS: tuple[tuple[str, Backend], ...] = (("cpu", "cpu"), ("cu", "cuda"), ("rocm", "rocm"))


def report_on(
    identity: ServerIdentity, served: Served, campaign: Campaign, backend: str | None
) -> EngineReport:
    """Engine and settings. An unknown backend is `other`, on a machine without a GPU `cpu`."""
    return EngineReport(
        engine=Engine(
            runner="openai",
            name=identity.shown_name,
            version=identity.version or "unknown",  # a measured campaign must name one
            commit=identity.commit,
            build_number=identity.build_number,
            backend=_BACKENDS[backend] if backend else backend_of(identity, machine()),
        ),
        settings=replace(
            recorded(campaign.settings, "openai"), context_tokens=served.context_tokens
        ),
    )


def backend_of(identity: ServerIdentity, described: Machine) -> Backend:
    """The backend in the mark of a version; without a GPU there is only the processor."""
    mark = (identity.version or "").partition("+")[2]
    unmarked: Backend = "other" if described.gpus else "cpu"
    return next((backend for start, backend in _MARKS if mark.startswith(start)), unmarked)


def check_backend(name: str | None) -> None:
    """Raise `BadInputError` for a backend that the format does not know."""
    if name is not None and name not in _BACKENDS:
        message = f"unknown --backend {name!r}.{suggestion(name, _BACKENDS)}"
        raise BadInputError(message)
