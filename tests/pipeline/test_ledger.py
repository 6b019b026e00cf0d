"""A result's page shows its earlier prediction, and states if that was wrong."""

from pathlib import Path

from pipeline.site.pages.ledger import registered

HEADER = "task,method,depth,predicted,low,high,truth,source"


def test_a_figure_outside_its_interval_is_a_miss_and_without_one_neither(tmp_path: Path) -> None:
    rows = [f"all,mtp,3,1.2,{ends},a" for ends in ("1.0,1.5,1.5", "1.0,1.5,0.9", ",,0.9")]
    (tmp_path / "ledger.csv").write_text("\n".join([HEADER, "code,mtp,3,1.2,1,2,3,a", *rows]))

    found = registered(tmp_path / "ledger.csv")

    assert [each["hit"] for each in found["a"]] == [True, False, None]


def test_entries_are_found_by_the_result_that_they_were_made_for() -> None:
    found = registered()

    assert sum(map(len, found.values())) > 800
    assert len(found["draftbench"]) > 400
