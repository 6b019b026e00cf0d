"""Serve a model with the llama.cpp build in a Python wheel, as `draftmap-server`.

`xllamacpp` embeds llama-server in wheels for Linux, macOS (with Metal) and Windows, without a
command line. This program adds one, with the flags that the harness and its printed commands use,
for builds b9294 to b11549. Its help lists only the flags that the build supports.
"""

import argparse
import configparser
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import partial
from operator import attrgetter
from pathlib import Path

import xllamacpp

from harness.errors import HarnessError
from harness.models import hub

# The flags that set each parameter of llama.cpp. The parameter's type says how a value is read.
_FLAGS = {
    "model.path": ("-m", "--model"),
    "speculative.draft.mparams.path": ("-md", "--model-draft"),
    "port": ("--port",),
    "n_ctx": ("-c", "--ctx-size"),
    "n_parallel": ("-np", "--parallel"),
    "n_batch": ("-b", "--batch-size"),
    "n_ubatch": ("-ub", "--ubatch-size"),
    "cpuparams.n_threads": ("-t", "--threads"),
    "cpuparams_batch.n_threads": ("-tb", "--threads-batch"),
    "n_gpu_layers": ("-ngl", "--gpu-layers"),
    "speculative.draft.n_gpu_layers": ("-ngld", "--spec-draft-ngl"),
    "split_mode": ("-sm", "--split-mode"),
    "flash_attn_type": ("-fa", "--flash-attn"),
    "cache_type_k": ("-ctk", "--cache-type-k"),
    "cache_type_v": ("-ctv", "--cache-type-v"),
    "fit_params": ("-fit", "--fit"),
    "cache_ram_mib": ("--cache-ram",),
    "verbosity": ("-lv", "--verbosity"),
    "speculative.draft.n_max": ("--spec-draft-n-max",),
    "speculative.draft.n_min": ("--spec-draft-n-min",),
    "speculative.draft.p_min": ("--spec-draft-p-min",),
    "speculative.draft.probabilistic": ("--spec-draft-sampling",),
    "speculative.types": ("--spec-type",),
    "speculative.synth_rates": ("--spec-synth-rates",),
    "speculative.synth_len": ("--spec-synth-len",),
    "speculative.ngram_simple.size_n": ("--spec-ngram-simple-size-n",),
    "speculative.ngram_simple.size_m": ("--spec-ngram-simple-size-m",),
    "speculative.ngram_simple.min_hits": ("--spec-ngram-simple-min-hits",),
    "speculative.ngram_map_k.size_n": ("--spec-ngram-map-k-size-n",),
    "speculative.ngram_map_k.size_m": ("--spec-ngram-map-k-size-m",),
    "speculative.ngram_map_k.min_hits": ("--spec-ngram-map-k-min-hits",),
    "speculative.ngram_map_k4v.size_n": ("--spec-ngram-map-k4v-size-n",),
    "speculative.ngram_map_k4v.size_m": ("--spec-ngram-map-k4v-size-m",),
    "speculative.ngram_map_k4v.min_hits": ("--spec-ngram-map-k4v-min-hits",),
    "speculative.ngram_mod.n_match": ("--spec-ngram-mod-n-match",),
    "speculative.ngram_mod.n_min": ("--spec-ngram-mod-n-min",),
    "speculative.ngram_mod.n_max": ("--spec-ngram-mod-n-max",),
}
# The flags without a value, with the value that they set.
_SWITCHES = {
    "endpoint_metrics": ("--metrics", True),
    "kv_unified": ("-kvu", True),
    "warmup": ("--no-warmup", False),
    "ui": ("--no-ui", False),
}
_ALONE = {flag for flag, _ in _SWITCHES.values()}
_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_ON_OFF = {"on": True, "off": False}
_SAMPLING = {"greedy": False, "probabilistic": True}
_SPELLINGS = {"enabled": "on", "disabled": "off"}
_SPEC_TYPE = "COMMON_SPECULATIVE_TYPE_"
# What the names of a parameter's values begin with.
_PREFIXES = {
    "flash_attn_type": "LLAMA_FLASH_ATTN_TYPE_",
    "split_mode": "LLAMA_SPLIT_MODE_",
    "cache_type_k": "GGML_TYPE_",
    "cache_type_v": "GGML_TYPE_",
}
# The experts of one layer, as llama.cpp names their tensors.
_EXPERTS = r"blk\.{}\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU"
_WIDE = 200
_MIB = 1024 * 1024


def main() -> None:
    """Serve with the options of the command line until the process is stopped."""
    parser = _parser(xllamacpp.CommonParams())
    given = parser.parse_args()
    if given.models_preset:
        given = parser.parse_args([*_preset(parser, given), *sys.argv[1:]])
    if given.version:
        print(f"version: {xllamacpp.__version__.rpartition('.')[2]}")  # noqa: T201 - what a program says
    elif given.list_devices:
        print("\n".join(_devices()))  # noqa: T201 - as above
    else:
        try:
            server = xllamacpp.Server(_params(given))
        except (HarnessError, RuntimeError, ValueError) as error:
            parser.exit(1, f"error: {error}\n")
        print(f"listening on {server.listening_address}", flush=True)  # noqa: T201 - as above
        threading.Event().wait()


