"""The runners, one entry each. Nothing here loads an engine: a runner is imported when it is used.

No module of a runner imports this one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness.campaign.build import DEFAULT_METHODS
from harness.campaign.methods import DraftModelRequest, MethodRequest, parse
from harness.campaign.model import Campaign, Interleaved
from harness.runners.base import ConnectionOptions, Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerKind:
    """What a runner can do. `methods` are types of the format that it can measure.

    `interleaved` says when its arms take turns, `concurrent` whether it answers several requests
    at once, `behind_servers` whether its models may be on no disk of ours. `build` raises
    `BadInputError` when the options do not say how to connect to the engine, `check` when the
    engine does not fit the campaign. `limits_drafts` says whether a draft can have a least length
    and probability, `forces` whether the baseline's text can be fed to the model. `identify` names
    the engine so that two can be distinguished. `preview` gives the command lines that would be
    started, one for each arm; it raises `BadInputError` for an arm that the engine cannot run.
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
    check: Callable[[ConnectionOptions, Campaign], None] | None = None
    identify: Callable[[ConnectionOptions], str] | None = None
    preview: Callable[[Campaign, ConnectionOptions], tuple[str, ...]] | None = None


def _llama_cpp_python(options: ConnectionOptions) -> Runner:
    from harness.runners.inprocess.isolated import (  # noqa: PLC0415 - only where asked for
        Isolated,
        LlamaCppPython,
    )

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
    from harness.runners.openai.endpoints import check, endpoints  # noqa: PLC0415 - only where asked for

    check(endpoints(options), campaign)


def _openai_preview(campaign: Campaign, options: ConnectionOptions) -> tuple[str, ...]:
    from harness.runners.openai.endpoints import command_lines, endpoints  # noqa: PLC0415 - as above

    return command_lines(endpoints(options), campaign)


def _fake(_options: ConnectionOptions) -> Runner:
    from harness.runners.fake import FakeRunner  # noqa: PLC0415 - only where it is asked for

    return FakeRunner()


_SERVER_METHODS = frozenset(
    {
        "none", "draft-model", "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod",
        "ngram-cache", "mtp", "eagle3", "dflash", "dspark",
    }
)  # fmt: skip
_BY_SERVERS = frozenset(
    {
        "draft-model", "prompt-lookup", "ngram-simple", "ngram-map-k", "ngram-map-k4v",
        "ngram-mod", "ngram-cache", "suffix", "mtp", "eagle3", "dflash", "dspark",
    }
)  # fmt: skip
_CONTROLS = frozenset({"none", "empty-draft", "oracle"})

# For tests: its clock runs ahead of ours, so that long campaigns of it break the format's rules.
MADE_UP = "fake"

RUNNERS: dict[str, RunnerKind] = {
    "llama-cpp-python": RunnerKind(
        summary="runs the model in this program's own engine",
        interleaved="prompt",
        concurrent=False,
        methods=frozenset({"draft-model", "prompt-lookup"}) | _CONTROLS,
        default_methods=DEFAULT_METHODS,
        build=_llama_cpp_python,
        forces=True,
    ),
    "llama-server": RunnerKind(
        summary="starts any llama-server binary (--server-binary), a fresh one per arm and block",
        interleaved="block",
        concurrent=True,
        methods=_SERVER_METHODS,
        default_methods=(DraftModelRequest(n_max=4), parse("ngram-simple")),
        build=_llama_server,
        limits_drafts=True,
        identify=_llama_server_identity,
        preview=_llama_server_preview,
    ),
    "openai": RunnerKind(
        summary="asks servers that speak OpenAI's protocol: vLLM, SGLang, LM Studio and others",
        interleaved="block",
        concurrent=True,
        methods=_BY_SERVERS | {"none"},
        default_methods=(),
        build=_openai,
        limits_drafts=True,
        behind_servers=True,
        check=_check_servers,
        preview=_openai_preview,
    ),
    MADE_UP: RunnerKind(
        summary="makes figures up",
        interleaved="prompt",
        concurrent=True,
        methods=frozenset({"draft-model", "prompt-lookup"}) | _CONTROLS,
        default_methods=DEFAULT_METHODS,
        build=_fake,
        forces=True,
    ),
}

OFFERED = {name: kind for name, kind in RUNNERS.items() if name != MADE_UP}
