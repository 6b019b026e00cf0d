"""Write the command lines that serve or measure a setting, as lists of arguments.

This module supplies the method's options for every command that the terminal or a page prints;
`answers.commands` supplies the options for a planned placement. The llama-server runner writes its
own options, because it asks the binary for its flags. `tests/test_commands.py` compares the options
of both for every method.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from schemas.method import DRAFT_MODEL, NO_SPECULATION, Method, method_with
from schemas.rig import IK_LLAMA_CPP, LLAMA_CPP
from schemas.vocabulary import METHODS

VLLM, SGLANG, MLX_LM = "vLLM", "SGLang", "mlx-lm"
# Sizes for which `None` means no limit. Older builds have a default limit, so 0 is written.
_UNLIMITED = ("n_min", "p_min")
_SAFE_LOOKUP = 3
_SHORT_LOOKUP = (
    "In vLLM, a prompt_lookup_min below 3 has corrupted half of the tool calls (#35800, #40875). "
    "For agents, also measure a minimum of 3 (--method prompt-lookup:ngram_min=3) on tool calls "
    "(--tasks tools)."
)
_MLX_CACHE = (
    "mlx_lm.server 0.32.2 returns a different text if it drafts for a prompt that is partly in its "
    "cache; --prompt-cache-size 0 switches the cache off."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeLine:
    """A command that starts a server; `note` warns of a substituted method or an engine bug."""

    words: tuple[str, ...]
    note: str | None = None

    @property
    def text(self) -> str:
        """The command as a line for a shell, with quotes where needed."""
        return shlex.join(self.words)


def serve_nearest(
    engine: str,
    model: str,
    draft: str | None,
    method: Method,
    extra: Sequence[str] = (),
    *,
    known: Sequence[str] = (),
) -> ServeLine | None:
    """The command that serves a model with a method, or with the nearest method and a note.

    `None` if the engine has no such method. `model` and `draft` are file names or `-hf
    owner/repo:quant`. `extra` are further arguments for the server. `known` are the arguments of a
    recorded run, whose spelling is kept because its build may not accept a newer spelling.
    """
    for name, (program, speculating) in _OTHER_SERVERS.items():
        if engine.startswith(name):
            plain = (*program, model, *extra)
            if method == NO_SPECULATION:
                return ServeLine(words=plain)
            return speculating(plain, draft, method)
    if not engine.startswith((LLAMA_CPP, IK_LLAMA_CPP)):
        return None
    speculation = stages(method) if engine == IK_LLAMA_CPP else drafting(method, known)
    if speculation is not None:
        weights = _weights("-m", "-hf", model) + (_weights("-md", "-hfd", draft) if draft else ())
        return ServeLine(words=("llama-server", *weights, *extra, *speculation))
    nearest = METHODS[method.type].nearest
    if nearest is None:
        return None
    note = (
        f"llama-server has no {method.type}. This command uses its nearest method, {nearest}, "
        f"which was not measured: measure {nearest} too (--runner llama-server --method "
        f"{nearest})."
    )
    served = serve_nearest(engine, model, None, default_method(nearest, method.n_max), extra)
    return served and replace(served, note=note)


def default_method(kind: str, n_max: int | None = None) -> Method:
    """A method with its usual parameters, and with this depth if a depth is given."""
    depth = {} if n_max is None else {"n_max": n_max}
    return method_with(kind, {**METHODS[kind].defaults, **depth})


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


def _vllm(plain: tuple[str, ...], draft: str | None, method: Method) -> ServeLine | None:
    entry = METHODS[method.type].vllm
    if entry is None or entry.method is None:
        return None
    given = method.sizes
    config = {
        "method": entry.method,
        "num_speculative_tokens": method.n_max,
        "model": draft,
        **entry.config,
        **{word: given[size] for size, word in entry.sizes.items()},
    }
    text = json.dumps({key: value for key, value in config.items() if value is not None})
    short = "ngram_min" in entry.sizes and (given["ngram_min"] or _SAFE_LOOKUP) < _SAFE_LOOKUP
    return ServeLine(
        words=(*plain, "--speculative-config", text), note=_SHORT_LOOKUP if short else None
    )


def _sglang(plain: tuple[str, ...], draft: str | None, method: Method) -> ServeLine | None:
    """The command for SGLang, which drafts a single chain (a top-k of 1), not a tree."""
    algorithm, depth = METHODS[method.type].sglang, method.n_max
    if algorithm is None or depth is None:
        return None
    words = ["--speculative-algorithm", algorithm]
    words += ["--speculative-draft-model-path", draft] if draft else []
    chain = {"num-steps": depth, "eagle-topk": 1, "num-draft-tokens": depth + 1}
    # A step also verifies the token before the draft; DSpark's block size counts only the draft.
    own = {
        "DFLASH": {"num-draft-tokens": depth + 1},
        "NGRAM": {"num-draft-tokens": depth + 1},
        "DSPARK": {"dspark-block-size": depth},
    }
    for name, size in own.get(algorithm, chain).items():
        words += [f"--speculative-{name}", str(size)]
    return ServeLine(words=(*plain, *words))


def _mlx_lm(plain: tuple[str, ...], draft: str | None, method: Method) -> ServeLine | None:
    if method.type != DRAFT_MODEL or draft is None or method.n_max is None:
        return None
    speculation = ("--draft-model", draft, "--num-draft-tokens", str(method.n_max))
    return ServeLine(words=(*plain, *speculation, "--prompt-cache-size", "0"), note=_MLX_CACHE)


# The arguments before the model's name, and the function that adds a method's arguments.
_OTHER_SERVERS = {
    VLLM: (("vllm", "serve"), _vllm),
    SGLANG: (("python", "-m", "sglang.launch_server", "--model-path"), _sglang),
    MLX_LM: (("mlx_lm.server", "--model"), _mlx_lm),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetting:
    """A setting to measure with `run`: files, a method, and options that are not the defaults."""

    target: str
    draft: str | None = None
    method: str | None = None
    runner: tuple[str, ...] = ()
    concurrency: int = 1
    options: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


def measure(settings: Sequence[RunSetting], *, quick: bool = False) -> list[str]:
    """The `draftmap` arguments that measure several settings of one target in one run."""
    first, levels = settings[0], sorted({each.concurrency for each in settings})
    words = ["run", *(["--quick"] if quick else []), "--target", first.target]
    words += _each("--draft", (each.draft for each in settings))
    words += _each("--method", (each.method for each in settings))
    words += first.runner
    words += [] if levels == [1] else ["--concurrency", ",".join(map(str, levels))]
    for options in dict.fromkeys(each.options for each in settings):
        words += options
    return [*words, *_each("--tasks", (",".join(each.tasks) for each in settings))]


def _each(flag: str, values: Iterable[str | None]) -> list[str]:
    """A flag and a value for each distinct value, in order."""
    return [word for value in dict.fromkeys(values) if value for word in (flag, value)]
