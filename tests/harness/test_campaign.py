"""Which campaign follows from which options?"""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaign import suite
from harness.campaign.build import DEFAULT_METHODS, build, profile
from harness.campaign.duration import Rates, arithmetic_rate, expected, memory_bandwidth
from harness.campaign.from_options import campaign_from, draft_names, usable_methods
from harness.campaign.methods import DraftModelRequest, parse
from harness.campaign.model import Campaign, Stopping
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from schemas.submission import DraftModel, Model, PromptLookup
from tests.harness.ggufs import TOKENS, write_gguf


def model(model_id: str, **fields: int) -> ModelFile:
    described = Model(id=model_id, name=model_id, quantisation="F16", file_bytes=10**9, **fields)  # type: ignore[arg-type]
    return ModelFile(path=Path(model_id), model=described)


def campaign(options: Options | None = None, drafts: int = 1) -> Campaign:
    options = options or Options()
    chosen = suite.select(suite.load("core"), prompts=options.prompts, quick=options.quick)
    return build(
        options,
        target=model("target"),
        drafts=tuple(model("draft") for _ in range(drafts)),
        methods=options.methods or DEFAULT_METHODS,
        suite=chosen,
    )


def test_the_default_campaign_has_three_arms_three_to_six_blocks_and_the_whole_suite() -> None:
    built = campaign()

    assert [arm.id for arm in built.arms] == ["baseline", "prompt-lookup-n8", "draft-model-n4"]
    assert [arm.baseline for arm in built.arms] == [None, "baseline", "baseline"]
    assert (built.least_blocks, built.blocks, built.stopping.precision) == (3, 6, 0.03)
    assert (len(built.suite.prompts), built.profile) == (32, "default")
    assert built.settings.max_output_tokens == 96
    assert built.arms[2].method == DraftModel(draft="draft", n_max=4)


def test_quick_is_one_block_of_fewer_prompts_with_shorter_outputs() -> None:
    built = campaign(Options(quick=True))

    assert (built.blocks, len(built.suite.prompts), built.profile) == (1, 24, "quick")
    assert built.settings.max_output_tokens == 24


@pytest.mark.parametrize(
    ("options", "expected_profile"),
    [
        (Options(), "default"),
        (Options(quick=True), "quick"),
        (Options(target="x.gguf", drafts=("y.gguf",), threads=4, gpu_layers=20), "default"),
        (Options(seed=7, quick=True), "quick"),
        (Options(blocks=5), "custom"),
        (Options(quick=True, tasks=("code",)), "custom"),
        (Options(max_tokens=64), "custom"),
        (Options(methods=(parse("prompt-lookup"),)), "custom"),
        (Options(context=4096), "custom"),
    ],
)
def test_what_changes_the_measurement_makes_the_profile_custom(
    options: Options, expected_profile: str
) -> None:
    assert profile(options) == expected_profile


def test_every_draft_gets_an_arm_and_an_id_of_its_own() -> None:
    built = campaign(drafts=2)

    assert [draft.model.id for draft in built.drafts] == ["draft", "draft-2"]
    assert [arm.id for arm in built.arms[2:]] == ["draft-model-n4-draft", "draft-model-n4-draft-2"]


def test_a_control_is_compared_with_the_baseline() -> None:
    built = campaign(Options(methods=(parse("none"),)), drafts=0)

    control = built.arms[1]
    assert (control.id, control.role, control.baseline) == ("baseline-again", "control", "baseline")


def test_control_adds_both_instruments_once_and_changes_nothing_else() -> None:
    plain, controlled = campaign(), campaign(Options(control=True))
    named = campaign(Options(control=True, methods=(parse("none"), parse("prompt-lookup"))))

    assert controlled.arms[: len(plain.arms)] == plain.arms
    assert [arm.id for arm in controlled.arms[len(plain.arms) :]] == [
        "baseline-again",
        "empty-draft",
    ]
    assert [arm.role for arm in controlled.arms[len(plain.arms) :]] == ["control", "control"]
    assert [arm.id for arm in named.arms].count("baseline-again") == 1
    assert controlled.profile == "default"


