"""Every value is passed to the server, with the options that its build knows."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from harness.campaign.model import ArmPlan
from harness.runners.base import FailedError
from harness.runners.llama_server.abilities import Abilities, read_help
from harness.runners.llama_server.argv import arguments
from harness.runners.llama_server.launch import without_places
from schemas.method import NO_SPECULATION
from schemas.submission import Method
from tests.harness.campaigns import campaign

CAPTURES = Path(__file__).resolve().parents[3] / "captures" / "llama-server"
NEW = read_help((CAPTURES / "help-b10434.txt").read_text("utf-8"))
# A build from before types had names: the draft model alone switches speculation on.
OLD = Abilities(
    flags=frozenset({"-m", "-md", "-ngld", "--draft-max", "--draft-min", "--draft-p-min", "-fa"}),
    takes_value=frozenset(),
    spec_types=(),
)
# A build of early 2026: types of n-grams, and one set of sizes for all of them.
MIDDLE = read_help((CAPTURES / "help-llama-cpp-python-0.3.18.txt").read_text("utf-8"))
DRAFT = Method(type="draft-model", draft="draft", n_max=4)
SIMPLE = Method(type="ngram-simple", ngram_size=3, n_max=8, min_hits=1)


def said(method: Method, abilities: Abilities) -> str:
    role = "baseline" if method.type == "none" else "speculation"
    arm = ArmPlan(id="arm", role=role, method=method)
    return " ".join(arguments(arm, campaign(), abilities=abilities, port=8123))


def refused(method: Method, abilities: Abilities) -> str:
    arm = ArmPlan(id="arm", role="speculation", method=method)
    with pytest.raises(FailedError) as refusal:
        arguments(arm, campaign(), abilities=abilities, port=8123)
    return str(refusal.value)


def test_a_draft_model_is_switched_on_by_its_type() -> None:
    line = said(DRAFT, NEW)

    assert "-md draft.gguf -ngld 999 --spec-type draft-simple" in line
    assert "--spec-draft-n-max 4 --spec-draft-n-min 0 --spec-draft-p-min 0" in line


def test_a_chain_names_its_types_in_order_with_the_sizes_of_each() -> None:
    chain = Method(
        type="other", name="ngram-mod+draft-model", n_max=4, chain=("ngram-mod", "draft-model")
    )

    line = said(chain, NEW)

    assert "--spec-type ngram-mod,draft-simple" in line
    assert "--spec-ngram-mod-n-match" in line
    assert "-md draft.gguf" in line
    assert "--spec-draft-n-max 4 --spec-draft-n-min 0" in line


def test_a_chain_with_a_type_that_the_build_lacks_is_refused() -> None:
    chain = Method(
        type="other", name="ngram-mod+draft-model", n_max=4, chain=("ngram-mod", "draft-model")
    )

    assert refused(chain, OLD).startswith(
        "this llama-server does not support method ngram-mod+draft-model"
    )


def test_a_build_with_one_type_at_a_time_refuses_a_chain() -> None:
    chain = Method(type="other", name="both", chain=("ngram-mod", "ngram-simple"))

    assert "several methods at once (ngram-mod+ngram-simple)" in refused(chain, MIDDLE)


def test_a_build_without_types_gets_the_older_words() -> None:
    line = said(DRAFT, OLD)

    assert line.endswith("-md draft.gguf -ngld 999 --draft-max 4 --draft-min 0 --draft-p-min 0")
    assert "--spec" not in line


def test_a_build_whose_types_are_all_n_grams_still_takes_a_draft_model() -> None:
    assert "--spec-type" not in said(DRAFT, MIDDLE)


def test_the_sizes_of_an_n_gram_method_have_their_own_names_or_the_shared_ones() -> None:
    assert said(SIMPLE, NEW).endswith(
        "--spec-type ngram-simple --spec-ngram-simple-size-n 3 "
        "--spec-ngram-simple-size-m 8 --spec-ngram-simple-min-hits 1"
    )
    assert said(SIMPLE, MIDDLE).endswith(
        "--spec-type ngram-simple --spec-ngram-size-n 3 --spec-ngram-size-m 8 "
        "--spec-ngram-min-hits 1"
    )


def test_hits_that_a_build_does_not_count_are_left_out_unless_more_than_one_is_asked_for() -> None:
    hitless = replace(NEW, flags=NEW.flags - {"--spec-ngram-simple-min-hits"})

    assert said(SIMPLE, hitless).endswith("--spec-ngram-simple-size-m 8")
    assert "not support --spec-ngram-simple-min-hits" in refused(
        structs.replace(SIMPLE, min_hits=2), hitless
    )


def test_ngram_mod_has_a_least_and_a_greatest_draft() -> None:
    method = Method(type="ngram-mod", ngram_size=24, n_min=48, n_max=64)

    assert said(method, NEW).endswith(
        "--spec-ngram-mod-n-match 24 --spec-ngram-mod-n-min 48 --spec-ngram-mod-n-max 64"
    )


def test_older_builds_get_the_shared_size_options_for_ngram_mod() -> None:
    method = Method(type="ngram-mod", ngram_size=3, n_min=2, n_max=8)

    assert said(method, MIDDLE).endswith("--spec-ngram-size-n 3 --draft-min 2 --draft-max 8")


def test_a_head_of_the_target_needs_no_draft_file() -> None:
    line = said(Method(type="mtp", n_max=3), NEW)

    assert "--spec-type draft-mtp --spec-draft-n-max 3" in line
    assert "-md" not in line


def test_synthetic_acceptance_needs_a_build_that_lists_it_and_a_draft() -> None:
    method = Method(type="forced", n_max=4, length=2.5, draft="draft")
    able = replace(NEW, flags=NEW.flags | {"--spec-synth-len"})

    line = said(method, able)

    assert "--spec-synth-len 2.5 -md draft.gguf -ngld 999 --spec-type draft-simple" in line
    assert "--spec-draft-n-max 4 --spec-draft-n-min 0 --spec-draft-p-min 0" in line
    assert "not support --spec-synth-len" in refused(
        method, replace(NEW, flags=NEW.flags - {"--spec-synth-len"})
    )
    assert "name a draft with --draft" in refused(structs.replace(method, draft=None), able)


def test_the_baseline_says_that_it_does_not_speculate() -> None:
    assert said(NO_SPECULATION, NEW).endswith("--spec-type none")
    assert "--spec-type" not in said(NO_SPECULATION, OLD)


def test_shared_arguments_are_passed_and_fitting_and_caching_are_off() -> None:
    line = said(NO_SPECULATION, NEW)

    assert "--host 127.0.0.1 --port 8123 -c 2048 -np 1 -t 1 -tb 1 -b 512 -ub 512 -ngl 999" in line
    assert "-fa auto -ctk f16 -ctv f16 --fit off --cache-ram 0 --no-webui --metrics -lv 4" in line


def test_a_switch_of_older_builds_gets_no_value() -> None:
    assert "-fa" not in said(NO_SPECULATION, OLD).split()


@pytest.mark.parametrize(
    ("method", "abilities", "detail"),
    [
        (
            SIMPLE,
            OLD,
            (
                "this llama-server does not support method ngram-simple (it supports draft "
                "models only)"
            ),
        ),
        (
            Method(type="mtp", n_max=3),
            MIDDLE,
            "not support method mtp (it offers none, ngram-cache",
        ),
        (
            Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4),
            NEW,
            "only the in-process runner supports",
        ),
    ],
)
def test_an_option_that_the_build_lacks_is_a_failure_that_names_it(
    method: Method, abilities: Abilities, detail: str
) -> None:
    assert detail in refused(method, abilities)


def test_places_and_addresses_are_left_out_of_the_record() -> None:
    line = ("-m", "/models/target.gguf", "--port", "8123", "-c", "2048", "-md", "/x/d.gguf", "-fa")

    assert without_places(line) == ("-c", "2048", "-fa")


def with_settings(abilities: Abilities, **settings: object) -> str:
    plan = campaign()
    plan = replace(plan, settings=replace(plan.settings, **settings))  # type: ignore[arg-type]
    arm = ArmPlan(id="baseline", role="baseline", method=NO_SPECULATION)
    return " ".join(arguments(arm, plan, abilities=abilities, port=8123))


def test_settings_that_were_asked_for_are_passed_to_the_server() -> None:
    line = with_settings(
        NEW,
        kv_type_k="q8_0",
        kv_type_v="q4_0",
        flash_attention="on",
        cpu_expert_layers=3,
        split_mode="row",
        server_arguments=("--cache-reuse 256", "--swa-full"),
    )

    assert "-fa on -ctk q8_0 -ctv q4_0" in line
    assert line.endswith("--n-cpu-moe 3 --split-mode row --cache-reuse 256 --swa-full")
    newest = replace(NEW, flags=NEW.flags | {"--spec-draft-sampling", "--n-cpu-ffn"})
    line = with_settings(newest, draft_sampling="probabilistic", cpu_ffn_layers=5)
    assert line.endswith("--spec-draft-sampling probabilistic --n-cpu-ffn 5")
    assert with_settings(NEW, cpu_expert_layers=-1).endswith("--cpu-moe")


def test_settings_that_a_build_does_not_know_are_refused() -> None:
    for settings, word in (
        ({"cpu_expert_layers": -1}, "--cpu-moe"),
        ({"cpu_ffn_layers": 5}, "--n-cpu-ffn"),
        ({"draft_sampling": "greedy"}, "--spec-draft-sampling"),
        ({"kv_type_k": "q8_0"}, "--cache-type-k"),
        ({"flash_attention": "on"}, "-fa with a value"),
        ({"server_arguments": ("--swa-full",)}, "--swa-full"),
    ):
        why = f"^this llama-server does not support {word}; use another build"
        with pytest.raises(FailedError, match=why):
            with_settings(OLD, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "argument",
    [
        "-c 512", "--ctx-size 512", "-t 2", "--threads 2", "--threads-batch 2", "--parallel 2",
        "--batch-size 64", "--ubatch-size 64", "--gpu-layers 3", "--n-gpu-layers 3",
        "--flash-attn off", "--cache-type-k q8_0", "--port 80", "-cram 4", "--verbosity 1",
    ],
)  # fmt: skip
def test_an_argument_that_the_harness_sets_itself_is_refused_under_each_of_its_names(
    argument: str,
) -> None:
    why = f"--server-arg {argument.split(maxsplit=1)[0]}: the harness sets this argument"
    with pytest.raises(FailedError, match=why):
        with_settings(NEW, server_arguments=(argument,))
