"""Writes the llama-server line that loads a plan."""

import shlex

from estimates.plan.placement import Case, Projection
from estimates.plan.speculation import Speculation, Way
from harness.plan.sources import Source

_TYPES: dict[Way, str] = {
    "draft-model": "draft-simple",
    "mtp": "draft-mtp",
    "eagle3": "draft-eagle3",
    "dflash": "draft-dflash",
    "ngram": "ngram-simple",
}


def server_line(
    target: Source,
    draft: Source | None,
    case: Case,
    found: Projection,
    speculation: Speculation | None,
) -> str:
    """The command for this placement. Every value that the plan rests on is given."""
    setting, placement = case.setting, found.placement
    words = ["llama-server", *target.server_name.split(" ", 1)]
    words += ["-c", str(setting.context), "-np", str(setting.slots), "-ub", str(setting.ubatch)]
    words += ["-ngl", str(placement.layers), "-fit", "off"]
    if placement.cpu_experts and placement.layers:
        words += ["-ncmoe", str(placement.cpu_experts)]
    if setting.kv_k != "f16":
        words += ["-ctk", setting.kv_k, "-ctv", setting.kv_v]
    if speculation is not None:
        words += ["--spec-type", _TYPES[speculation.way]]
        words += ["--spec-draft-n-max", str(speculation.depth)] if _sized(speculation) else []
    if draft is not None:
        on_device = placement.share and case.devices and not (case.draft and case.draft.on_host)
        layers = draft.facts.placed_layers if on_device else 0
        words += ["-md", draft.server_name.split(" ", 1)[1], "-ngld", str(layers)]
    return shlex.join(words)


def _sized(speculation: Speculation) -> bool:
    return speculation.way != "ngram"
