"""Non-default settings have their own cells, and no pool mixes them."""

import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl
import pytest

from estimates.identity import canonical_name, identify, non_default
from estimates.summary import summarize
from pipeline.data.database import open_database
from pipeline.intake.authorship import Sending, sending_findings
from pipeline.site.charts import draw
from pipeline.site.pages.explore import axes_of
from pipeline.site.pages.shown_commands import NamedSetting, measure, setting_of, use
from pipeline.site.pages.submissions import engine_facts
from pipeline.site.rows import frame, read
from schemas import contract
from schemas.rig import PowerMode
from schemas.submission import Settings, Submission
from tests.contexts import at_depth
from tests.nightly import few
from tests.pipeline.tables import database, entry, findings, one, rows
from tests.samples import SETTINGS, sample

OLD = sorted((Path(__file__).parents[1] / "data" / "version_1").glob("*.json"))
DRAWN = {"sampling": "other", "temperature": 0.8, "sampling_seed": 3}


def known(*submissions: Submission) -> duckdb.DuckDBPyConnection:
    return database(*(entry(each, summarize(each)) for each in submissions))


@pytest.mark.parametrize(
    ("changed", "label", "options"),
    [
        ({}, None, ()),
        ({"kv_type_k": None, "kv_type_v": None, "flash_attention": None}, None, ()),
        ({"context_depth_tokens": 4096}, "context 4096", ("--context-depth", "4096")),
        (DRAWN, "temperature 0.8", ("--temperature", "0.8")),
        ({"sampling": "other"}, "not greedy", ()),
        ({"max_output_tokens": 32}, None, ()),
        ({"max_output_tokens": 31}, "answers of 31 tokens", ("--max-tokens", "31")),
        ({"kv_type_k": "q8_0"}, "KV q8_0 and f16", ("--cache-type-k", "q8_0")),
        (
            {"kv_type_k": "q4_0", "kv_type_v": "q4_0", "flash_attention": "on"},
            "KV q4_0, flash attention on",
            (
                *("--flash-attention", "on"),
                *("--cache-type-k", "q4_0", "--cache-type-v", "q4_0"),
            ),
        ),
        ({"cpu_expert_layers": -1}, "experts of all layers on the CPU", ("--n-cpu-moe", "all")),
        ({"cpu_expert_layers": 1}, "experts of 1 layer on the CPU", ("--n-cpu-moe", "1")),
        (
            {"split_mode": "row", "server_arguments": ("--cache-reuse 256",)},
            "split mode row",  # the argument is named by its effect
            ("--split-mode", "row", "--server-arg=--cache-reuse 256"),
        ),
    ],
)
def test_non_default_settings_are_named_with_the_options_that_set_them(
    changed: dict[str, object], label: str | None, options: tuple[str, ...]
) -> None:
    found = non_default(replace(SETTINGS, **changed))  # type: ignore[arg-type]

    assert (found.label, found.measured_with) == (label, options)


def test_an_unstated_setting_counts_as_the_default() -> None:
    assert non_default(Settings()).label is None


def test_a_machine_in_low_power_mode_is_kept_apart() -> None:
    made = sample()

    def conditions(mode: PowerMode) -> str | None:
        return identify(replace(made, machine=replace(made.machine, power_mode=mode))).conditions

    assert conditions("low") == "low-power mode"
    assert (conditions("balanced"), conditions("high")) == (None, None)


def test_texts_in_another_language_are_kept_apart() -> None:
    made = sample()

    german = identify(replace(made, suite=replace(made.suite, language="de")))

    assert german.conditions == "German text"
    assert german.address_stem == f"{identify(made).address_stem}-german-text"


def test_only_unusual_settings_are_part_of_an_address() -> None:
    usual, deep = sample(), at_depth(4096)

    assert identify(usual).address_stem == "rtx-4060-8-gb-cuda-sample-7b-q4-k-m"
    assert identify(deep).address_stem == "rtx-4060-8-gb-cuda-sample-7b-q4-k-m-context-4096"
    assert identify(usual).target == identify(deep).target


def test_two_depths_are_two_cells_but_two_seeds_are_one() -> None:
    one_seed = replace(sample(), settings=replace(SETTINGS, **DRAWN))  # type: ignore[arg-type]
    other = replace(
        sample(seed=5, contributor="bob"), settings=replace(one_seed.settings, sampling_seed=9)
    )
    connection = known(at_depth(512), at_depth(4096), one_seed, other)

    found = rows(
        connection,
        "select conditions, submissions from cell"
        " where method = 'draft-model' and task = 'code' order by conditions",
    )
    assert found == [("context 4096", 1), ("context 512", 1), ("temperature 0.8", 2)]


def test_two_versions_of_a_suite_and_their_settings_meet_in_no_cell() -> None:
    first = sample()
    later = replace(
        sample(seed=5, contributor="bob"), suite=replace(first.suite, id="core", version="2.0.0")
    )
    connection = known(replace(first, suite=replace(first.suite, id="core")), later)

    found = rows(
        connection,
        "select suite_label, submissions from cell"
        " where method = 'draft-model' and task = 'code' order by suite_label nulls first",
    )
    assert found == [(None, 1), ("core 2", 1)]
    assert identify(later).address_stem == f"{identify(first).address_stem}-core-2"
    assert list(axes_of(frame(connection, "explore_cells"))) == ["suite"]


def test_maps_know_the_usual_settings_only() -> None:
    alone, both = known(sample()), known(sample(), at_depth(512), at_depth(4096))

    for question in (
        "select device, task, scope, speedup, dots, other_dots from pair order by all",
        "select device, task, speedup from speedup order by all",
    ):
        assert rows(both, question) == rows(alone, question), question


