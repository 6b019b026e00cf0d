"""Arguments that change a result keep it apart from others; the rest changes no address."""

import re
from dataclasses import replace

import pytest

from estimates.arguments import is_lossy, read
from estimates.identity import identify
from schemas.method import Method
from schemas.public_arguments import recorded
from schemas.submission import Engine, Submission, Variable
from schemas.vocabulary.documents import document
from tests.samples import sample

LLAMA = "tools/server/README.md of llama.cpp, b11549"
IK = "common/common.cpp of ik_llama.cpp, 8337e4cd"
VLLM = "vllm/engine/arg_utils.py, 0.33"
SPEC = "vllm/config/speculative.py, 0.33"
SGLANG = "docs/advanced_features/server_arguments.md of SGLang, 0.5.23"
MLX = "mlx_lm/server.py, 0.32.2"
# Written by hand from the engines' sources: an argument, its effect, and where it is explained.
TABLE = """
llama.cpp | --port 8080 | neutral | LLAMA
llama.cpp | --log-file x | neutral | LLAMA
llama.cpp | --metrics | neutral | LLAMA
llama.cpp | -c 8192 | neutral | LLAMA
llama.cpp | -np 4 | neutral | LLAMA
llama.cpp | -t 8 | speed | LLAMA
llama.cpp | -ub 1024 | speed | LLAMA
llama.cpp | -fa on | speed | LLAMA
llama.cpp | --no-mmap | speed | LLAMA
llama.cpp | -ot exps=CPU | speed | LLAMA
llama.cpp | -sm row | speed | LLAMA
llama.cpp | --moe-cache-mib 4096 | speed | LLAMA
llama.cpp | -ctkd q8_0 | speed | LLAMA
llama.cpp | -ctk q8_0 | text | LLAMA
llama.cpp | --rope-freq-scale 0.5 | text | LLAMA
llama.cpp | --chat-template x | text | LLAMA
llama.cpp | --spec-type draft-mtp | method | LLAMA
llama.cpp | --spec-draft-n-max 3 | method | LLAMA
ik_llama.cpp | -rtr | speed | IK
ik_llama.cpp | -amb 512 | speed | IK
ik_llama.cpp | -no-fmoe | speed | IK
ik_llama.cpp | -ser 7,1 | text | IK
ik_llama.cpp | -ctk q8_0 | text | IK
ik_llama.cpp | --port 80 | neutral | IK
vLLM | --port 8000 | neutral | VLLM
vLLM | --host 0.0.0.0 | neutral | VLLM
vLLM | --served-model-name x | neutral | VLLM
vLLM | --gpu-memory-utilization 0.9 | neutral | VLLM
vLLM | --max-model-len 8192 | neutral | VLLM
vLLM | --enforce-eager | speed | VLLM
vLLM | -tp 2 | speed | VLLM
vLLM | --attention-backend FLASHINFER | speed | VLLM
vLLM | --max-num-batched-tokens 4096 | speed | VLLM
vLLM | --no-enable-prefix-caching | speed | VLLM
vLLM | --async-scheduling | speed | VLLM
vLLM | --kv-cache-dtype fp8 | text | VLLM
vLLM | --quantization fp8 | text | VLLM
vLLM | --dtype half | text | VLLM
vLLM | -sc.draft_sample_method probabilistic | speed | SPEC
vLLM | -sc.rejection_sample_method block | text | SPEC
vLLM | -sc.use_heterogeneous_vocab true | speed | SPEC
vLLM | -sc.enable_adaptive_verification true | speed | SPEC
vLLM | -sc.method ngram | method | SPEC
vLLM | -sc.method ngram_gpu | speed | SPEC
vLLM | -sc.rejection_sample_method fly | lossy | SPEC
vLLM | -sc.num_speculative_tokens 3 | method | SPEC
vLLM | -sc.posterior_threshold 0.1 | lossy | SPEC
SGLang | --port 30000 | neutral | SGLANG
SGLang | --mem-fraction-static 0.8 | neutral | SGLANG
SGLang | --log-level info | neutral | SGLANG
SGLang | --disable-cuda-graph | speed | SGLANG
SGLang | --disable-radix-cache | speed | SGLANG
SGLang | --attention-backend triton | speed | SGLANG
SGLang | --tp-size 2 | speed | SGLANG
SGLang | --chunked-prefill-size 4096 | speed | SGLANG
SGLang | --speculative-attention-mode decode | speed | SGLANG
SGLang | --kv-cache-dtype fp8_e5m2 | text | SGLANG
SGLang | --enable-fp32-lm-head | text | SGLANG
SGLang | --speculative-accept-threshold-single 0.8 | lossy | SGLANG
SGLang | --speculative-accept-threshold-acc 0.9 | lossy | SGLANG
SGLang | --speculative-num-steps 3 | method | SGLANG
mlx-lm | --port 8081 | neutral | MLX
mlx-lm | --prompt-cache-size 0 | neutral | MLX
mlx-lm | --prefill-step-size 512 | speed | MLX
mlx-lm | --temp 0.7 | text | MLX
mlx-lm | --chat-template-args {} | text | MLX
mlx-lm | --num-draft-tokens 4 | method | MLX
"""
ROWS = [tuple(re.split(r"\s*\|\s*", line)) for line in TABLE.strip().splitlines()]
CONFIG = '{"method": "mtp", "num_speculative_tokens": 3%s}'
LINES = {
    "plain": ((), ""),
    "cache": (("--kv-cache-dtype", "fp8"), ""),
    "eager": (("--enforce-eager",), ""),
    "block": ((), ', "rejection_sample_method": "block"'),
    "probabilistic": ((), ', "draft_sample_method": "probabilistic"'),
}