@pytest.mark.parametrize(
    ("options", "blocks", "expected"),
    [
        (Options(precision=0.01), 6, Stopping(precision=0.01)),
        (Options(budget_min=2.5), 6, Stopping(precision=0.03, budget_s=150.0)),
        (Options(blocks=4, budget_min=1.0), 4, Stopping(budget_s=60.0)),
        (Options(quick=True), 1, Stopping()),
    ],
)
def test_precision_decides_unless_the_blocks_are_fixed_and_time_always_does(
    options: Options, blocks: int, expected: Stopping
) -> None:
    built = campaign(options)

    assert (built.blocks, built.stopping) == (blocks, expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            Options(blocks=4, precision=0.01),
            "--blocks fixes the number of blocks,",
        ),
        (Options(quick=True, precision=0.01), "--quick fixes the number of blocks,"),
        (Options(methods=(parse("none"), parse("none"))), "baseline-again is requested twice"),
        (
            Options(blocks=1000),
            "1000 blocks of 3 arms are too long for a result file",
        ),
        (Options(max_tokens=2048), "leaves no room for prompts"),
    ],
)
def test_a_campaign_that_contradicts_itself_or_cannot_be_recorded_is_refused(
    options: Options, said: str
) -> None:
    with pytest.raises(BadInputError, match=said):
        campaign(options)


def test_a_preset_target_brings_its_draft_and_another_does_not() -> None:
    assert draft_names(Options()) == ("smollm2-135m:q4_1",)
    assert draft_names(Options(target="qwen3-8b")) == ("qwen3-0.6b",)
    assert draft_names(Options(target="own.gguf")) == ()
    assert draft_names(Options(target="own.gguf", drafts=("d.gguf",))) == ("d.gguf",)


def test_without_a_draft_the_default_methods_do_without_it() -> None:
    methods = usable_methods(Options(target="own.gguf"), ())

    assert methods == (PromptLookup(n_max=8, ngram_min=2, ngram_max=4),)


@pytest.mark.usefixtures("cache_dir")
def test_that_no_draft_is_known_is_said_once_the_target_is_there(tmp_path: Path) -> None:
    said: list[str] = []

    campaign_from(Options(target=str(write_gguf(tmp_path / "own.gguf"))), say=said.append)
    with pytest.raises(BadInputError, match="does not exist"):
        campaign_from(Options(target=str(tmp_path / "none.gguf")), say=said.append)

    assert said == [
        "No draft model is known for this target; give one with --draft to measure that too."
    ]


def test_asking_for_a_draft_model_without_one_is_refused() -> None:
    options = Options(target="own.gguf", methods=(DraftModelRequest(n_max=2),))

    with pytest.raises(BadInputError, match="name one with --draft"):
        usable_methods(options, ())


def test_a_draft_that_no_method_uses_is_refused() -> None:
    options = Options(drafts=("d.gguf",), methods=(parse("prompt-lookup"),))

    with pytest.raises(BadInputError, match="no --method uses it"):
        draft_names(options)


@pytest.mark.usefixtures("cache_dir")
def test_a_draft_with_another_vocabulary_is_refused_with_the_reason(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "target.gguf", name="Big 7B")
    draft = write_gguf(tmp_path / "d.gguf", name="Small 1B", tokens=[*TOKENS[:9], *TOKENS[10:]])
    options = Options(target=str(target), drafts=(str(draft),))

    with pytest.raises(
        BadInputError, match=r"Small-1B cannot draft for Big-7B: token 9 is 't9' in the target"
    ):
        campaign_from(options, say=print)


@pytest.mark.usefixtures("cache_dir")
def test_gathering_brings_models_and_prompts_together(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "target.gguf")
    options = Options(target=str(target), drafts=(str(target),), tasks=("code",), quick=True)

    built = campaign_from(options, say=print)

    assert [prompt.task for prompt in built.suite.prompts] == ["code"] * 3
    assert [draft.model.id for draft in built.drafts] == ["tiny-test-1m-instruct-f16"]


# A gigabyte in F16 without a known number of parameters is taken for half a milliard of them:
# 1e9 operations a token, at 100 GFLOPS 0.01 / 0.68 s for a token of a prompt; read at 10 GB/s, a
# step takes 0.1 s. One more token in a step takes 0.01 / 0.22 s.
RATES = Rates(bytes_per_s=10e9, flops_per_s=100e9)
STEP_S, PROMPT_S, WIDER_S = 0.1, 0.01 / 0.68, 0.01 / 0.22
# Four drafted tokens, a step of five, and 1 + .6 + .36 + .216 + .1296 tokens a round.
DRAFT_S = (4 * STEP_S + STEP_S + 4 * WIDER_S) / 2.3056
LOOKUP_S = 1.15 * STEP_S


def _quick() -> tuple[Campaign, list[float]]:
    built = campaign(Options(quick=True))
    assert [arm.id for arm in built.arms] == ["baseline", "prompt-lookup-n8", "draft-model-n4"]
    return built, [len(prompt.text) / 3.6 + 20 for prompt in built.suite.prompts]


