"""Concurrent requests have their own part of the site, which shows how speedups decline."""

from dataclasses import replace

import pytest

from estimates.summary import summarize
from pipeline.site.charts import draw
from pipeline.site.pages.shown_commands import NamedSetting, measure, setting_of
from pipeline.site.rows import read
from tests.concurrency import concurrent
from tests.pipeline.tables import database, entry, one, rows
from tests.samples import sample


def test_a_series_goes_from_one_request_to_many() -> None:
    submission = concurrent(1, 2, 4)
    connection = database(entry(submission, summarize(submission)))

    found = rows(
        connection,
        "select concurrency, speedup, round_cost from cell"
        " where method = 'draft-model' and task = 'all' order by concurrency",
    )

    # R = (18 + 10 c + 4 * 2) / (18 + 2 c), the tokens per round stay.
    assert [row[0] for row in found] == [1, 2, 4]
    assert [row[2] for row in found] == pytest.approx([36 / 20, 46 / 22, 66 / 26], rel=0.01)
    assert found[0][1] > found[1][1] > found[2][1]


def test_the_total_of_the_newest_submission_is_shown_next_to_it() -> None:
    submission = concurrent(1, 4)
    summary = summarize(submission)
    connection = database(entry(submission, summary))

    (told,) = [each for each in summary.throughput if each.arm == "draft-model-n4-c4"]
    (shown,) = [
        row.total_speedup
        for row in read(connection, "concurrency")
        if (row.method, row.concurrency) == ("draft-model", 4)
    ]

    assert shown == told.total_speedup


def test_one_level_alone_makes_no_series() -> None:
    submission = concurrent(4)
    connection = database(entry(submission, summarize(submission)))

    assert read(connection, "concurrency") == ()


def test_the_map_is_about_single_requests() -> None:
    submission = concurrent(1, 4)
    both = database(entry(submission, summarize(submission)))
    alone = database(entry(concurrent(1), summarize(concurrent(1))))

    question = "select device, task, scope, speedup, dots, other_dots from pair order by all"
    assert rows(both, question) == rows(alone, question)
    assert one(both, "select count(*) from cell") == (
        2 * one(alone, "select count(*) from cell")[0],
    )


def test_another_engine_on_the_same_machine_is_another_cell() -> None:
    inside = sample()
    outside = replace(
        inside, engine=replace(inside.engine, runner="openai", name="vLLM", package_version=None)
    )
    connection = database(entry(inside, summarize(inside)), entry(outside, summarize(outside)))

    cells = rows(
        connection,
        "select engine_label, submissions, cell from cell"
        " where task = 'code' and method = 'draft-model' order by all",
    )
    assert [row[:2] for row in cells] == [("llama.cpp in-process", 1), ("vLLM", 1)]
    assert "-vllm-" in cells[1][2]
    assert "llama" not in cells[0][2]
    assert one(connection, "select count(distinct setup) from explore where task = 'code'") == (4,)


def test_the_chart_names_series_in_which_more_requests_clearly_cost_speedup() -> None:
    submission = concurrent(1, 8, prompts_per_task=3)
    chart = draw(database(entry(submission, summarize(submission))), "concurrency")

    assert "with more requests at once in 2 of 2 series, clearly in 1." in chart.takeaway
    assert "from 1.71\N{MULTIPLICATION SIGN} 1 at once to 0.99" in chart.takeaway
    assert {row[2] for row in chart.table.rows} == {1, 8}


@pytest.mark.parametrize(
    ("runner", "name", "level", "tail"),
    [
        ("llama-cpp-python", "llama.cpp", 1, ""),
        ("llama-server", "llama.cpp", 4, " --runner llama-server --concurrency 4"),
        ("imported", "llama.cpp", 1, ""),
        ("openai", "vLLM", 1, " --runner openai --base-url URL --spec-base-url URL"),
    ],
)
def test_a_command_reaches_the_engine_of_its_cell(
    runner: str, name: str, level: int, tail: str
) -> None:
    plain = concurrent(level)
    submission = replace(plain, engine=replace(plain.engine, runner=runner, name=name))  # type: ignore[arg-type]
    connection = database(entry(submission, summarize(submission)))
    (cell,) = [
        each
        for each in read(connection, "cell")
        if (each.method, each.task) == ("draft-model", "code")
    ]

    assert measure([setting_of(cell)]) == (
        "python -m harness run --target Sample-7B-Q4_K_M.gguf --draft Tiny-500M-Q8_0.gguf"
        f" --method draft-model:n_max=4{tail} --tasks code"
    )


def test_a_method_without_a_name_cannot_be_asked_for() -> None:
    imported = NamedSetting(target="M", draft=None, method="other", depth=3, engine="llama.cpp")

    assert measure([imported]) == "python -m harness run --target M.gguf --runner llama-server"
