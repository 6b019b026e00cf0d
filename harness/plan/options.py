"""Declare the options of `draftmap plan`, in the groups that its help shows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from estimates.plan.commands import methods_by
from estimates.plan.memory import KV_TYPE_BYTES
from estimates.plan.model import Setting
from estimates.plan.speed import Anchor
from harness.errors import UsageError
from harness.options import Option

_MODELS, _LOADED, _COMPUTER, _SPEED = "Models", "How it is loaded", "Machine", "Speed"
_ANCHOR = re.compile(r"(?:(\d+|all):)?(\d+(?:\.\d+)?)")
_ALL = 1 << 20
# The usual one of the methods that draft from the text itself.
NGRAM = "ngram"
_FILES = (*methods_by("model"), *methods_by("other-head"))
_MODEL = (
    "a GGUF file, a preset, `owner/repo:quant` on the hub, or a model's name with a quantisation "
    "(`qwen3.8-27b:Q4_K_M`)"
)


def _anchors(texts: Sequence[str]) -> tuple[Anchor, ...]:
    found = []
    for text in texts:
        match = _ANCHOR.fullmatch(text)
        if match is None or float(match[2]) <= 0:
            message = f"--anchor {text}: give tokens/s, or LAYERS:TOKENS/S such as 20:3.5"
            raise UsageError(message)
        layers = _ALL if match[1] in (None, "all") else int(match[1])
        found.append(Anchor(layers=layers, tps=float(match[2])))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What is planned."""

    target: Annotated[
        str, Option(f"The model to speed up: {_MODEL}.", metavar="MODEL", panel=_MODELS)
    ]
    draft: Annotated[
        str | None,
        Option(
            f"What drafts: `mtp` (the target's own head), `{NGRAM}`, or {_MODEL}. "
            "Default: nothing.",
            metavar="DRAFT",
            panel=_MODELS,
        ),
    ] = None
    draft_kind: Annotated[
        str | None,
        Option(
            f"What the draft file is: {', '.join(_FILES)}. Default: {_FILES[0]}.",
            metavar="KIND",
            panel=_MODELS,
            choices=_FILES,
        ),
    ] = None
    projector: Annotated[
        Path | None,
        Option("The GGUF file of a vision projector.", metavar="FILE", panel=_MODELS),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How the models are loaded."""

    context: Annotated[
        int, Option("Context in tokens.", metavar="N", panel=_LOADED, least=64, most=1 << 24)
    ] = 4096
    slots: Annotated[
        int,
        Option("Requests served at once (`-np`).", metavar="N", panel=_LOADED, least=1, most=512),
    ] = 1
    ubatch: Annotated[
        int,
        Option("Micro-batch (`-ub`).", metavar="N", panel=_LOADED, least=1, most=1 << 16),
    ] = 512
    kv_type: Annotated[
        str,
        Option(
            "Type of the KV cache: f16, q8_0, q4_0 …",
            metavar="TYPE",
            panel=_LOADED,
            choices=tuple(KV_TYPE_BYTES),
        ),
    ] = "f16"
    flash_attention: Annotated[
        str,
        Option(
            "Flash attention: on, off or auto.",
            metavar="MODE",
            panel=_LOADED,
            choices=("on", "off", "auto"),
        ),
    ] = "auto"
    gpu_layers: Annotated[
        int | None,
        Option(
            "Layers of the target on the devices. Default: as many as fit.",
            metavar="N",
            panel=_LOADED,
            least=-1,
        ),
    ] = None
    draft_gpu_layers: Annotated[
        int | None,
        Option("0 keeps the draft in host memory.", metavar="N", panel=_LOADED, least=-1),
    ] = None
    cpu_experts: Annotated[
        int | None,
        Option(
            "Layers whose experts stay in host memory (`--n-cpu-moe`). Default: as few as fit.",
            name="n-cpu-moe",
            metavar="N",
            panel=_LOADED,
            least=0,
        ),
    ] = None
    depth: Annotated[
        int, Option("Longest draft.", metavar="N", panel=_LOADED, least=1, most=256)
    ] = 3
    margin: Annotated[
        int,
        Option("MiB to keep free on each device.", metavar="MIB", panel=_LOADED, least=0),
    ] = 1024

    def setting(self, rollback_states: int) -> Setting:
        """The same for the arithmetic of memory."""
        return Setting(
            context=self.context,
            slots=self.slots,
            kv_k=self.kv_type,
            kv_v=self.kv_type,
            ubatch=self.ubatch,
            flash_attention=self.flash_attention != "off",
            rollback_states=rollback_states,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputerOptions:
    """A machine that is described instead of the one at hand."""

    gpus: Annotated[
        tuple[str, ...],
        Option(
            "A graphics card of another machine, such as `RTX 4060 8 GB`; `none` for none. "
            "Repeat it for several.",
            name="gpu",
            metavar="NAME",
            panel=_COMPUTER,
        ),
    ] = ()
    vram: Annotated[
        float | None,
        Option("Memory of each card in GiB.", metavar="GIB", panel=_COMPUTER, least=0, most=4096),
    ] = None
    free: Annotated[
        float | None,
        Option(
            "MiB that are free on each card. Default: its size less what drivers take.",
            metavar="MIB",
            panel=_COMPUTER,
            least=0,
        ),
    ] = None
    ram: Annotated[
        float | None,
        Option("Main memory in GiB.", metavar="GIB", panel=_COMPUTER, least=0.1, most=65536),
    ] = None
    bandwidth: Annotated[
        float | None,
        Option("Bandwidth of each card in GB/s.", metavar="GB/S", panel=_COMPUTER, least=1),
    ] = None
    ram_bandwidth: Annotated[
        float | None,
        Option("Bandwidth of main memory in GB/s.", metavar="GB/S", panel=_COMPUTER, least=1),
    ] = None
    cpu: Annotated[
        str | None,
        Option("The processor, such as `8 cores DDR5-5600`.", metavar="TEXT", panel=_COMPUTER),
    ] = None

    server_binary: Annotated[
        str | None,
        Option(
            "Ask this llama-server what it would allocate on this machine. Default: the "
            "installed one.",
            metavar="PATH",
            panel=_COMPUTER,
        ),
    ] = None

    @property
    def described(self) -> bool:
        """Whether another machine than this one is meant."""
        return bool(self.gpus) or self.vram is not None or self.ram is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedOptions:
    """What is known about the machine's speed, and about the draft."""

    anchors: Annotated[
        tuple[Anchor, ...],
        Option(
            "A measured speed of the target alone: TOKENS/S with all layers on the device, or "
            "LAYERS:TOKENS/S. Given two, speeds in between are interpolated.",
            name="anchor",
            metavar="TPS",
            panel=_SPEED,
            parse=_anchors,
        ),
    ] = ()
    results: Annotated[
        tuple[Path, ...],
        Option(
            "A result file of `run` on this machine, whatever its model. Default: in a checkout, "
            "the collection's results of the same card or processor.",
            name="result",
            metavar="FILE",
            panel=_SPEED,
            parse=lambda texts: tuple(map(Path, texts)),
        ),
    ] = ()
    acceptance: Annotated[
        float | None,
        Option(
            "The measured chance that a drafted token is accepted.",
            metavar="SHARE",
            panel=_SPEED,
            least=0,
            most=1,
        ),
    ] = None
