"""Does a run over the whole corpus say what judging file by file says, sooner and again?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pipeline.collection import corpus
from pipeline.collection.discover import discover
from pipeline.collection.validate import validate
from tests.pipeline.tables import put
from tests.samples import sample, sample_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from schemas.submission import Submission


def small(seed: int = 0) -> Submission:
    return sample(tasks=("code",), prompts_per_task=1, blocks=1, seed=seed)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Good files, and one for every way in which a place in the corpus can be missed."""
    good = put(tmp_path, small())
    put(tmp_path, small(1))
    fake = small(2)
    put(tmp_path, replace(fake, engine=replace(fake.engine, runner="fake")))
    good.with_name(f"zzz{good.name}").write_bytes(good.read_bytes())
    good.with_name("misnamed.json").write_bytes(sample_bytes(small(3)))
    good.with_name("pretty.json").write_text(json.dumps(json.loads(good.read_bytes()), indent=1))
    good.with_name("broken.json").write_bytes(b"{")
    good.with_name("linked.json").symlink_to(good)
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "empty.json").write_bytes(b"{}")
    return tmp_path


def test_the_findings_are_those_of_the_authority(results: Path) -> None:
    sources = discover(results)

    found = corpus.corpus_findings(sources)

    assert sorted(found) == sorted(validate(sources).findings)
    assert len({each.file for each in found}) == 7


def test_more_than_one_process_finds_the_same(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "_WORTH_A_PROCESS", 1)
    sources = discover(results)

    found = corpus.corpus_findings(sources, processes=2)

    assert sorted(found) == sorted(validate(sources).findings)


def test_with_certificates_it_says_the_same_again(results: Path, tmp_path: Path) -> None:
    kept, sources = tmp_path / "kept" / "certificates.json", discover(results)

    first = corpus.corpus_findings(sources, certificates=kept)
    again = corpus.corpus_findings(sources, certificates=kept)

    assert first == again
    assert sorted(first) == sorted(validate(sources).findings)
    assert len(json.loads(kept.read_bytes())["files"]) == 3  # the good ones, and the twin


def test_a_certified_file_that_changes_is_judged_anew(tmp_path: Path) -> None:
    kept, path = tmp_path / "certificates.json", put(tmp_path, small())
    assert corpus.corpus_findings(discover(tmp_path), certificates=kept) == ()
    path.write_bytes(path.read_bytes().replace(b"measured", b"imported", 1))

    found = corpus.corpus_findings(discover(tmp_path), certificates=kept)

    assert {each.file for each in found} == {str(path)}


@pytest.mark.parametrize("text", ["", "[]", '{"validator": "another", "files": {}}'])
def test_certificates_of_another_validator_are_worth_nothing(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, small())
    path.write_bytes(b"{}")
    kept = tmp_path / "certificates.json"
    kept.write_text(text)

    found = corpus.corpus_findings(discover(tmp_path), certificates=kept)

    assert {each.file for each in found} == {str(path)}


def test_a_missing_corpus_is_sound() -> None:
    assert corpus.corpus_findings(()) == ()
