"""Options become the campaign that they describe."""

from pathlib import Path

import pytest

from harness.campaign import suite
from harness.campaign.builder import DEFAULT_RUNNER_ENTRY, build, first_look, profile
from harness.campaign.from_options import campaign_from, draft_names, usable_methods
from harness.campaign.method_parser import defaults, parse
from harness.campaign.model import Campaign, Stopping
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from planner.presets import DEFAULT_TARGET
from schemas.method import Method
from schemas.submission import Model
from schemas.vocabulary import FIXED_TASKS, RUNNERS, RunnerEntry
from tests.harness.ggufs import write_gguf


def model(model_id: str, **fields: int) -> ModelFile:
    described = Model(id=model_id, name=model_id, quantisation="F16", file_bytes=10**9, **fields)  # type: ignore[arg-type]
    return ModelFile(path=Path(model_id), model=described)


def campaign(
    options: Options | None = None, drafts: int = 1, runner: RunnerEntry = DEFAULT_RUNNER_ENTRY
) -> Campaign:
    options = options or Options()
    chosen = suite.select(
        suite.load(options.suite or "core"),
        tasks=options.tasks,
        prompts=options.prompts,
        quick=options.quick,
    )
    return build(
        options,
        target=model("target"),
        drafts=tuple(model("draft") for _ in range(drafts)),
        methods=options.methods or defaults(DEFAULT_RUNNER_ENTRY),
        suite=chosen,
        runner=runner,
    )


def test_the_default_campaign_has_three_arms_two_blocks_with_repeats_and_the_fixed_tasks() -> None:
    built = campaign()

    assert [arm.id for arm in built.arms] == ["baseline", "prompt-lookup-n8", "draft-model-n4"]
    assert [arm.baseline for arm in built.arms] == [None, "baseline", "baseline"]
    assert built.blocks == 2
    assert built.stopping == Stopping(repeat_beyond=0.15)
    assert (len(built.suite.prompts), built.profile) == (64, "default")
    assert built.settings.max_output_tokens == 96
    assert built.arms[2].method == Method(type="draft-model", draft="draft", n_max=4)


def test_quick_is_one_block_of_fewer_prompts_with_shorter_outputs() -> None:
    built = campaign(Options(quick=True))

    assert (built.blocks, len(built.suite.prompts), built.profile) == (1, 24, "quick")
    assert (built.settings.max_output_tokens, built.stopping.repeat_beyond) == (32, None)


def test_a_first_look_through_a_server_repeats_one_prompt_of_each_task_three_times() -> None:
    looked = first_look(Options(quick=True, target="qwen3-8b"))
    embedded = first_look(Options(quick=True, target=DEFAULT_TARGET))

    built = campaign(looked)
    assert (built.blocks, len(built.suite.prompts), built.suite.id) == (3, 8, "core")
    assert (embedded.blocks, embedded.prompts, embedded.suite) == (3, ("1",), "short")
    assert (embedded.methods, embedded.max_output_tokens) == ((parse("draft-model"),), 64)
    short = suite.load("short")
    assert sorted(prompt.task for prompt in short.prompts) == sorted(FIXED_TASKS)
    assert max(len(prompt.text) for prompt in short.prompts) < 200


@pytest.mark.parametrize(
    ("asked", "prompts", "blocks"),
    [
        (Options(), (), None),
        (Options(quick=True, blocks=2), (), 2),
        (Options(quick=True, tasks=("code",)), (), 3),
        (Options(quick=True, prompts=("2",)), ("2",), 3),
        (Options(quick=True, concurrency=(1, 16)), (), 3),  # as many at once need as many prompts
    ],
)
def test_a_first_look_keeps_the_chosen_options(
    asked: Options, prompts: tuple[str, ...], blocks: int | None
) -> None:
    looked = first_look(asked)

    assert (looked.prompts, looked.blocks, looked.suite) == (prompts, blocks, None)


