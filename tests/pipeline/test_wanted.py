"""The wanted list has the reference models on common devices, with a command to paste."""

from dataclasses import replace

from pipeline.site.pages.shown_commands import fill
from pipeline.site.pages.strips import main_rows
from pipeline.site.pages.what_moves_it import reference_devices
from pipeline.site.rows import read
from planner.presets import preset_named
from schemas.vocabulary import REFERENCE_MODELS
from tests.pipeline.tables import Example, campaign, database, real_database

# 9B at about 5 bits take 5.2 GiB, so both the RTX 4060 8 GB (weight 3) and the RTX 3070 8 GB
# (weight 2) hold them in three quarters of their memory.


def of_the_model(contributor: str, gpu: str = "NVIDIA GeForce RTX 4060") -> Example:
    """A result for a reference model."""
    found = campaign(1.5, contributor=contributor, gpu=gpu, parameters=9_000_000_000)
    target = replace(found.submission.target, name="Qwen3.5-9B")
    return replace(found, submission=replace(found.submission, target=target))


def wanted(*contributors: str) -> dict[str, tuple[str, float]]:
    """Facts and priority of each device on the wanted list; other cards have the model too."""
    connection = database(
        *map(of_the_model, contributors),
        of_the_model("eve", gpu="NVIDIA A9"),
        of_the_model("eve", gpu="NVIDIA B9"),
    )
    rows = read(connection, "wanted")
    return {row.device_label: (row.known, row.wanted) for row in rows if row.target == "qwen3-5-9b"}


def test_an_unmeasured_common_device_comes_before_a_measured_one() -> None:
    # Three devices have the model. RTX 3070: 2 * (3 + 1). RTX 4060 is one of the three: 3 * 3 / 4.
    found = wanted("ada")

    assert found["RTX 3070 8 GB"] == ("nothing", 8.0)
    assert found["RTX 4060 8 GB"] == ("measured", 2.25)


def test_a_cell_confirmed_by_a_second_contributor_is_not_wanted() -> None:
    assert "RTX 4060 8 GB" not in wanted("ada", "bob")


def test_a_model_that_does_not_fit_in_memory_is_not_wanted() -> None:
    rows = read(database(campaign(1.5)), "wanted")

    # 27B at about 5 bits take 15.7 GiB: three quarters of 24, not of 16.
    have = {row.memory_gib for row in rows if row.target == "qwen3-8-27b"}
    assert min(have) == 24
    assert {row.target for row in rows} == set(REFERENCE_MODELS)


def test_the_command_fetches_the_preset() -> None:
    row, *_ = read(database(of_the_model("ada", gpu="NVIDIA A9")), "wanted")

    assert fill(row) == "python -m harness run --target qwen3.5-9b"


def test_a_reference_model_is_a_preset_and_called_as_in_the_results() -> None:
    rows = main_rows(real_database())
    labels = {row.target: row.target_label for row in rows}

    for each in REFERENCE_MODELS.values():
        assert labels[each.id] == each.label
        assert preset_named(each.preset)
    known = [sum(map(bool, figures)) for _, figures in reference_devices(rows)]
    assert len(known) > 31
    assert known[0] == max(known) > 1
