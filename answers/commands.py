"""Build the arguments of a llama-server line for a plan, and list the methods that can draft."""

from collections.abc import Mapping

from answers.engine_commands import default_method
from answers.model import LayerPlacement, Setting
from answers.rounds import DraftSource, Speculation
from schemas.method import DRAFT_MODEL, NO_SPECULATION, Method
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS
from schemas.vocabulary.method_table import MethodEntry

_DEPTH = 8  # the longest draft of a method that chooses its depth itself
_USUAL_BATCH = 2048  # llama-server's default; a larger micro-batch needs a larger batch


def methods_by(source: DraftSource, engine: str = LLAMA_CPP) -> tuple[str, ...]:
    """The ids of the methods that use this draft source in an engine, the usual method first."""
    return tuple(
        each.id
        for each in METHODS.values()
        if each.drafts and not each.instrument and source_of(each.id) == source
        if _runs(each, engine)
    )


def _runs(method: MethodEntry, engine: str) -> bool:
    if engine == "vllm":
        return method.vllm is not None and method.vllm.method is not None
    if engine == "sglang":
        return method.sglang is not None
    if engine == "mlx":
        return method.id == DRAFT_MODEL
    return method.llama_cpp is not None


def source_of(method: str) -> DraftSource:
    """The source from which a method drafts."""
    if method == DRAFT_MODEL:
        return "model"
    sources: Mapping[str, DraftSource] = {"built-in": "own-head", "none": "text"}
    return sources.get(METHODS[method].draft, "other-head")


def default_depth(method: str) -> int:
    """The longest draft that a method makes if no depth is requested."""
    return int(METHODS[method].defaults.get("n_max", _DEPTH))


def load_words(setting: Setting, placement: LayerPlacement) -> list[str]:
    """llama-server's arguments for a plan, without default cache types and flash attention."""
    words = ["-c", str(setting.context), "-np", str(setting.slots), "-ub", str(setting.ubatch)]
    words += ["-b", str(setting.ubatch)] if setting.ubatch > _USUAL_BATCH else []
    words += ["-kvu"] if setting.unified and setting.slots > 1 else []
    words += ["-ngl", str(placement.layers), "-fit", "off"]
    if placement.cpu_experts and placement.layers:
        words += ["-ncmoe", str(placement.cpu_experts)]
    words += [] if setting.flash_attention else ["-fa", "off"]
    if setting.kv_k != "f16":
        words += ["-ctk", setting.kv_k, "-ctv", setting.kv_v]
    return words


def method_of(speculation: Speculation | None) -> Method:
    """The method with its usual parameters, at the plan's depth."""
    if speculation is None:
        return NO_SPECULATION
    return default_method(speculation.method, speculation.depth)
