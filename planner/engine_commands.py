"""Write how to serve a model with a method: a command's arguments, or an engine's settings.

`engines.toml` and `methods.toml` are the table of the words of each engine and method. The
llama-server runner writes its own options, because it asks the binary for its flags.
`tests/test_commands.py` compares the options of both for every method.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from planner.engine_table import ENGINES, EngineEntry
from planner.model import LayerPlacement, Setting
from planner.ways import DraftSource
from schemas.method import DRAFT_MODEL, NO_SPECULATION, Method, method_with
from schemas.rig import IK_LLAMA_CPP, LLAMA_CPP
from schemas.vocabulary import METHODS

_DEPTH = 8  # the longest draft of a method that chooses its depth itself
_USUAL_BATCH = 2048  # llama-server's default; a larger micro-batch needs a larger batch
# Sizes for which `None` means no limit. Older builds have a default limit, so 0 is written.
_UNLIMITED = ("n_min", "p_min")
_SAFE_LOOKUP = 3
_NEAREST = (
    "llama-server has no {method}. This command uses its nearest method, {nearest}, which was not "
    "measured: measure {nearest} too (--runner llama-server --method {nearest})."
)
_MARK = 90_001  # a depth that no engine has, which marks the depth's place in a template
_SHORT_LOOKUP = (
    "In vLLM, a prompt_lookup_min below 3 has corrupted half of the tool calls (#35800, #40875). "
    "For agents, also measure a minimum of 3 (--method prompt-lookup:ngram_min=3) on tool calls "
    "(--tasks tools)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeLine:
    """The words that start a server: a command, or lines for an engine that reads lines.

    `engine` is its key in `ENGINES`, `None` for a fork that is not listed. `note` warns of a
    substituted method or an engine bug.
    """

    words: tuple[str, ...]
    engine: str | None = LLAMA_CPP
    note: str | None = None

    @property
    def text(self) -> str:
        """The command as a line for a shell, with quotes where needed; else the lines."""
        lines = self.engine is not None and ENGINES[self.engine].lines
        return "\n".join(self.words) if lines else shlex.join(self.words)


def serve_nearest(
    engine: str,
    model: str,
    draft: str | None,
    method: Method,
    extra: Sequence[str] = (),
    *,
    known: Sequence[str] = (),
) -> ServeLine | None:
    """The words that serve a model with a method, or with the nearest method and a note.

    `None` if the engine, of which `engine` is the label, has no such method. `model` and `draft`
    are file names or `-hf owner/repo:quant`. `extra` are further words for the server. `known`
    are the arguments of a recorded run, whose spelling is kept because its build may not accept a
    newer spelling.
    """
    for entry in ENGINES.values():
        if entry.program and engine.startswith(entry.label):
            return _serve_elsewhere(entry, model, draft, method, extra)
    if not engine.startswith((LLAMA_CPP, IK_LLAMA_CPP)):
        return None
    fork = engine == IK_LLAMA_CPP
    speculation = stages(method) if fork else drafting(method, known)
    if speculation is not None:
        weights = _weights("-m", "-hf", model) + (_weights("-md", "-hfd", draft) if draft else ())
        words = ("llama-server", *weights, *extra, *speculation)
        return ServeLine(words=words, engine=None if fork else LLAMA_CPP)
    nearest = METHODS[method.type].nearest
    other = nearest and default_method(nearest, method.n_max)
    served = serve_nearest(engine, model, None, other, extra) if other else None
    return served and replace(served, note=_NEAREST.format(method=method.type, nearest=nearest))


def launch_words(engine: str) -> Mapping[str, tuple[str, ...]]:
    """The words that switch each method on in an engine (a key of `ENGINES`), by method.

    They follow the words that load the target. `{depth}` stands for the number of drafted tokens,
    `{width}` for one more, and `{draft}` for the draft's file or repository; methods with a
    built-in drafter are without a draft. For an engine with `lines`, each word is a line.
    """
    found: dict[str, tuple[str, ...]] = {}
    for kind, entry in METHODS.items():
        if entry.drafts and not entry.instrument and runs(engine, kind):
            draft = "{draft}" if entry.draft == "required" else None
            words = _words(ENGINES[engine], default_method(kind, _MARK), draft) or ()
            found[kind] = tuple(
                word.replace(f"{_MARK + 1}", "{width}").replace(f"{_MARK}", "{depth}")
                for word in words
            )
    return found


def runs(engine: str, method: str) -> bool:
    """Whether an engine (a key of `ENGINES`) has a method."""
    entry = METHODS[method]
    if engine == "vllm":
        return entry.vllm is not None and entry.vllm.method is not None
    return engine in entry.served if ENGINES[engine].program else entry.llama_cpp is not None


def methods_by(source: DraftSource, engine: str = LLAMA_CPP) -> tuple[str, ...]:
    """The ids of the methods that use this draft source in an engine, the usual method first."""
    return tuple(
        each.id
        for each in METHODS.values()
        if each.drafts and not each.instrument
        if source_of(each.id) == source and runs(engine, each.id)
    )


def source_of(method: str) -> DraftSource:
    """The source from which a method drafts."""
    if method == DRAFT_MODEL:
        return "model"
    sources: Mapping[str, DraftSource] = {"built-in": "own-head", "none": "text"}
    return sources.get(METHODS[method].draft, "other-head")


def default_depth(method: str) -> int:
    """The longest draft that a method makes if no depth is requested."""
    return int(METHODS[method].defaults.get("n_max", _DEPTH))


def default_method(kind: str, n_max: int | None = None) -> Method:
    """A method with its usual parameters, and with this depth if a depth is given."""
    depth = {} if n_max is None else {"n_max": n_max}
    return method_with(kind, {**METHODS[kind].defaults, **depth})


def load_words(setting: Setting, placement: LayerPlacement, *, fit: str = "off") -> list[str]:
    """llama-server's arguments for a plan, without default cache types."""
    words = ["-c", str(setting.context), "-np", str(setting.slots), "-ub", str(setting.ubatch)]
    words += ["-b", str(setting.ubatch)] if setting.ubatch > _USUAL_BATCH else []
    words += ["-kvu"] if setting.unified and setting.slots > 1 else []
    words += ["-ngl", str(placement.layers), "-fit", fit]
    if placement.cpu_experts and placement.layers:
        words += ["-ncmoe", str(placement.cpu_experts)]
    if setting.kv_k != "f16":
        words += ["-ctk", setting.kv_k, "-ctv", setting.kv_v]
    return words


