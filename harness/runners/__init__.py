"""Which engines can the harness reach? A registry to grep: one entry per runner.

Nothing here loads an engine: what a runner can do is known before it is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.campaign import DEFAULT_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.methods import MethodRequest
    from harness.model import Campaign, Interleaved
    from harness.runners.base import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How an engine is reached: what the command line says beside the campaign."""

    binary: str | None = None
    startup_limit_s: float = 300.0
    answer_limit_s: float = 900.0
    base_url: str | None = None
    spec_base_urls: tuple[str, ...] = ()
    server_command: str | None = None
    spec_server_commands: tuple[str, ...] = ()
    model: str | None = None
    backend: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerKind:
    """What a runner can do. `methods` are types of the format that it can measure.

    `interleaved` says when its arms take turns, `concurrent` whether it answers several requests
    at once, `behind_servers` whether its models may be on no disk of ours. `build` raises
    `BadInputError` when the options do not say how to reach the engine, `check` when what they
    reach does not fit the campaign.
    """

    summary: str
    interleaved: Interleaved
    concurrent: bool
    methods: frozenset[str]
    default_methods: tuple[MethodRequest, ...]
    build: Callable[[Reach], Runner]
    behind_servers: bool = False
    check: Callable[[Reach, Campaign], None] | None = None


def _llama_cpp_python(reach: Reach) -> Runner:
    from harness.runners.isolated import Isolated  # noqa: PLC0415 - loads the engine
    from harness.runners.llama.runner import LlamaCppPython  # noqa: PLC0415 - loads the engine

    return Isolated(LlamaCppPython(), answer_limit_s=reach.answer_limit_s)


def _openai(reach: Reach) -> Runner:
    from harness.runners.openai.runner import OpenAiServer  # noqa: PLC0415 - only where asked for

    return OpenAiServer(reach)


def _check_servers(reach: Reach, campaign: Campaign) -> None:
    from harness.runners.openai.doors import check, doors  # noqa: PLC0415 - only where asked for

    check(doors(reach), campaign)


def _fake(_reach: Reach) -> Runner:
    from harness.runners.fake import FakeRunner  # noqa: PLC0415 - only where it is asked for

    return FakeRunner()


_BY_SERVERS = frozenset(
    {
        "draft-model", "prompt-lookup", "ngram-simple", "ngram-map-k", "ngram-map-k4v",
        "ngram-mod", "ngram-cache", "suffix", "mtp", "eagle3", "dflash", "dspark",
    }
)  # fmt: skip
_CONTROLS = frozenset({"none", "empty-draft", "oracle"})

RUNNERS: dict[str, RunnerKind] = {
    "llama-cpp-python": RunnerKind(
        summary="runs the model in this program's own engine",
        interleaved="prompt",
        concurrent=False,
        methods=frozenset({"draft-model", "prompt-lookup"}) | _CONTROLS,
        default_methods=DEFAULT_METHODS,
        build=_llama_cpp_python,
    ),
    "openai": RunnerKind(
        summary="asks servers that speak OpenAI's protocol: vLLM, SGLang, LM Studio and others",
        interleaved="block",
        concurrent=True,
        methods=_BY_SERVERS | {"none"},
        default_methods=(),
        build=_openai,
        behind_servers=True,
        check=_check_servers,
    ),
    "fake": RunnerKind(
        summary="makes figures up",
        interleaved="prompt",
        concurrent=True,
        methods=frozenset({"draft-model", "prompt-lookup"}) | _CONTROLS,
        default_methods=DEFAULT_METHODS,
        build=_fake,
    ),
}
