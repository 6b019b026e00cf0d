"""The runners, one entry each. Nothing here loads an engine: a runner is imported when it is used.

No module of a runner imports this one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness.campaign.methods import MethodRequest, parse
from harness.campaign.model import Campaign, Interleaved
from harness.runners.base import Runner
from harness.runners.options import ConnectionOptions
from schemas import vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerKind:
    """What a runner can do. `methods` are types of the format that it can measure.

    `interleaved` says when its arms take turns, `concurrent` whether it answers several requests
    at once, `behind_servers` whether its models may be on no disk of ours. `build` raises
    `BadInputError` when the options do not say how to connect to the engine, `check` when the
    engine does not fit the campaign. `limits_drafts` says whether a draft can have a least length
    and probability, `forces` whether the baseline's text can be fed to the model. `axes` are the
    options of `AxisOptions` that it can carry out. `identify` names the engine so that two can be
    distinguished. `preview` gives the command lines that would be started, one for each arm; it
    raises `BadInputError` for an arm that the engine cannot run.
    """

    summary: str
    interleaved: Interleaved
    concurrent: bool
    methods: frozenset[str]
    default_methods: tuple[MethodRequest, ...]
    build: Callable[[ConnectionOptions], Runner]
    behind_servers: bool = False
    limits_drafts: bool = False
    forces: bool = False
    axes: frozenset[str] = frozenset()
    check: Callable[[ConnectionOptions, Campaign], None] | None = None
    identify: Callable[[ConnectionOptions], str] | None = None
    preview: Callable[[Campaign, ConnectionOptions], tuple[str, ...]] | None = None


def _llama_cpp_python(options: ConnectionOptions) -> Runner:
    from harness.runners.inprocess.isolated import Isolated, LlamaCppPython  # noqa: PLC0415

    return Isolated(LlamaCppPython(), answer_limit_s=options.answer_limit_s)


def _llama_server(options: ConnectionOptions) -> Runner:
    from harness.runners.llama_server.session import LlamaServer  # noqa: PLC0415 - only where asked for

    return LlamaServer(options)


def _llama_server_identity(options: ConnectionOptions) -> str:
    from harness.runners.llama_server.binary import find  # noqa: PLC0415 - only where asked for

    return find(options.binary).identity()


def _llama_server_preview(campaign: Campaign, options: ConnectionOptions) -> tuple[str, ...]:
    from harness.runners.llama_server.launch import command_lines  # noqa: PLC0415 - as above

    return command_lines(campaign, options.binary)


def _openai(options: ConnectionOptions) -> Runner:
    from harness.runners.openai.session import OpenAiServer  # noqa: PLC0415 - only where asked for

    return OpenAiServer(options)


def _check_servers(options: ConnectionOptions, campaign: Campaign) -> None:
    from harness.runners.openai.endpoints import check, endpoints  # noqa: PLC0415

    check(endpoints(options), campaign)


def _openai_preview(campaign: Campaign, options: ConnectionOptions) -> tuple[str, ...]:
    from harness.runners.openai.endpoints import command_lines, endpoints  # noqa: PLC0415

    return command_lines(endpoints(options), campaign)


def _fake(_options: ConnectionOptions) -> Runner:
    from harness.runners.fake import FakeRunner  # noqa: PLC0415 - only where it is asked for

    return FakeRunner()


def _kind(
    name: str,
    build: Callable[[ConnectionOptions], Runner],
    *,
    check: Callable[[ConnectionOptions, Campaign], None] | None = None,
    identify: Callable[[ConnectionOptions], str] | None = None,
    preview: Callable[[Campaign, ConnectionOptions], tuple[str, ...]] | None = None,
) -> RunnerKind:
    """The runner with what `runners.toml` and `methods.toml` say of it."""
    entry = vocabulary.RUNNERS[name]
    return RunnerKind(
        summary=entry.summary,
        interleaved=entry.interleaved,
        concurrent=entry.concurrent,
        methods=frozenset(each.id for each in vocabulary.METHODS.values() if name in each.runners),
        default_methods=tuple(map(parse, entry.default_methods)),
        build=build,
        behind_servers=entry.behind_servers,
        limits_drafts=entry.limits_drafts,
        forces=entry.forces,
        axes=frozenset(f"--{name}" for name in entry.axes),
        check=check,
        identify=identify,
        preview=preview,
    )


RUNNERS = {
    "llama-cpp-python": _kind("llama-cpp-python", _llama_cpp_python),
    "llama-server": _kind(
        "llama-server",
        _llama_server,
        identify=_llama_server_identity,
        preview=_llama_server_preview,
    ),
    "openai": _kind("openai", _openai, check=_check_servers, preview=_openai_preview),
    # For tests: its clock runs ahead of ours, so long campaigns of it break the format's rules.
    "fake": _kind("fake", _fake),
}

OFFERED = {name: kind for name, kind in RUNNERS.items() if vocabulary.RUNNERS[name].offered}
