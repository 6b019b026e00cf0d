"""Files are accepted once, under their canonical name, and all faults are reported together."""

import json
from pathlib import Path

import pytest

from pipeline.collection.discover import discover
from pipeline.data.database import open_database
from pipeline.errors import RejectedError
from schemas.submission import Submission
from tests.pipeline.tables import canonical_name, findings, one, put, rows
from tests.samples import sample, sample_bytes

ROOT = Path(__file__).resolve().parents[2]


def small(**changes: object) -> Submission:
    return sample(tasks=("code",), prompts_per_task=1, blocks=1, **changes)  # type: ignore[arg-type]


def rules_of(results: Path) -> list[str]:
    return [finding.rule for finding in findings(results)]


def test_a_canonical_file_is_accepted(tmp_path: Path) -> None:
    put(tmp_path, small())

    assert rules_of(tmp_path) == []


@pytest.mark.results
def test_the_files_of_the_repository_are_accepted() -> None:
    assert rules_of(ROOT / "results") == []


def test_a_missing_results_folder_is_an_empty_one(tmp_path: Path) -> None:
    assert discover(tmp_path / "nowhere") == ()


def test_results_of_a_month_are_part_of_the_collection_wherever_they_lie(tmp_path: Path) -> None:
    flat = [put(tmp_path, small(seed=seed)) for seed in (1, 2, 3)]
    before = [source.path.name for source in discover(tmp_path)]
    month = tmp_path / "community" / "2026" / "11"
    month.mkdir(parents=True)
    flat[1].rename(month / flat[1].name)

    assert [source.path.name for source in discover(tmp_path)] == before
    assert rules_of(tmp_path) == []


def test_a_result_in_the_folder_of_another_month_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, small())
    (tmp_path / "community" / "2025" / "11").mkdir(parents=True)
    path.rename(tmp_path / "community" / "2025" / "11" / path.name)

    assert rules_of(tmp_path) == ["canonical-folder"]


def test_files_come_in_one_order(tmp_path: Path) -> None:
    for seed in (3, 1, 2):
        put(tmp_path, small(seed=seed))

    names = [source.path.name for source in discover(tmp_path)]

    assert names == sorted(names)


@pytest.mark.parametrize(
    "name",
    [
        "mine.json",
        "a--b--20261121-00000000.json",
        "b--20261121-{digest}.json",
        "a--b--20261120-{digest}.json",
        "A--b--20261121-{digest}.json",
        "a--b--c--20261121-{digest}.json",
        "a--b--20261121-{digest}.JSON",
    ],
)
def test_another_name_is_rejected(name: str, tmp_path: Path) -> None:
    path = put(tmp_path, small())
    digest = path.stem[-8:]
    path.rename(path.with_name(name.format(digest=digest)))

    assert rules_of(tmp_path) == ["canonical-name"]


def test_other_bytes_for_the_same_content_are_rejected(tmp_path: Path) -> None:
    path = put(tmp_path, small())
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=1))

    assert rules_of(tmp_path) == ["canonical-form"]


def test_the_same_content_twice_is_rejected_once(tmp_path: Path) -> None:
    path = put(tmp_path, small())
    twin = path.with_name(f"zzz{path.name}")
    twin.write_bytes(path.read_bytes())

    (finding,) = findings(tmp_path)

    assert (finding.file, finding.rule) == (str(twin), "duplicate")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    path = put(tmp_path / "elsewhere", small())
    (tmp_path / "community").mkdir()
    (tmp_path / "community" / path.name).symlink_to(path)

    assert rules_of(tmp_path) == ["regular-file"]


def test_a_file_beyond_the_size_limit_is_rejected_without_being_read_whole(tmp_path: Path) -> None:
    (tmp_path / "community").mkdir()
    with (tmp_path / "community" / "large.json").open("wb") as stream:
        stream.truncate(10**9)

    assert len(rules_of(tmp_path)) == 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"format": 1, "format": 1}'])
def test_any_invalid_bytes_become_findings(data: bytes, tmp_path: Path) -> None:
    for folder in ("community", "published"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "some-name.json").write_bytes(data)

    assert len({each.file for each in findings(tmp_path)}) == 2


def test_one_rejected_file_stops_the_build_and_all_findings_are_printed(tmp_path: Path) -> None:
    good = put(tmp_path, small())
    broken = {name: good.with_name(name) for name in ("bad.json", "worse.json")}
    for path in broken.values():
        path.write_text("{}")

    with pytest.raises(RejectedError) as stopped:
        open_database(tmp_path)

    wrong = {line.partition(": ")[0] for line in str(stopped.value).splitlines()}
    assert wrong == {str(path) for path in broken.values()}


def test_an_extra_file_is_shown_as_a_preview(tmp_path: Path) -> None:
    put(tmp_path, small())
    extra = tmp_path / "X.json"
    extra.write_bytes(sample_bytes(small(seed=7)))

    connection = open_database(tmp_path, (extra,))

    found = rows(connection, "select submission, file, preview from submission order by preview")
    digest = canonical_name(small(seed=7))[-13:-5]
    assert found == [
        (canonical_name(small()).removesuffix(".json"), canonical_name(small()), False),
        (f"preview-{digest}", "X.json", True),
    ]


def test_an_extra_file_that_is_in_the_corpus_already_adds_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, small())
    extra = tmp_path / "X.json"
    extra.write_bytes(path.read_bytes())

    connection = open_database(tmp_path, (extra,))

    assert one(connection, "select preview from submission") == (False,)