@pytest.mark.parametrize(
    ("options", "expected_profile"),
    [
        (Options(), "default"),
        (Options(quick=True), "quick"),
        (Options(target="x.gguf", drafts=("y.gguf",), threads=4, gpu_layers=20), "default"),
        (Options(seed=7, quick=True), "quick"),
        (Options(blocks=5), "custom"),
        (Options(quick=True, tasks=("code",)), "custom"),
        (Options(max_output_tokens=64), "custom"),
        (Options(methods=(parse("prompt-lookup"),)), "custom"),
        (Options(context_tokens=4096), "custom"),
    ],
)
def test_options_that_change_the_measurement_make_the_profile_custom(
    options: Options, expected_profile: str
) -> None:
    assert profile(options) == expected_profile


def test_passes_are_repeated_three_times_since_only_they_show_how_passes_differ() -> None:
    served = campaign(runner=RUNNERS["llama-server"])

    assert (served.blocks, served.stopping, len(served.suite.prompts)) == (3, Stopping(), 64)


def test_many_arms_halve_the_prompts_and_leave_no_block_for_repeats() -> None:
    depths = tuple(parse(f"prompt-lookup:n_max={depth}") for depth in range(2, 13))
    seven, twelve = campaign(Options(methods=depths[:6])), campaign(Options(methods=depths))
    asked = campaign(Options(methods=depths, tasks=("tools",)))

    assert (len(seven.suite.prompts), seven.stopping.repeat_beyond) == (64, None)
    assert (len(twelve.suite.prompts), twelve.blocks) == (32, 2)
    assert (len(asked.suite.prompts), asked.stopping.repeat_beyond) == (8, 0.15)


@pytest.mark.usefixtures("cache_dir")
def test_through_a_server_arms_take_turns_by_passes_and_a_quick_run_stays_one(
    tmp_path: Path,
) -> None:
    target = str(write_gguf(tmp_path / "own.gguf"))
    asked = Options(target=target, quick=True)

    built = campaign_from(asked, say=lambda _: None, runner=RUNNERS["llama-server"])

    assert (built.interleaved, built.profile, built.blocks) == ("block", "quick", 3)
    assert [arm.method.type for arm in built.arms] == ["none", "ngram-simple"]


def test_every_draft_gets_its_own_arm_and_id() -> None:
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
        (Options(budget_min=2.5), 2, Stopping(repeat_beyond=0.15, budget_s=150.0)),
        (Options(blocks=2), 2, Stopping()),
        (Options(blocks=4, budget_min=1.0), 4, Stopping(budget_s=60.0)),
        (Options(quick=True), 1, Stopping()),
    ],
)
def test_the_blocks_are_fixed_and_time_may_end_them_earlier(
    options: Options, blocks: int, expected: Stopping
) -> None:
    built = campaign(options)

    assert (built.blocks, built.stopping) == (blocks, expected)


def test_a_preset_target_brings_its_draft_and_another_does_not() -> None:
    assert draft_names(Options()) == ("smollm2-135m:q4_1",)
    assert draft_names(Options(target="qwen3-8b")) == ("qwen3-0.6b",)
    assert draft_names(Options(target="own.gguf")) == ()
    assert draft_names(Options(target="own.gguf", drafts=("d.gguf",))) == ("d.gguf",)


@pytest.mark.usefixtures("cache_dir")
def test_without_a_draft_the_default_methods_do_without_it(tmp_path: Path) -> None:
    methods = usable_methods(Options(target=str(write_gguf(tmp_path / "own.gguf"))), ())

    assert methods == (Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4),)


@pytest.mark.usefixtures("cache_dir")
def test_a_target_without_a_known_draft_is_announced_after_it_is_found(tmp_path: Path) -> None:
    said: list[str] = []

    campaign_from(Options(target=str(write_gguf(tmp_path / "own.gguf"))), say=said.append)
    with pytest.raises(BadInputError, match="does not exist"):
        campaign_from(Options(target=str(tmp_path / "none.gguf")), say=said.append)

    assert said == [
        "No draft model is known for this target; name a draft with --draft to measure it too."
    ]


@pytest.mark.usefixtures("cache_dir")
def test_gathering_brings_models_and_prompts_together(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "target.gguf")
    draft = write_gguf(tmp_path / "draft.gguf")
    options = Options(target=str(target), drafts=(str(draft),), tasks=("code",), quick=True)

    built = campaign_from(options, say=print)

    assert [prompt.task for prompt in built.suite.prompts] == ["code"] * 3
    assert [draft.model.id for draft in built.drafts] == ["tiny-test-1m-instruct-f16"]
