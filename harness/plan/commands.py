"""Writes the llama-server line that loads a plan."""

import shlex
from collections.abc import Mapping

from estimates.plan.placement import Case, Projection
from estimates.plan.speculation import Speculation, Way
from harness.plan.sources import Source
from schemas.submission import Method
from schemas.vocabulary import METHODS, MethodEntry


def methods_by(way: Way) -> tuple[str, ...]:
    """The ids of the methods that draft in this way on llama-server, the usual one first."""
    found = []
    for method in METHODS.values():
        draft = {"model": "required", "other-head": "required", "own-head": "built-in"}.get(way)
        if method.llama_cpp and method.draft == (draft or "none") and method.drafts:
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
    words += ["-ngl", str(placement.layers), "-fit", "off"]
    if placement.cpu_experts and placement.layers:
        words += ["-ncmoe", str(placement.cpu_experts)]
    if setting.kv_k != "f16":
        words += ["-ctk", setting.kv_k, "-ctv", setting.kv_v]
    if speculation is not None:
        words += _speculating(speculation)
    if draft is not None:
        on_device = placement.share and case.devices and not (case.draft and case.draft.on_host)
        layers = draft.facts.placed_layers if on_device else 0
        words += ["-md", draft.server_name.split(" ", 1)[1], "-ngld", str(layers)]
    return shlex.join(words)


def serving(target: str, draft: str | None, method: Method | None) -> list[str]:
    """The options that serve a target with the method of a measured arm, each with its value.

    A method that the server lacks is left to its nearest relative there; `None` is no drafting.
    """
    found = [f"llama-server -m {shlex.quote(target)}"]
    if draft is not None:
        found.append(f"-md {shlex.quote(draft)}")
    if method is None:
        return found
    entry = METHODS[method.type]
    measured = {name: getattr(method, name, None) for name in ("n_max", *entry.optional)}
    if entry.llama_cpp is None:
        entry = METHODS[entry.nearest or method.type]
    sizes = {name: getattr(method, name, None) or value for name, value in entry.defaults.items()}
    given = {name: value for name, value in measured.items() if value is not None}
    words = _spelled(entry, {**sizes, **given})
    return [*found, *(" ".join(pair) for pair in zip(words[::2], words[1::2], strict=True))]


def _speculating(speculation: Speculation) -> list[str]:
    entry = METHODS[speculation.method]
    return _spelled(entry, {**entry.defaults, "n_max": speculation.depth})


def _spelled(entry: MethodEntry, sizes: Mapping[str, float]) -> list[str]:
    """Type and sizes, as builds of today spell them; every size is passed."""
    if entry.llama_cpp is None:
        return []
    words = ["--spec-type", entry.llama_cpp.types[0]]
    for name, value in sizes.items():
        spelled = getattr(entry.llama_cpp, name, None)
        words += [spelled[0], f"{value:g}"] if spelled else []
    return words
