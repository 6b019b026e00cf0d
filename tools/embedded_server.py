"""Run the llama-server in a Python wheel as a program, so that no compiler is needed.

`xllamacpp` embeds the server of a llama.cpp build without a command line; the last number of the
wheel's version is the build. This program adds a command line with the flags that the runner uses,
for builds b9294 to b11549.
"""

import argparse
import signal

import xllamacpp

_TYPES = {
    "none": None,
    "draft-simple": "DRAFT_SIMPLE",
    "ngram-simple": "NGRAM_SIMPLE",
    "ngram-mod": "NGRAM_MOD",
}


def main() -> None:
    """Serve with the options of the command line until the process is stopped."""
    given = _parser().parse_args()
    if given.version:
        print(f"version: {xllamacpp.__version__.rpartition('.')[2]}")  # noqa: T201 - what a program says
        return
    server = xllamacpp.Server(_params(given))
    print(f"listening on {server.listening_address}", flush=True)  # noqa: T201 - what a program says
    signal.pause()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--metrics", action="store_true")
    for name in ("-m", "--host", "-a", "-fa", "-md"):
        parser.add_argument(name)
    for name in ("--port", "-c", "-np", "-t", "-tb", "-b", "-ub", "-ngl", "-ngld", "--cache-ram"):
        parser.add_argument(name, type=int)
    names = "{" + ",".join(_TYPES) + "}"  # same form as in the help of a stock server
    parser.add_argument("--spec-type", type=_types, default="none", metavar=names)
    for name in ("draft-n-max", "draft-n-min", "ngram-mod-n-match", "ngram-mod-n-min"):
        parser.add_argument(f"--spec-{name}", type=int)
    for name in ("ngram-mod-n-max", "ngram-simple-size-n", "ngram-simple-size-m"):
        parser.add_argument(f"--spec-{name}", type=int)
    parser.add_argument("--spec-ngram-simple-min-hits", type=int)
    parser.add_argument("--spec-draft-p-min", type=float)
    if hasattr(xllamacpp.CommonParams().speculative, "synth_len"):  # from b10809
        parser.add_argument("--spec-synth-len", type=float)
        parser.add_argument("--spec-synth-rates", type=_rates)
    if hasattr(xllamacpp.CommonParams().speculative.draft, "probabilistic"):  # from b11434
        parser.add_argument("--spec-draft-sampling", choices=("greedy", "probabilistic"))
    return parser


def _rates(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _types(text: str) -> tuple[str, ...]:
    """Parse comma-separated types. Raises `ArgumentTypeError` for an unknown type."""
    names = tuple(text.split(","))
    if not _TYPES.keys() >= set(names):
        raise argparse.ArgumentTypeError(
            f"expected one or more of {', '.join(_TYPES)}, separated by commas"
        )
    return names


def _params(given: argparse.Namespace) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = given.m
    if hasattr(params, "hostnames"):
        params.hostnames = [given.host]
    else:  # up to b10809
        params.hostname = given.host
    params.port = given.port
    params.model_alias = {given.a}
    params.n_ctx, params.n_parallel = given.c, given.np
    params.n_batch, params.n_ubatch, params.n_gpu_layers = given.b, given.ub, given.ngl
    params.cache_ram_mib = given.cache_ram
    params.endpoint_metrics = given.metrics
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = given.t, given.tb
    _speculate(params.speculative, given)
    return params


def _speculate(speculative: xllamacpp.CommonParamsSpeculative, given: argparse.Namespace) -> None:
    types = xllamacpp.common_speculative_type
    names = [name for each in given.spec_type if (name := _TYPES[each]) is not None]
    if names:
        speculative.types = [getattr(types, f"COMMON_SPECULATIVE_TYPE_{name}") for name in names]
    if getattr(given, "spec_synth_len", None) is not None:
        speculative.synth_len = given.spec_synth_len
    if getattr(given, "spec_synth_rates", None) is not None:
        speculative.synth_rates = given.spec_synth_rates
    if "draft-simple" in given.spec_type:
        draft = speculative.draft
        if getattr(given, "spec_draft_sampling", None) is not None:
            draft.probabilistic = given.spec_draft_sampling == "probabilistic"
        draft.mparams.path, draft.n_gpu_layers = given.md, given.ngld
        draft.n_max, draft.n_min = given.spec_draft_n_max, given.spec_draft_n_min
        draft.p_min = given.spec_draft_p_min
        draft.cpuparams.n_threads = draft.cpuparams_batch.n_threads = given.t
    if "ngram-simple" in given.spec_type:
        simple = speculative.ngram_simple
        simple.size_n, simple.size_m = (
            given.spec_ngram_simple_size_n,
            given.spec_ngram_simple_size_m,
        )
        simple.min_hits = given.spec_ngram_simple_min_hits
    if "ngram-mod" in given.spec_type:
        pool = speculative.ngram_mod
        pool.n_match = given.spec_ngram_mod_n_match
        pool.n_min, pool.n_max = given.spec_ngram_mod_n_min, given.spec_ngram_mod_n_max


if __name__ == "__main__":
    main()
