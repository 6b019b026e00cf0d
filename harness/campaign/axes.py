"""Settings that make a result one of its own: depth of context, sampling, cache, experts, split.

Each is an option of a run, a setting in the format, and part of a cell's identity.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, get_type_hints

from harness.errors import UsageError
from harness.options import Option, comma_separated

_MEASURED = "What is measured"
_ENGINE = "Settings of the engine"
CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")
ON_OFF_AUTO = ("on", "off", "auto")
SPLIT_MODES = ("none", "layer", "row", "tensor")
ALL_EXPERTS = -1
_LEAST_DEPTH, _MOST_DEPTH = 64, 1_048_576
# As the format has it: an option that cannot hold a path, an address or a key.
_ARGUMENT = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9-]*(?: [A-Za-z0-9.,:=_-]+)?")


def _depths(texts: Sequence[str]) -> tuple[int, ...]:
    """Each depth once, in ascending order."""
    items = comma_separated(texts)
    if not all(item.isdecimal() and _LEAST_DEPTH <= int(item) <= _MOST_DEPTH for item in items):
        message = (
            f"--context-depth {','.join(texts)}: give whole numbers from {_LEAST_DEPTH} on, "
            "such as 512,4096"
        )
        raise UsageError(message)
    return tuple(sorted({int(item) for item in items}))


def _arguments(texts: Sequence[str]) -> tuple[str, ...]:
    """Each argument as one text: an option, and its value if it has one."""
    return tuple(_argument(text) for text in texts)


def _argument(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if len(words) == 1 and words[0].startswith("--"):  # --name=value is --name value
        words = words[0].split("=", 1)
    joined = " ".join(words)
    if not _ARGUMENT.fullmatch(joined):
        message = (
            f"--server-arg {text!r}: give one option with its value, such as "
            "--server-arg '--cache-reuse 256'; one with a path, an address or a key would not be "
            "fit to be published"
        )
        raise UsageError(message)
    return joined


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisOptions:
    """What a person may choose about the axes. Empty and `None` stand for the usual setting."""

    context_depths: Annotated[
        tuple[int, ...],
        Option(
            "Context before the answer in tokens, such as `512,4096`: each prompt is padded to "
            "this length with filler text in front of its question. One result file per depth. "
            "Default: the prompts as they are.",
            name="context-depth",
            metavar="N,N",
            panel=_MEASURED,
            parse=_depths,
        ),
    ] = ()
    temperature: Annotated[
        float | None,
        Option(
            "Sample at this temperature instead of decoding greedily. Outputs are then not "
            "compared with the baseline's. Default: greedy.",
            metavar="T",
            panel=_MEASURED,
            least=0.01,
            most=10,
        ),
    ] = None
    sampling_seed: Annotated[
        int | None,
        Option(
            "Sampling seed, with --temperature; each further block uses the next number. "
            "Default: 0.",
            name="seed-of-sampling",
            metavar="N",
            panel=_MEASURED,
            least=0,
            most=2**32 - 1 - 1000,
        ),
    ] = None
    cache_type_k: Annotated[
        str | None,
        Option(
            f"Type of the target's key cache: {', '.join(CACHE_TYPES)}. Default: f16.",
            metavar="TYPE",
            panel=_ENGINE,
        ),
    ] = None
    cache_type_v: Annotated[
        str | None,
        Option(
            "Type of the target's value cache; a quantised one needs flash attention. "
            "Default: f16.",
            metavar="TYPE",
            panel=_ENGINE,
        ),
    ] = None
    flash_attention: Annotated[
        str | None,
        Option("Flash attention: on, off or auto. Default: auto.", metavar="MODE", panel=_ENGINE),
    ] = None
    cpu_moe: Annotated[
        bool,
        Option("Keep the experts of all layers of the target in main memory.", panel=_ENGINE),
    ] = False
    n_cpu_moe: Annotated[
        int | None,
        Option(
            "Keep the experts of the first N layers of the target in main memory.",
            metavar="N",
            panel=_ENGINE,
            least=1,
            most=1024,
        ),
    ] = None
    split_mode: Annotated[
        str | None,
        Option(
            f"How the target is divided among several GPUs: {', '.join(SPLIT_MODES)}. Default: "
            "the engine's.",
            metavar="MODE",
            panel=_ENGINE,
        ),
    ] = None
    server_arguments: Annotated[
        tuple[str, ...],
        Option(
            "A further argument for the server of every arm, such as '--cache-reuse 256'. It is "
            "recorded in the result. Repeat it for several.",
            name="server-arg",
            metavar="ARGUMENT",
            panel=_ENGINE,
            parse=_arguments,
        ),
    ] = ()

    def check_axes(self) -> None:
        """Raise `UsageError` for a value that does not exist, or two that exclude each other."""
        for flag, value, known in (
            ("--cache-type-k", self.cache_type_k, CACHE_TYPES),
            ("--cache-type-v", self.cache_type_v, CACHE_TYPES),
            ("--flash-attention", self.flash_attention, ON_OFF_AUTO),
            ("--split-mode", self.split_mode, SPLIT_MODES),
        ):
            if value is not None and value not in known:
                message = f"{flag} {value}: not known; give {', '.join(known[:-1])} or {known[-1]}"
                raise UsageError(message)
        if self.cpu_moe and self.n_cpu_moe is not None:
            message = "--cpu-moe means all layers, --n-cpu-moe some; leave one out"
            raise UsageError(message)
        if self.sampling_seed is not None and self.temperature is None:
            message = "--seed-of-sampling is for --temperature; add it, or leave the seed out"
            raise UsageError(message)

    def given_axes(self) -> list[str]:
        """The options among them that were given, as they are typed."""
        hints = get_type_hints(AxisOptions, include_extras=True)
        return [
            hints[field.name].__metadata__[0].flag(field.name)
            for field in fields(AxisOptions)
            if getattr(self, field.name) != field.default
        ]
