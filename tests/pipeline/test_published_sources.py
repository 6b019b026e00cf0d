"""With several sources, each figure counts once, and each device and model has one name."""

import duckdb
import pytest

from tests.pipeline.tables import one, real_database, rows

ROWS = """
    select device, target, method, regexp_replace(source, '-sweeps$', '') as source
    from published_pair where speedup is not null
    union all
    select device, target, method, coalesce(source.source, 'own')
    from evidence
    left join submission using (submission)
    left join source on list_contains(source.file_digests, submission.origin_sha256)
    where role = 'speculation' and counted
"""


@pytest.fixture(scope="module")
def everything() -> duckdb.DuckDBPyConnection:
    return real_database()


def test_no_source_has_more_than_half_of_the_devices_models_and_methods(
    everything: duckdb.DuckDBPyConnection,
) -> None:
    shares = f"""
        select max(own) / (select count(distinct (device, target, method)) from ({ROWS}))
        from (select count(distinct (device, target, method)) as own from ({ROWS}) group by source)
    """  # noqa: S608 - the query above

    (share,) = one(everything, shares)

    assert share <= 0.5


def test_a_measurement_in_two_sources_of_a_person_counts_once(
    everything: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        select count(*), count(distinct source) from {table}
        where contributor = 'shiwuxiu' and depth = 2 and tps = 23.7 and baseline_tps = 11.5
    """

    assert one(everything, query.format(table="published_rate")) == (1, 1)
    held = """
        select count(*) from published_row
        where row_id in ('mtp-radeon-8060s-shiwuxiu', 'mtp-radeon-8060s-n2')
    """
    assert one(everything, held) == (2,)


@pytest.mark.parametrize("column", ["device", "target"])
def test_no_two_names_differ_only_in_blanks_and_hyphens(
    everything: duckdb.DuckDBPyConnection, column: str
) -> None:
    query = f"""
        select list(distinct {column} order by {column}) from ({ROWS})
        group by regexp_replace({column}, '-|instruct|-[0-9]+-gb$', '', 'g')
        having count(distinct {column}) > 1
    """  # noqa: S608 - the columns above

    assert rows(everything, query) == []


def test_the_grid_of_drafts_has_every_pair_with_its_losses(
    everything: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        select count(*), count(*) filter (loses), count(distinct quantisation),
          count(distinct (draft_label, draft_quantisation))
        from draft_grid where source = 'draftbench'
    """
    smallest = """
        select tps, baseline_tps, round(speedup, 3), loses from draft_grid
        where target = 'qwen2-5-7b-instruct' and quantisation = 'F16'
          and draft_label = 'Qwen2.5-0.5B-Instruct' and draft_quantisation = 'Q8_0'
    """

    assert one(everything, query) == (441, 52, 9, 31)
    assert one(everything, smallest) == (97.29, 33.63, 2.893, False)
