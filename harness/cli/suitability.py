"""Check that a runner can carry out what the options ask for."""

from collections.abc import Iterable

from harness.campaign import axes
from harness.campaign.methods import ChainRequest, DraftModelRequest, MethodRequest, method_type
from harness.campaign.options import Options
from harness.errors import UsageError
from harness.runners import OFFERED
from schemas.vocabulary import METHODS, RunnerEntry
from schemas.vocabulary.axes import AXES


def require_suited(options: Options, runner: str, kind: RunnerEntry) -> None:
    """Raise `UsageError` naming the runner that can, where this one cannot."""
    for request in options.methods:
        for each in request.parts if isinstance(request, ChainRequest) else (request,):
            _require_method(each, kind)
    for axis in axes.given(options):
        _require_axis(axis, axes.flag_of(axis, options), runner)
    if options.teacher_forced and not kind.forces:
        message = (
            f"{runner} cannot feed the baseline's text to the model; "
            f"leave out --teacher-forced, or use --runner {_first(_forcing())}"
        )
        raise UsageError(message)
    if any(level > 1 for level in options.concurrency) and not kind.concurrent:
        able = (name for name, each in OFFERED.items() if each.concurrent)
        message = (
            f"{runner} answers one request at a time; "
            f"leave out --concurrency, or use --runner {_first(able)}"
        )
        raise UsageError(message)


def _require_axis(axis: str, flag: str, runner: str) -> None:
    able = AXES[axis].runners
    if runner not in able:
        message = (
            f"{runner} cannot carry out {flag}; leave it out, or use --runner "
            f"{_first(name for name in OFFERED if name in able)}"
        )
        raise UsageError(message)


def _require_method(request: MethodRequest, kind: RunnerEntry) -> None:
    name = method_type(request)
    if name not in kind.methods:
        able = _first(other for other, each in OFFERED.items() if name in each.methods)
        nearest = METHODS[name].nearest
        instead = f", or --method {nearest}" if nearest in kind.methods else ""
        where = "in-process" if able == _first(_forcing()) else f"through {able}"
        message = f"{name} runs {where}: use --runner {able}{instead}"
        raise UsageError(message)
    limited = isinstance(request, DraftModelRequest) and (request.n_min or request.p_min)
    if limited and not kind.limits_drafts:
        able = _first(other for other, each in OFFERED.items() if each.limits_drafts)
        message = f"{name}: n_min and p_min are known to --runner {able} only; leave them out"
        raise UsageError(message)


def _forcing() -> Iterable[str]:
    return (name for name, each in OFFERED.items() if each.forces)


def _first(names: Iterable[str]) -> str:
    return next(iter(names))
