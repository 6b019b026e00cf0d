"""Writes the llama-server line that loads a plan."""

import shlex
from pathlib import Path

from estimates.plan.choices import Source
from estimates.plan.placement import Case, Projection
from estimates.plan.speculation import Speculation, Way
from schemas.method import Method
from schemas.vocabulary import METHODS


def methods_by(way: Way) -> tuple[str, ...]:
    """The ids of the methods that draft in this way on llama-server, the usual one first."""
    found = []
    for method in METHODS.values():
        draft = {"model": "required", "other-head": "required", "own-head": "built-in"}.get(way)
        drafts = method.drafts and not method.instrument
        if method.llama_cpp and method.draft == (draft or "none") and drafts:
            found.append(method.id)
    return tuple(found[:1] if way == "model" else found[1:] if way == "other-head" else found)


def speculation_by(way: Way, depth: int) -> Speculation:
    """Speculation in this way, with the usual method."""
    return Speculation(way=way, method=methods_by(way)[0], depth=depth)


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
    words += ["-kvu"] if setting.unified and setting.slots > 1 else []
    words += ["-ngl", str(placement.layers), "-fit", "off"]
    if placement.cpu_experts and placement.layers:
        words += ["-ncmoe", str(placement.cpu_experts)]
    words += [] if setting.flash_attention else ["-fa", "off"]
    if setting.kv_k != "f16":
        words += ["-ctk", setting.kv_k, "-ctv", setting.kv_v]
    if speculation is not None:
        words += speculating(speculation)
    if draft is not None:
        on_device = placement.share and case.devices and not (case.draft and case.draft.on_host)
        layers = draft.facts.placed_layers if on_device else 0
        flag, name = draft.server_name.split(" ", 1)
        words += [f"{flag}d", name, "-ngld", str(layers)]
    return shlex.join(words)


def line_with(method: Method, *, target: Path, draft: Path | None, context: int) -> str:
    """The command for a method that was measured in-process; the nearest where it has no such."""
    words = ["llama-server", "-m", str(target), "-c", str(context)]
    if method.type == "none":
        return shlex.join(words)
    entry = METHODS[method.type]
    name = method.type if entry.llama_cpp else entry.nearest
    if name is None:
        return ""
    depth = method.n_max or 0
    words += speculating(Speculation(way="model", method=name, depth=depth))
    words += [] if draft is None else ["-md", str(draft)]
    return shlex.join(words)


def speculating(speculation: Speculation) -> list[str]:
    """Type and sizes, as builds of today spell them; every size is passed."""
    entry = METHODS[speculation.method]
    return entry.server_words({**entry.defaults, "n_max": speculation.depth})
