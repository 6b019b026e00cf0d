"""Databases shared by tests that do not change them, and a new repository for tests that do."""

from pathlib import Path

import duckdb
import pytest

from pipeline.data.database import open_database
from tests.pipeline.repositories import Repository
from tests.pipeline.tables import small_corpus, whole_database

PUBLISHED = Path(__file__).resolve().parents[2] / "results" / "published"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with four submissions and the published documents of the repository."""
    results = small_corpus(tmp_path_factory.mktemp("results"))
    folder = results / "published"
    folder.mkdir()
    for path in sorted(PUBLISHED.glob("*.json")):
        (folder / path.name).write_bytes(path.read_bytes())
    return results


@pytest.fixture(scope="session")
def full(corpus: Path) -> duckdb.DuckDBPyConnection:
    return open_database(corpus)


@pytest.fixture(scope="session")
def empty() -> duckdb.DuckDBPyConnection:
    return whole_database()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)
