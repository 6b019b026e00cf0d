"""Check that a runner supports the given options, and has the inputs that it needs."""

from collections.abc import Callable
from operator import attrgetter

import psutil

from harness.campaign import axis_options
from harness.campaign.arms import needs_draft
from harness.campaign.method_parser import as_text
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.runners.options import ConnectionOptions
from schemas.method import DRAFT_MODEL, Method
from schemas.vocabulary import METHODS, RUNNERS, RunnerEntry
from schemas.vocabulary.axes import AXES


def require_suited(options: Options, runner: str, kind: RunnerEntry) -> None:
    """Raise `BadInputError` if this runner does not support the options.

    The error names a runner that does.
    """
    for method in options.methods:
        _require_method(method, kind)
    unable = {
        f"--{AXES[name].option}": next(each for each in RUNNERS if each in AXES[name].runners)
        for name in axis_options.given(options)
        if runner not in AXES[name].runners
    }
    for name in kind.ignores:
        if getattr(options, name) is not None:
            flag = Options.__dataclass_fields__[name].metadata["option"].flag(name)
            unable[flag] = next(each.id for each in RUNNERS.values() if name not in each.ignores)
    for flag, other in unable.items():
        instead = f"or use --runner {other}"
        if kind.behind_servers:
            instead = "and pass it to the server itself"
        raise BadInputError(f"{runner} does not support {flag}; leave it out, {instead}")
    if options.threads and options.threads > (cpus := psutil.cpu_count() or options.threads):
        raise BadInputError(
            f"--threads {options.threads}: this machine has {cpus} CPU threads; give at most {cpus}"
        )
    if any(level > 1 for level in options.concurrency) and not kind.concurrent:
        able = _first(attrgetter("concurrent"))
        raise BadInputError(
            f"{runner} answers one request at a time; leave out --concurrency, or use --runner "
            f"{able}"
        )


def require_servers(options: Options, connection: ConnectionOptions) -> None:
    """Raise `BadInputError`, naming every option that a measurement through servers still needs."""
    started, named = connection.server_command, options.target or connection.model
    by_command = started or connection.spec_server_commands
    alone = connection.plain_alone
    drafts = options.drafts or not any(map(needs_draft, options.methods))
    plain, drafting = "--base-url URL", "--spec-base-url URL"
    if by_command:
        plain, drafting = "--server-command COMMAND", "--spec-server-command COMMAND"
    spec = connection.spec_base_urls or connection.spec_server_commands or connection.spec_models
    there = {
        f"{plain} (a server without speculation)": started or connection.base_url,
        f"{drafting} (the same with speculation)": spec or alone,
        "--method METHOD (how the server with speculation drafts)": options.methods or alone,
        "--draft NAME": drafts,
        "--target NAME": named or not started,
    }
    missing = [words for words, given in there.items() if not given]
    if not missing:
        return
    servers = (
        "--server-command 'SERVER --port {port}' --spec-server-command 'SERVER … --port {port}'"
        if by_command
        else f"--base-url {connection.base_url or 'URL'} "
        f"--spec-base-url {next(iter(connection.spec_base_urls), 'URL2')}"
    )
    given = [f"--method {as_text(method)}" for method in options.methods]
    given = given or [f"--method {DRAFT_MODEL}:n_max=N"]
    given += [] if options.methods and drafts else ["--draft NAME"]
    given += ["--target NAME"] if started and not named else []
    whole = f". Full command: python -m harness {connection.command} {servers} {' '.join(given)}"
    raise BadInputError(f"missing: {', '.join(missing)}{'' if alone else whole}")


def _require_method(method: Method, kind: RunnerEntry) -> None:
    lacking = next((name for name in method.types if name not in kind.methods), None)
    if lacking is not None:
        able = _first(lambda other: lacking in other.methods)
        nearest = METHODS[lacking].nearest
        instead = f", or --method {nearest}" if nearest in kind.methods else ""
        where = "in-process" if able == next(iter(RUNNERS)) else f"through {able}"
        raise BadInputError(f"{lacking} runs {where}: use --runner {able}{instead}")
    limited = method.type == DRAFT_MODEL and (method.n_min or method.p_min)
    if limited and not kind.limits_drafts:
        able = _first(attrgetter("limits_drafts"))
        raise BadInputError(
            f"{DRAFT_MODEL}: only --runner {able} supports n_min and p_min; leave n_min and "
            "p_min out"
        )


def _first(can: Callable[[RunnerEntry], bool]) -> str:
    return next(name for name, each in RUNNERS.items() if can(each))
