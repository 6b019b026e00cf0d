"""A prediction is that of a campaign's own probes, beside what the same campaign measured."""

from dataclasses import replace

import pytest

from pipeline.site.rows import read
from tests.pipeline.tables import Example, campaign, database, entry, one, rows


def probed(made: Example, predicted: float, **changes: object) -> Example:
    """The same with a speedup that its probes predict."""
    (estimate,) = made.summary.estimates
    own = replace(estimate, predicted_speedup=predicted, **changes)  # type: ignore[arg-type]  # fields of an estimate
    return entry(made.submission, replace(made.summary, estimates=(own,)))


def test_several_machines_of_a_contributor_are_one_prediction() -> None:
    here = campaign(1.2, contributor="ada")
    there = campaign(2.7, contributor="Ada")
    machine = replace(there.submission.machine, ram_mib=65_536)
    there = entry(replace(there.submission, machine=machine), there.summary)

    connection = database(probed(here, 1.0), probed(there, 4.0))

    # Geometric means: of 1.2 and 2.7, of 1 and 4.
    columns = "voter, speedup, predicted_speedup, unexplained"
    assert rows(connection, f"select {columns} from prediction") == [  # noqa: S608 - names of our own
        ("ada", pytest.approx(1.8), pytest.approx(2.0), pytest.approx(-0.1))
    ]


def test_the_chart_says_how_far_off_a_prediction_is_either_way() -> None:
    connection = database(probed(campaign(1.2), 1.5))

    assert one(connection, "select unexplained from prediction") == (pytest.approx(-0.2),)
    (drawn,) = read(connection, "predictions")
    assert (drawn.predicted, drawn.speedup, drawn.off_by) == (1.5, 1.2, pytest.approx(0.25))


@pytest.mark.parametrize(
    "example",
    [
        campaign(1.2),
        probed(campaign(1.2, tier="imported"), 1.5),
        probed(campaign(1.2, task="all"), 1.5),
        probed(campaign(1.2, verdict="uncertain"), 1.5, doubt="not-interleaved"),
    ],
    ids=["no probes", "records of another tool", "over all tasks", "a serious flag"],
)
def test_nothing_else_is_a_prediction(example: Example) -> None:
    assert rows(database(example), "from prediction") == []
