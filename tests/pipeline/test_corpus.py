"""A run over the whole corpus finds the same as checks file by file."""

import json
from pathlib import Path

import pytest

from pipeline.collection.discover import discover
from pipeline.collection.validation import findings_of, validate
from schemas.submission import Submission
from tests.pipeline.tables import put
from tests.samples import sample, sample_bytes


def small(seed: int = 0) -> Submission:
    return sample(tasks=("code",), prompts_per_task=1, blocks=1, seed=seed)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Good files, and one for every way to be in a wrong place in the corpus."""
    good = put(tmp_path, small())
    put(tmp_path, small(1))
    good.with_name(f"zzz{good.name}").write_bytes(good.read_bytes())
    good.with_name("misnamed.json").write_bytes(sample_bytes(small(3)))
    good.with_name("pretty.json").write_text(json.dumps(json.loads(good.read_bytes()), indent=1))
    good.with_name("broken.json").write_bytes(b"{")
    good.with_name("linked.json").symlink_to(good)
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "empty.json").write_bytes(b"{}")
    return tmp_path


def test_the_findings_equal_those_of_validate(results: Path) -> None:
    sources = discover(results)

    found = tuple(findings_of(sources))

    assert sorted(found) == sorted(validate(sources).findings)
    assert len({each.file for each in found}) == 6


def test_a_missing_corpus_has_no_findings() -> None:
    assert not tuple(findings_of(()))