def _parser(defaults: xllamacpp.CommonParams) -> argparse.ArgumentParser:
    """Return a parser whose help has the form of a stock server's, which the runner reads."""
    parser = argparse.ArgumentParser(
        prog="draftmap-server",
        usage="%(prog)s -m FILE [OPTION ...]",
        description="Serve a model with the llama.cpp build in the wheel xllamacpp.",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        formatter_class=partial(argparse.HelpFormatter, width=_WIDE),
    )
    parser.add_argument("--version", action="store_true", default=False)
    parser.add_argument("--list-devices", action="store_true", default=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("-a", "--alias", default="")
    parser.add_argument("--models-preset", metavar="FILE", default="")
    parser.add_argument("-hf", "--hf-repo", metavar="OWNER/REPO:QUANT")
    parser.add_argument("-hfd", "--spec-draft-hf", metavar="OWNER/REPO:QUANT")
    parser.add_argument("-ncmoe", "--n-cpu-moe", type=int)
    for parameter, (flag, value) in _SWITCHES.items():
        parser.add_argument(flag, dest=parameter, action="store_const", const=value)
    for parameter, flags in _FLAGS.items():
        _add(parser, flags, parameter, defaults)
    return parser


def _preset(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Iterator[str]:
    """Yield a preset's arguments for the model that --alias names, else for its only model.

    The build has no router, which would load all models of the preset on demand.
    """
    preset = configparser.ConfigParser(interpolation=None, delimiters="=", default_section="*")
    preset.optionxform = str  # type: ignore[assignment,method-assign]  # flags are case-sensitive
    try:
        with Path(given.models_preset).open(encoding="utf-8") as lines:
            preset.read_file(lines)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        parser.exit(1, f"error: {given.models_preset} cannot be read: {error}\n")
    names = [name for name in preset.sections() if given.alias in ("", name)]
    if len(names) != 1:
        parser.exit(1, f"error: name a model with --alias: {', '.join(preset.sections())}\n")
    known = set(_WORD.findall(parser.format_help()))
    yield from ("--alias", names[0])
    for key, value in preset[names[0]].items():
        flag = f"--{key}" if f"--{key}" in known else f"-{key}"
        yield from (flag,) if flag in _ALONE else (flag, value)


def _add(
    parser: argparse.ArgumentParser,
    flags: Sequence[str],
    parameter: str,
    defaults: xllamacpp.CommonParams,
) -> None:
    """Add the flags of a parameter, unless the build lacks it."""
    try:
        default = attrgetter(parameter)(defaults)
    except AttributeError:
        return
    kind, shown = _kind(parameter, default)
    parser.add_argument(*flags, dest=parameter, type=kind, metavar=shown)


def _kind(parameter: str, default: object) -> tuple[Callable[[str], object], str]:
    """Return how a parameter's value is read, and what the help shows for it."""
    if parameter == "speculative.types":
        named = _names(xllamacpp.common_speculative_type, _SPEC_TYPE)
        types = {name.replace("_", "-"): value for name, value in named.items()}
        return partial(_several, types), ",".join(types)
    if parameter == "speculative.synth_rates":
        return _rates, "R1,R2,..."
    if parameter == "verbosity":  # the runner looks for the level that logs the placed layers
        return int, "N (3: info, - 4: trace)"
    names: Mapping[str, object] = {}
    if parameter in _PREFIXES and isinstance(default, IntEnum):
        names = _names(type(default), _PREFIXES[parameter])
    elif isinstance(default, bool):
        names = _SAMPLING if parameter == "speculative.draft.probabilistic" else _ON_OFF
    if names:
        return partial(_named, names), "|".join(names)
    return type(default), "FILE" if isinstance(default, str) else "N"


def _names(kind: type[IntEnum], prefix: str) -> dict[str, IntEnum]:
    """Return the values of an enumeration by the words of a command line."""
    words = {name.removeprefix(prefix).lower(): value for name, value in kind.__members__.items()}
    return {_SPELLINGS.get(word, word): each for word, each in words.items() if word != "count"}


def _named(names: Mapping[str, object], text: str) -> object:
    """Raises `ArgumentTypeError` for an unknown word."""
    if text not in names:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(names)}")
    return names[text]


def _several(names: Mapping[str, object], text: str) -> list[object]:
    return [_named(names, part) for part in text.split(",")]


def _rates(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _devices() -> Iterator[str]:
    """Yield the lines of a stock server's list of devices, which omits the CPU."""
    yield "Available devices:"
    for device in xllamacpp.get_device_info():
        if device["type"] != xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU:
            total, free = (int(device[f"memory_{kind}"] / _MIB) for kind in ("total", "free"))
            yield f"  {device['name']}: {device['description']} ({total} MiB, {free} MiB free)"


def _params(given: argparse.Namespace) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model_alias = {given.alias}
    if hasattr(params, "hostnames"):
        params.hostnames = [given.host]
    else:  # up to b10809
        params.hostname = given.host
    for name in (*_FLAGS, *_SWITCHES):
        if hasattr(given, name):
            owner, _, attribute = name.rpartition(".")
            setattr(attrgetter(owner)(params) if owner else params, attribute, getattr(given, name))
    draft = params.speculative.draft
    draft.cpuparams.n_threads = draft.cpuparams_batch.n_threads = params.cpuparams.n_threads
    if hasattr(given, "hf_repo"):
        params.model.path = _fetched(given.hf_repo)
    if hasattr(given, "spec_draft_hf"):
        draft.mparams.path = _fetched(given.spec_draft_hf)
    layers = range(getattr(given, "n_cpu_moe", 0))
    params.tensor_buft_overrides = ",".join(map(_EXPERTS.format, layers))
    return params


def _fetched(reference: str) -> str:
    """Return the path of `owner/repo:quant`, downloaded if needed. Raises `HarnessError`."""
    return str(hub.fetch(reference, say=partial(print, file=sys.stderr)).path)


if __name__ == "__main__":
    main()