def test_the_expected_duration_adds_loading_prompts_probes_and_answers() -> None:
    built, prompts = _quick()

    estimate = expected(built, RATES)

    answers = 24 * 23 * (STEP_S + LOOKUP_S + DRAFT_S)
    read = 2 * sum(prompts) * PROMPT_S  # once by the target, once by the draft
    warm_up = 24 * (STEP_S + LOOKUP_S + DRAFT_S) + prompts[0] * (3 + 1) * PROMPT_S
    turn = 2 * (9 * STEP_S + 36 * WIDER_S)  # two steps of each width from 1 to 9
    probes = min(21 * turn, max(12, 5 * turn)) + 24 * STEP_S + prompts[0] * PROMPT_S
    assert estimate is not None
    assert estimate.seconds == pytest.approx(answers + read + warm_up + probes + 2 + 5)
    assert "100.0 ms for a plain token, at 10.0 GB/s and 100 GFLOPS" in estimate.basis


def test_where_each_arm_has_a_server_it_starts_and_reads_the_prompts_in_every_block() -> None:
    built, prompts = _quick()

    estimate = expected(replace(built, interleaved="block"), RATES)

    answers = 24 * 23 * (STEP_S + LOOKUP_S + DRAFT_S)
    read = sum(prompts) * (3 + 1) * PROMPT_S  # by the target of each arm, and by the draft
    warm_up = 24 * (STEP_S + LOOKUP_S + DRAFT_S) + prompts[0] * (3 + 1) * PROMPT_S
    assert estimate is not None
    assert estimate.seconds == pytest.approx(answers + read + 2 * warm_up + 3 * 2 + 2 + 5)


def test_the_quiet_quick_run_takes_about_as_long_as_was_said() -> None:
    # SmolLM2-135M in F16 with the draft in Q4_1 on one core that copies 16.6 GB/s and does 110
    # GFLOPS took 178 s; "about 85 s" was said. Beside a load of 6.8 on two cores it took 612 s.
    built, _ = _quick()
    target = replace(
        built.target.model, quantisation="F16", file_bytes=270_885_952, parameters=134_515_008
    )
    draft = replace(target, id=built.drafts[0].model.id, quantisation="Q4_1", file_bytes=98_362_432)
    known = replace(
        built,
        target=replace(built.target, model=target),
        drafts=(replace(built.drafts[0], model=draft),),
    )

    quiet = expected(known, Rates(bytes_per_s=16.6e9, flops_per_s=110e9))
    busy = expected(known, Rates(bytes_per_s=16.6e9, flops_per_s=110e9, shared=3.9))

    assert quiet is not None
    assert busy is not None
    assert 178 / 1.5 < quiet.seconds < 178 * 1.5
    assert 612 / 1.5 < busy.seconds < 612 * 1.5
    assert "3.9 times as long next to other programs" in busy.basis


def test_a_comparison_of_servers_takes_about_as_long_as_is_said() -> None:
    # SmolLM2-135M in Q4_1 on one core of a Xeon that copies 6.3 GB/s and does 97 GFLOPS: one prompt
    # of each task, 64 tokens, four blocks. Three servers took 1,348 s with next to nothing beside.
    ngram = (parse("ngram-simple"),)
    built = campaign(Options(methods=ngram, prompts=("1",), max_tokens=64, blocks=4))
    size = {"file_bytes": 98_362_432, "parameters": 134_515_008}
    model = replace(built.target.model, quantisation="Q4_1", **size)
    known = replace(built, target=replace(built.target, model=model), interleaved="block")

    estimate = expected(known, Rates(bytes_per_s=6.3e9, flops_per_s=97e9))

    assert estimate is not None
    assert 1348 / 1.5 < estimate.times(3).seconds < 1348 * 1.5


def test_the_arithmetic_rate_is_what_the_clock_says() -> None:
    readings = iter([0.0, 0.5, *(float(number) for number in range(1, 7999))])

    # The best of 0.5 s and 3,999 of 1 s for two operations on each of 64 x 64 x 64 products.
    assert arithmetic_rate(lambda: next(readings)) == 2 * 64**3 / 0.5


def test_bandwidth_is_what_the_clock_says() -> None:
    readings = iter([0.0, 0.5, 1.0, 1.25, 2.0, 4.0, *range(5, 15)])

    # The best of 0.5, 0.25, 2 and five times 1 s for copying 64 MiB, read and written.
    assert memory_bandwidth(lambda: next(readings)) == 2 * 64 * 1024 * 1024 / 0.25
