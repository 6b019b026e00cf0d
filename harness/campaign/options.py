"""The user's choices for a campaign, each with its option and help text."""

from dataclasses import dataclass
from functools import partial

from harness.campaign.method_parser import parse
from harness.options import comma_separated, number_or_all, option, whole_numbers
from schemas.method import Method
from schemas.submission import Axes
from schemas.vocabulary import FIXED_TASKS, say

_model = partial(option, panel="Models")
_measured = partial(option, panel="What is measured")
_setting = partial(option, panel="How it runs")
# The bounds in the format.
_MAX_CONCURRENCY = 4096
_MAX_THREADS = 4096
_MAX_TOKENS = 1_048_576
_MAX_LAYERS = 1024
_MODEL = (
    "a GGUF file, a model name (see `python -m harness models`) or `owner/repo:quant` on the "
    "Hugging Face Hub"
)


_levels = partial(
    whole_numbers, option="concurrency", least=1, most=_MAX_CONCURRENCY, such="1,2,4,8"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Axes):
    """The user's choices for a campaign. An empty value or `None` means the default.

    `Axes` contributes the axes.
    """

    target: str | None = _model(
        (
            f"The model to speed up: {_MODEL}. Default: a small model that needs no download "
            "from the hub."
        ),
        short="-m",
        metavar="MODEL",
        argument=True,
        usual=True,
    )
    drafts: tuple[str, ...] = _model(
        "A smaller model that proposes tokens. Repeat the option to compare several drafts. "
        "Default: for a target known by name, its usual draft.",
        name="draft",
        short="-md",
        metavar="DRAFT",
        argument=True,
        default=(),
        usual=True,
    )
    methods: tuple[Method, ...] = _measured(
        "A draft method, optionally with its sizes: `prompt-lookup:n_max=5`. Repeat the option "
        "to compare several methods. `python -m harness methods` lists them. Default: the "
        "target's draft or heads, and n-grams.",
        name="method",
        metavar="METHOD",
        parse=lambda texts: tuple(map(parse, texts)),
        default=(),
        usual=True,
    )
    suite: str | None = _measured(
        "Prompt suite: an id or a TOML file. Default: core.", metavar="SUITE"
    )
    tasks: tuple[str, ...] = _measured(
        "Run only these tasks, such as `code,json`. By default, the suite core runs "
        f"{say.listed(FIXED_TASKS)}; its task `tools` runs only on request.",
        metavar="TASKS",
        parse=comma_separated,
        default=(),
    )
    prompts: tuple[str, ...] = _measured(
        "Run only these prompts: ids, patterns (`code-*`), or a number of prompts per task.",
        metavar="PROMPTS",
        parse=comma_separated,
        default=(),
    )
    max_output_tokens: int | None = _measured(
        "Maximum output length in tokens. Default: the suite's maximum.",
        name="max-tokens",
        metavar="TOKENS",
        least=2,
        most=_MAX_TOKENS,
    )
    blocks: int | None = _measured(
        "Number of blocks (a block is one pass over all prompts and arms). Default: 2, plus a "
        "third pass over prompts for which an arm's two times differ by more than 15 %; 3 "
        "through a server; 1 with --quick.",
        metavar="N",
        least=1,
        most=1000,
    )
    budget_min: float | None = _measured(
        "Time limit for the whole command. Default: no limit.",
        name="budget",
        metavar="MINUTES",
        least=0.1,
        most=100_000,
        usual=True,
    )
    control: bool = _measured(
        "Also measure the baseline against itself, and a speculative loop that drafts nothing. "
        "These controls show whether this machine's figures can be trusted.",
        default=False,
    )
    quick: bool = _measured(
        "Run a fixed part of the suite with short outputs; this takes minutes instead of an hour.",
        default=False,
        usual=True,
    )
    thinking: bool = _measured(
        "Turn the model's thinking mode on, and allow answers of up to 1024 tokens. Default: "
        "off, if the chat template has a switch for it. Results with thinking are never compared "
        "with results without it.",
        default=False,
    )
    context_tokens: int | None = _setting(
        "Context size in tokens, rounded up to a multiple of 256. Default: 2048, or more if "
        "--context-depth needs it.",
        name="context",
        short="-c",
        metavar="TOKENS",
        least=64,
        most=_MAX_TOKENS,
        usual=True,
    )
    threads: int | None = _setting(
        "CPU threads. Default: all cores but one, which stays free for other programs.",
        short="-t",
        metavar="N",
        least=1,
        most=_MAX_THREADS,
    )
    gpu_layers: int | None = _setting(
        "Number of target layers on the GPU, or all. `python -m harness plan` names a number that "
        "fits. Default: all.",
        short="-ngl",
        metavar="N",
        parse=partial(number_or_all, option="gpu-layers", most=_MAX_LAYERS),
        usual=True,
    )
    draft_gpu_layers: int | None = _setting(
        "Number of draft layers on the GPU, or all. Default: all.",
        metavar="N",
        parse=partial(number_or_all, option="draft-gpu-layers", most=_MAX_LAYERS),
    )
    baseline_gpu_layers: int | None = _setting(
        "Also measure the target alone with this many layers on the GPU (-1: all), to see how "
        "much it gains from the memory that the draft would use. Default: not measured.",
        metavar="N",
        least=-1,
        most=_MAX_LAYERS,
    )
    concurrency: tuple[int, ...] = _setting(
        "Numbers of concurrent requests, such as `1,2,4,8`, to see at which level batching "
        "removes the gain. Each level has its own baseline. Default: 1.",
        metavar="N,N",
        parse=_levels,
        default=(),
    )
    seed: int = _setting(
        "Seed for the order of the prompts.", metavar="N", least=0, most=2**32 - 1, default=0
    )
