"""Every printed command line has the arguments of a measurement."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.campaign.arms import arms
from harness.campaign.method_parser import METHODS, parse
from harness.campaign.model import Campaign
from harness.cli import app
from harness.report.use import LocalFiles, command
from harness.runners.llama_server.abilities import Abilities, read_help
from harness.runners.llama_server.argv import arguments
from pipeline.site.pages import shown_commands as pages
from planner.engine_commands import default_method, drafting, launch_words, serve_nearest
from planner.engine_table import ENGINES
from schemas.method import NO_SPECULATION, Method
from schemas.rig import LLAMA_CPP
from schemas.submission import Arm
from tests.harness.campaigns import campaign
from tests.samples import sample

CAPTURES = Path(__file__).parent / "captures" / "llama-server"
NEWEST = read_help((CAPTURES / "help-b10434.txt").read_text("utf-8"))
OLDER = read_help((CAPTURES / "help-llama-cpp-python-0.3.18.txt").read_text("utf-8"))
# Forced acceptance is only for measurements and has no command to serve it.
SERVED = [name for name, entry in METHODS.items() if entry.llama_cpp and not entry.instrument]
WIDTH = ("--speculative-num-draft-tokens", "{width}")
WITH_OWN_SIZES = (
    "ngram-map-k:n_max=48,ngram_size=12,min_hits=2",
    "draft-model:n_max=6,n_min=2,p_min=0.75",
    "ngram-mod+draft-model:n_max=5",
    "ngram-simple+mtp",
)


def planned(text: str) -> Campaign:
    """A campaign of the baseline and one method."""
    base = campaign()
    return replace(base, arms=arms((parse(text),), base.drafts))


def passed(text: str, abilities: Abilities = NEWEST) -> tuple[str, ...]:
    """The arguments that the runner passes to a build."""
    plan = planned(text)
    return arguments(plan.arms[1], plan, abilities=abilities, port=1)


def speculation(words: Iterable[str]) -> dict[str, str]:
    """The options about drafting, each with its value."""
    return {
        flag: value for flag, value in pairwise(words) if flag.startswith(("--spec", "--draft"))
    }


def in_terminal(text: str, argv: tuple[str, ...] | None = None) -> list[str]:
    arm = planned(text).arms[1]
    recorded = Arm(id="x", role="speculation", method=arm.method, argv=argv)
    return shlex.split("\n".join(command(sample(), recorded, LocalFiles())))


def in_plan(text: str) -> list[str]:
    method = parse(text)
    return drafting(default_method(method.type, method.n_max or 0)) or []


def on_page(text: str) -> list[str]:
    method = parse(text)
    line = pages.use(
        pages.NamedSetting(
            target="T", draft=None, method=method.type, depth=method.n_max, engine=LLAMA_CPP
        )
    )
    assert line is not None
    return shlex.split(line.text)


PLACES: dict[str, Callable[[str], list[str]]] = {
    "terminal": in_terminal,
    "plan": in_plan,
    "page": on_page,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", SERVED)
def test_every_place_prints_what_the_runner_passes(text: str, place: str) -> None:
    printed = PLACES[place](text)

    assert speculation(printed) == speculation(passed(text))


@pytest.mark.parametrize("text", WITH_OWN_SIZES)
def test_sizes_and_chains_of_a_result_are_printed_as_they_were_passed(text: str) -> None:
    assert speculation(in_terminal(text)) == speculation(passed(text))


@pytest.mark.parametrize("text", ["draft-model", "ngram-simple", "ngram-cache"])
def test_a_result_of_an_older_build_keeps_the_words_of_that_build(text: str) -> None:
    argv = passed(text, OLDER)

    assert speculation(in_terminal(text, argv)) == speculation(argv)


def test_a_chain_is_served_with_the_draft_of_its_campaign() -> None:
    assert "-md" in in_terminal("ngram-mod+draft-model")
    assert "-md" not in in_terminal("ngram-mod+ngram-simple")


def test_an_n_gram_setting_is_printed_whole() -> None:
    assert shlex.join(on_page("ngram-simple")) == (
        "llama-server -m T.gguf --spec-type ngram-simple --spec-ngram-simple-size-n 3 "
        "--spec-ngram-simple-size-m 8 --spec-ngram-simple-min-hits 1"
    )


def test_a_method_that_a_server_lacks_gets_its_nearest_with_a_note() -> None:
    method = default_method("prompt-lookup", 5)

    found = serve_nearest(LLAMA_CPP, "T.gguf", None, method)

    assert drafting(method) is None
    assert found is not None
    assert found.words[3:5] == ("--spec-type", "ngram-simple")
    assert found.note is not None
    assert "ngram-simple, which was not measured" in found.note
    assert in_terminal("prompt-lookup:n_max=5")[: len(found.words)][4] == "ngram-simple"
    page = pages.use(
        pages.NamedSetting(target="T", draft=None, method=method.type, depth=5, engine=LLAMA_CPP)
    )
    assert page == found


def test_a_method_of_unknown_depth_prints_only_its_type() -> None:
    found = serve_nearest(LLAMA_CPP, "T.gguf", None, Method(type="mtp"))

    assert found is not None
    assert found.text == "llama-server -m T.gguf --spec-type draft-mtp"


def test_weights_on_the_hub_are_passed_as_hub_names() -> None:
    found = serve_nearest(
        LLAMA_CPP, "-hf a/b:Q8_0", "-hf c/d:Q4_0", default_method("draft-model", 2)
    )

    assert found is not None
    assert found.words[:5] == ("llama-server", "-hf", "a/b:Q8_0", "-hfd", "c/d:Q4_0")


def test_vllm_gets_its_own_words_for_the_sizes() -> None:
    found = serve_nearest("vLLM", "Some/Model", None, default_method("prompt-lookup", 5))

    assert found is not None
    assert found.words[:4] == ("vllm", "serve", "Some/Model", "--speculative-config")
    assert found.words[4] == (
        '{"method": "ngram", "num_speculative_tokens": 5, '
        '"prompt_lookup_min": 2, "prompt_lookup_max": 4}'
    )
    assert (
        "In vLLM, a prompt_lookup_min below 3 has corrupted half of the tool calls (#35800, #40875)"
        in (found.note or "")
    )


def test_a_lookup_that_begins_at_three_tokens_needs_no_warning() -> None:
    method = Method(type="prompt-lookup", n_max=5, ngram_min=3, ngram_max=4)
    found = serve_nearest("vLLM", "Some/Model", None, method)

    assert found is not None
    assert '"prompt_lookup_min": 3' in found.words[4]
    assert found.note is None


PAGE = Path(__file__).parents[1] / "docs" / "engines.md"
ON_THE_PAGE = [
    line for line in PAGE.read_text("utf-8").splitlines() if line[:13] == "draftmap run "
]


@pytest.mark.parametrize("line", ON_THE_PAGE)
def test_a_command_of_the_page_about_engines_is_understood(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAFTMAP_CACHE", str(tmp_path))
    done = CliRunner().invoke(app, [*shlex.split(line)[1:], "--dry-run"])

    # The only fault is that this file or server does not exist here.
    assert done.exit_code in (0, 3) or "does not exist" in done.output, done.output
    assert not isinstance(done.exception, Exception)


def test_an_unknown_engine_has_no_command() -> None:
    assert serve_nearest("TabbyAPI", "T", None, default_method("mtp", 3)) is None


def test_sglang_gets_its_algorithm_with_a_chain_of_the_depth() -> None:
    found = serve_nearest("SGLang", "a/big", "a/head", default_method("eagle3", 3))

    assert found is not None
    # Three steps draft three tokens; the target's own is the fourth.
    assert found.text == (
        "python -m sglang.launch_server --model-path a/big --speculative-algorithm EAGLE3 "
        "--speculative-draft-model-path a/head --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    )
    assert serve_nearest("SGLang", "a/big", None, default_method("suffix", 3)) is None


@pytest.mark.parametrize(
    ("method", "draft", "words"),
    [
        (
            "dflash",
            "a/d",
            "DFLASH --speculative-draft-model-path a/d --speculative-num-draft-tokens 8",
        ),
        (
            "dspark",
            "a/d",
            "DSPARK --speculative-draft-model-path a/d --speculative-dspark-block-size 7",
        ),
        ("prompt-lookup", None, "NGRAM --speculative-num-draft-tokens 8"),
    ],
)
def test_sglang_gets_a_block_size_for_methods_without_steps(
    method: str, draft: str | None, words: str
) -> None:
    found = serve_nearest("SGLang", "a/big", draft, default_method(method, 7))

    assert found is not None
    assert found.text.endswith(f" --model-path a/big --speculative-algorithm {words}")


def test_mlx_gets_its_own_options_and_runs_without_a_prompt_cache() -> None:
    found = serve_nearest("mlx-lm", "big", "small", default_method("draft-model", 3))

    assert found is not None
    assert found.text == (
        "mlx_lm.server --model big --draft-model small --num-draft-tokens 3 --prompt-cache-size 0"
    )
    assert "--prompt-cache-size 0 switches the cache off" in (found.note or "")
    assert serve_nearest("mlx-lm", "big", None, default_method("prompt-lookup", 3)) is None


def test_methods_have_words_only_for_engines_of_the_table() -> None:
    served = {engine for method in METHODS.values() for engine in method.served}

    assert served == {"lm-studio", "mlx", "ollama", "sglang"}
    assert served <= {each.id for each in ENGINES.values() if each.program}


def test_ollama_gets_a_modelfile_whose_depth_is_zero_without_speculation() -> None:
    drafting = serve_nearest("Ollama", "-hf a/b:Q6_K", None, default_method("mtp", 3))
    plain = serve_nearest("Ollama", "-hf a/b:Q6_K", None, NO_SPECULATION)

    assert drafting is not None
    assert plain is not None
    assert drafting.text == "FROM hf.co/a/b:Q6_K\nPARAMETER draft_num_predict 3"
    assert plain.text == "FROM hf.co/a/b:Q6_K\nPARAMETER draft_num_predict 0"
    assert serve_nearest("Ollama", "a.gguf", "b.gguf", default_method("draft-model", 3)) is None


def test_the_head_of_ollama_may_be_a_file() -> None:
    found = serve_nearest("Ollama", "big.gguf", "head.gguf", default_method("mtp", 2))

    assert found is not None
    assert found.words == ("FROM big.gguf", "DRAFT head.gguf", "PARAMETER draft_num_predict 2")


def test_lm_studio_gets_the_names_of_its_settings() -> None:
    found = serve_nearest("LM Studio", "-hf a/b:Q8_0", "small.gguf", default_method("draft-model"))

    assert found is not None
    assert found.words[:3] == (
        "Model: a/b:Q8_0",
        "Speculative Decoding: small.gguf",
        "Max Draft Size: 4",
    )


@pytest.mark.parametrize(
    ("engine", "method", "words"),
    [
        ("llama.cpp", "ngram-cache", ("--spec-type", "ngram-cache")),
        (
            "vllm",
            "eagle3",
            (
                "--speculative-config",
                '{"method": "eagle3", "num_speculative_tokens": {depth}, "model": "{draft}"}',
            ),
        ),
        ("sglang", "prompt-lookup", ("--speculative-algorithm", "NGRAM", *WIDTH)),
        ("ollama", "mtp", ("PARAMETER draft_num_predict {depth}",)),
    ],
)
def test_a_launcher_gets_words_with_places_for_depth_and_draft(
    engine: str, method: str, words: tuple[str, ...]
) -> None:
    assert launch_words(engine)[method] == words


@pytest.mark.parametrize("engine", ENGINES)
def test_the_words_of_launchers_are_those_of_commands(engine: str) -> None:
    for kind, template in launch_words(engine).items():
        draft = "D" if METHODS[kind].draft == "required" else None
        line = serve_nearest(ENGINES[engine].label, "T", draft, default_method(kind, 5))

        assert line is not None
        filled = [
            word.replace("{depth}", "5").replace("{width}", "6").replace("{draft}", "D")
            for word in template
        ]
        assert [*line.words[-len(filled) :]] == filled