def test_drawn_texts_are_compared_with_nothing() -> None:
    greedy = summarize(sample())
    drawn = summarize(replace(sample(), settings=replace(SETTINGS, **DRAWN)))  # type: ignore[arg-type]

    (one_task,) = [
        each for each in drawn.estimates if (each.arm, each.task) == ("draft-model-n4", "code")
    ]
    assert one_task.exactness.not_compared == one_task.prompts
    assert [each.speedup for each in drawn.estimates] == [each.speedup for each in greedy.estimates]


def test_a_series_goes_over_the_depths_of_context_and_the_chart_says_how_it_changes() -> None:
    connection = known(at_depth(512), at_depth(4096, extra_width_ms=6.0))
    found = [
        (row.context_depth, row.round_cost)
        for row in read(connection, "context")
        if row.method == "draft-model"
    ]
    chart = draw(connection, "context")

    # R = (step + 4 extra + 4 drafted) / step: (20 + 4 * 2 + 4 * 2) / 20 and (20 + 4 * 6 + 8) / 20.
    assert [depth for depth, _ in found] == [512, 4096]
    assert [cost for _, cost in found] == pytest.approx([36 / 20, 52 / 20], rel=0.02)
    assert "after 512 tokens to" in chart.takeaway
    assert "after 4,096 tokens." in chart.takeaway


def test_without_all_tasks_the_series_are_those_of_single_tasks() -> None:
    connection = known(
        at_depth(512, tasks=("code", "chat"), per_task=3),
        at_depth(4096, tasks=("chat",), per_task=3),
    )

    assert [
        (row.arm_label.rpartition(" · ")[2], row.context_depth)
        for row in read(connection, "context")
        if row.method == "draft-model"
    ] == [("chat", 512), ("chat", 4096)]
    assert not draw(connection, "context").empty


def test_one_depth_alone_makes_no_series_and_no_chart() -> None:
    connection = known(at_depth(512), sample())

    assert draw(connection, "context").empty


def test_explore_filters_by_an_axis_on_which_cells_differ() -> None:
    usual, mixed = known(sample()), known(sample(), at_depth(4096))

    assert axes_of(frame(usual, "explore_cells")) == {}
    assert list(axes_of(frame(mixed, "explore_cells"))) == ["context", "conditions"]


def test_the_line_that_measures_a_cell_again_has_its_conditions() -> None:
    (row,) = [
        each
        for each in read(known(at_depth(512)), "explore")
        if (each.method, each.task) == ("draft-model", "code")
    ]

    assert " --context-depth 512 --tasks code" in measure([setting_of(row)])


def test_an_argument_with_a_blank_is_one_word_from_the_file_to_the_printed_line() -> None:
    changed = replace(SETTINGS, split_mode="row", server_arguments=("--cache-reuse 256",))
    tables = known(replace(sample(), settings=changed))

    setting = setting_of(read(tables, "explore")[0])

    assert setting.conditions == ["--split-mode", "row", "--server-arg=--cache-reuse 256"]
    assert " --split-mode row '--server-arg=--cache-reuse 256'" in measure([setting])
    # The data files have the same as text.
    assert one(tables, "select distinct measured_with from evidence") == (
        "--split-mode row --server-arg='--cache-reuse 256'",
    )


@pytest.mark.parametrize("old", few(OLD, 1), ids=lambda path: path.stem)
def test_a_file_of_version_1_keeps_bytes_name_and_addresses_up_to_the_tables(
    old: Path, tmp_path: Path
) -> None:
    data = old.read_bytes()
    submission = contract.read(data)
    assert isinstance(submission, Submission)
    name = canonical_name(submission, data)
    folder = tmp_path / "community"
    folder.mkdir()
    shutil.copy(old, folder / name)

    tables = open_database(tmp_path)

    assert not findings(tmp_path)
    assert (folder / name).read_bytes() == data
    assert rows(tables, "select submission, file, temperature from submission") == [
        (name.removesuffix(".json"), name, None)
    ]
    sent = sending_findings(name, submission, Sending())
    assert [each for each in sent if each.rule == "canonical-name"] == []
    # The same campaign, written today, has the same addresses for its cells.
    today = known(submission)
    assert rows(tables, "select cell from cell order by all") == rows(
        today, "select cell from cell order by all"
    )


def test_no_cells_give_no_axes() -> None:
    columns = (
        *("suite_label", "context_depth", "token_choice", "answer_limit", "cache_types"),
        *("attention", "loading", "conditions"),
    )

    assert axes_of(pl.DataFrame({name: [] for name in columns})) == {}


def test_a_setting_measured_on_vllm_gets_a_vllm_command() -> None:
    setting = NamedSetting(
        target="Qwen3-8B BF16", draft="Small Q8_0", method="draft-model", depth=5, engine="vLLM"
    )

    line = use(setting)
    assert line is not None
    assert line.text == (
        "vllm serve Qwen3-8B --speculative-config "
        '\'{"method": "draft_model", "num_speculative_tokens": 5, "model": "Small-Q8_0"}\''
    )
    assert use(replace(setting, method="ngram-mod")) is None


def test_the_page_of_a_submission_names_the_settings_that_are_not_usual() -> None:
    changed = replace(SETTINGS, split_mode="row", cpu_expert_layers=3, server_arguments=("-x 1",))
    (row,) = read(known(replace(sample(), settings=changed)), "submission")

    facts = dict(engine_facts(row))

    assert facts["Split mode"] == "row"
    assert facts["Layers with experts on the CPU"] == "3 layers"
    assert facts["Further arguments"] == "-x 1"
    assert "Type of the key cache" not in facts