def served(
    engine: str, baseline: tuple[str, ...], drafting: tuple[str, ...], *variables: Variable
) -> Submission:
    """A result of two servers with these command lines."""
    made = sample()
    base, spec = recorded(("x", *baseline)), recorded(("x", *drafting))
    arms = (
        replace(made.arms[0], argv=base),
        replace(made.arms[-1], method=Method(type="mtp", n_max=3), argv=spec),
    )
    named = Engine(runner="openai", name=engine, backend="cuda", variables=variables or None)
    return replace(made, engine=named, arms=arms)


def vllm(*more: str, config: str = "", port: str = "8000") -> Submission:
    line = ("serve", "Qwen/Qwen3-8B", "--port", port, *more)
    return served("vLLM", line, (*line, "--speculative-config", CONFIG % config))


def key(made: Submission) -> tuple[str, str]:
    """The parts of a cell's address that name the conditions and the drafting arm."""
    named = identify(made)
    return named.address_stem, named.settings[-1].setting


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_sixty_arguments_have_the_effect_that_their_source_explains(row: tuple[str, ...]) -> None:
    engine, argument, effect, source = row

    (found,) = read(argument.split(), engine) or [None]

    assert globals()[source]
    # `{}` is mlx-lm's default: it changes nothing and is left out.
    assert (found.effect if found else None) == (None if argument.endswith("{}") else effect)


def test_the_table_has_sixty_arguments_of_four_engines() -> None:
    assert len({(engine, argument) for engine, argument, *_ in ROWS}) >= 60
    assert len({engine for engine, *_ in ROWS}) >= 4


def test_five_lines_of_vllm_are_five_settings() -> None:
    keys = {name: key(vllm(*more, config=config)) for name, (more, config) in LINES.items()}

    assert len(set(keys.values())) == 5
    assert keys["plain"] == ("rtx-4060-8-gb-cuda-vllm-sample-7b-q4-k-m", "mtp-n3")
    assert keys["eager"] == ("rtx-4060-8-gb-cuda-vllm-sample-7b-q4-k-m-enforce-eager", "mtp-n3")
    assert keys["block"][1] == "mtp-rejection-sample-method-block-n3"
    assert identify(vllm("--kv-cache-dtype", "fp8")).conditions == "--kv-cache-dtype fp8"


@pytest.mark.parametrize(
    "more",
    [
        ("--host", "10.1.2.3"),
        ("--uvicorn-log-level", "info", "--disable-log-requests"),
        ("--download-dir", "/home/ann/models", "--served-model-name", "mine"),
        ("--kv-cache-dtype", "auto"),  # the default
        ("--enable-prefix-caching", "--api-key", "x"),
    ],
)
def test_ports_hosts_logs_and_defaults_change_no_name(more: tuple[str, ...]) -> None:
    assert key(vllm(*more, port="9000")) == key(vllm())


def test_unknown_options_are_named_and_kept_apart() -> None:
    unlisted, listed = vllm("--mine", "x"), vllm("--swa-full")

    assert identify(unlisted).conditions == "unknown options"
    assert identify(listed).conditions == "--swa-full"  # another engine's
    assert len({key(unlisted), key(listed), key(vllm())}) == 3
    # An unknown option after a hidden value is not lost.
    assert identify(vllm("--host", "10.1.2.3", "--mine")).conditions == "unknown options"


def test_an_argument_of_the_baseline_alone_is_part_of_the_arms_name() -> None:
    made = served("vLLM", ("serve", "a/b", "--enforce-eager"), ("serve", "a/b"))

    assert identify(made).settings[-1].method_label == "MTP, without --enforce-eager"


@pytest.mark.parametrize(("threshold", "lossy"), [("0.8", True), ("1.0", False), ("1", False)])
def test_a_threshold_of_acceptance_is_lossy(threshold: str, *, lossy: bool) -> None:
    line = ("-m", "sglang.launch_server", "--speculative-accept-threshold-single", threshold)
    base, arm = served("SGLang", line[:2], line).arms

    assert (is_lossy(base), is_lossy(arm)) == (False, lossy)


def test_ollamas_variables_are_arguments() -> None:
    def ollama(name: str, value: str) -> str | None:
        variable = Variable(name=name, value=value)
        return identify(served("Ollama", (), (), variable)).conditions

    assert ollama("OLLAMA_KV_CACHE_TYPE", "q8_0") == "OLLAMA_KV_CACHE_TYPE q8_0"
    assert ollama("OLLAMA_KV_CACHE_TYPE", "f16") is None
    assert ollama("OLLAMA_NUM_PARALLEL", "1") is None


def test_an_argument_added_to_llama_server_is_named_unless_it_is_neutral() -> None:
    def conditions(*arguments: str) -> str | None:
        made = sample()
        settings = replace(made.settings, server_arguments=arguments)
        return identify(replace(made, settings=settings)).conditions

    assert conditions("--cache-reuse 256", "--no-perf") == "--cache-reuse 256"
    assert conditions("--ctx-checkpoints 4") is None


def test_the_harness_own_arguments_separate_nothing() -> None:
    made = sample()
    argv = ("-t", "8", "-ctk", "f16", "-c", "2048")
    arms = tuple(replace(arm, argv=argv) for arm in made.arms)
    server = replace(made.engine, runner="llama-server")

    assert key(replace(made, engine=server, arms=arms)) == key(replace(made, engine=server))


def test_no_argument_has_two_effects() -> None:
    for engine, table in document("argument_effects").items():
        names = [
            name
            for effect, entries in table.items()
            if effect != "parent"
            for entry in entries
            for name in entry.partition("=")[0].split()
        ]
        assert len(names) == len(set(names)), engine
