"""Which options of `run` say how the engine is reached?"""

from typing import Annotated

import typer

from harness.runners import OFFERED

_HOW = "How it runs"

Runner = Annotated[
    str,
    typer.Option(
        metavar="RUNNER",
        help="What runs the models. "
        + " ".join(f"`{name}`: {kind.summary}." for name, kind in OFFERED.items()),
        rich_help_panel=_HOW,
    ),
]
ServerBinary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="The llama-server to start, for --runner llama-server. Repeat it with names to "
        "compare builds or backends: `cuda=PATH`, `vulkan=PATH`. Default: the one on PATH.",
        rich_help_panel=_HOW,
    ),
]


_SERVERS = "Servers (--runner openai)"
_HOW_SERVERS = "How it runs"

BaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A server on this machine without speculation, such as http://127.0.0.1:8000. Its "
        "key, if it wants one, is taken from the variable DRAFTMAP_API_KEY.",
        rich_help_panel=_SERVERS,
    ),
]
SpecBaseUrl = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="The same model with speculation; one for each --method, in their order.",
        rich_help_panel=_SERVERS,
    ),
]
ServerCommand = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        help="Instead of --base-url: a command that starts the server, fresh for every block, "
        "such as 'vllm serve MODEL --port {port}'.",
        rich_help_panel=_SERVERS,
    ),
]
SpecServerCommand = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COMMAND",
        help="Instead of --spec-base-url: the command with speculation; one for each --method.",
        rich_help_panel=_SERVERS,
    ),
]
ServedModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What the servers call the target, if they offer several models.",
        rich_help_panel=_SERVERS,
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        metavar="BACKEND",
        help="What the servers compute with, if they do not say it: cpu, cuda, vulkan, metal, "
        "rocm, sycl and so on.",
        rich_help_panel=_SERVERS,
    ),
]
StartupTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        help="How long a server may take to start.",
        rich_help_panel=_HOW_SERVERS,
    ),
]
AnswerTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        help="How long one answer may take.",
        rich_help_panel=_HOW_SERVERS,
    ),
]
Concurrency = Annotated[
    str | None,
    typer.Option(
        metavar="N,N",
        help="Requests in flight at once, such as `1,2,4,8`: where batching eats the gain. "
        "Every number has its own baseline. Default: 1.",
        rich_help_panel=_HOW_SERVERS,
    ),
]