def drafting(method: Method, known: Sequence[str] = ()) -> list[str] | None:
    """llama-server's arguments for a method and its parameters; `None` if it lacks the method."""
    if method == NO_SPECULATION:
        return []
    found = [METHODS[kind].llama_cpp for kind in method.types]
    flags = [words for words in found if words is not None]
    if len(flags) < len(found) or METHODS[method.type].instrument:
        return None
    spelled = {name for flag in flags for names in flag.sizes.values() for name in names}
    recorded = known if spelled & set(known) else ()
    words = []
    if not recorded or "--spec-type" in recorded:
        types = dict(pairwise(recorded)).get("--spec-type", "").split(",")
        chosen = [_spelling(flag.types, types) or flag.types[0] for flag in flags]
        words = ["--spec-type", ",".join(chosen)]
    for part in parts(method):
        for _, spellings, value in sizes(part):
            name = _spelling(spellings, recorded) if recorded else spellings[0]
            words += [] if name is None else [name, value]
    return words


def parts(method: Method) -> Iterator[Method]:
    """A chain's methods with usual parameters; draft models and heads get the chain's depth."""
    if not method.chain:
        yield method
        return
    for kind in method.chain:
        yield default_method(kind, None if METHODS[kind].draft == "none" else method.n_max)


def sizes(method: Method) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """A method's parameters: for each, its name, llama-server's spellings, and its value."""
    entry = METHODS[method.type].llama_cpp
    yield from _values(method, entry.sizes if entry else {})


def stages(method: Method) -> list[str] | None:
    """ik_llama.cpp's arguments, one for each method of a chain; `None` if it lacks a method."""
    words: list[str] = []
    for part in parts(method) if method != NO_SPECULATION else ():
        entry = METHODS[part.type].ik_llama_cpp
        if entry is None:
            return None
        given = [f"{key}={value}" for _, keys, value in _values(part, entry.keys) for key in keys]
        words += ["--spec-type", ":".join(filter(None, (entry.type, ",".join(given))))]
    return words


def _values(
    method: Method, spelled: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    given = method.sizes
    for size, spellings in spelled.items():
        value = given[size]
        if value is None and size in _UNLIMITED and method.n_max is not None:
            value = 0
        if value is not None:
            yield size, spellings, f"{value:g}"


def _spelling(names: Iterable[str], known: Sequence[str]) -> str | None:
    return next((name for name in names if name in known), None)


def _weights(file: str, hub: str, name: str) -> tuple[str, str]:
    """The flag that selects a model, and its name; a model on the hub has a different flag."""
    return (hub, name.removeprefix("-hf ")) if name.startswith("-hf ") else (file, name)


def _serve_elsewhere(
    engine: EngineEntry, model: str, draft: str | None, method: Method, extra: Sequence[str]
) -> ServeLine | None:
    """The line for an engine whose words the tables have; `None` if it lacks the method."""
    words = _words(engine, method, draft and engine.called(draft))
    if words is None:
        return None
    named, note = engine.called(model), engine.note if method != NO_SPECULATION else None
    program = (" ".join((*engine.program, named)),) if engine.lines else (*engine.program, named)
    if engine.id == "vllm" and (method.ngram_min or _SAFE_LOOKUP) < _SAFE_LOOKUP:
        note = _SHORT_LOOKUP
    return ServeLine(words=(*program, *extra, *words), engine=engine.id, note=note)


def _words(engine: EngineEntry, method: Method, draft: str | None) -> tuple[str, ...] | None:
    """The words that switch a method on in an engine; `None` if it lacks the method."""
    if method == NO_SPECULATION:
        return engine.plain
    if engine.id == LLAMA_CPP:
        words = drafting(method)
        return None if words is None else (*(("-md", draft) if draft else ()), *words)
    if engine.id == "vllm":
        return _vllm(method, draft)
    options, depth = METHODS[method.type].served.get(engine.id), method.n_max
    if options is None or depth is None:
        return None
    given = {"draft": draft, "depth": depth, "width": depth + 1}
    return tuple(
        word.format(**given)
        for option in options
        if draft or "{draft}" not in option
        for word in ([option] if engine.lines else option.split())
    )


def _vllm(method: Method, draft: str | None) -> tuple[str, ...] | None:
    entry, given = METHODS[method.type].vllm, method.sizes
    if entry is None or entry.method is None:
        return None
    config = {
        "method": entry.method,
        "num_speculative_tokens": method.n_max,
        "model": draft,
        **entry.config,
        **{word: given[size] for size, word in entry.sizes.items()},
    }
    text = json.dumps({key: value for key, value in config.items() if value is not None})
    return "--speculative-config", text
