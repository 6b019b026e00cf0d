"""Devices, targets and sizes have short common names and stable addresses."""

from dataclasses import replace

from tests.pipeline.tables import campaign, database, entry, one


def test_a_mixture_of_experts_is_shown_by_total_and_active_parameters() -> None:
    base = campaign(1.0, parameters=30_000_000_000)
    target = replace(base.submission.target, active_parameters=3_000_000_000)
    connection = database(entry(replace(base.submission, target=target), base.summary))

    assert one(connection, "select parameters_label, size_class from target") == (
        "30B (3B active)",
        "16–40B",  # noqa: RUF001 - en dash
    )
