"""Every foreign figure has a source with an author, an address and a licence."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "sources.v1.schema.json").read_bytes())
SOURCES: list[dict[str, Any]] = tomllib.loads(
    (ROOT / "results" / "sources.toml").read_text(encoding="utf-8")
)["source"]
IMPORTED = [
    found
    for path in sorted((ROOT / "results" / "community").rglob("*.json"))
    if (found := json.loads(path.read_bytes()))["tier"] == "imported"
]
# Transcribed before sources had a place for a licence, and one with more rows than others may have.
WITHOUT_LICENCE = {
    "llama-cpp-cheap-gpus",
    "rtx-3090-beellama-dflash",
    "rtx-4060-8gb-split-vram",
    "rtx-5060-ti-vllm-hosting",
    "hemingkx-spec-bench",  # one row a method and task
}
MOST_CITED = 25  # figures of a source without a licence, which are facts


def test_the_table_of_sources_satisfies_its_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    assert list(Draft202012Validator(SCHEMA).iter_errors({"source": SOURCES})) == []
    assert len({source["id"] for source in SOURCES}) == len(SOURCES)


@pytest.mark.results
def test_a_file_imported_from_a_source_has_its_licence_and_format() -> None:
    files = {file["sha256"]: source for source in SOURCES for file in source.get("files", ())}
    listed = [each["origin"] for each in IMPORTED if each["origin"]["sha256"] in files]

    assert listed
    for origin in listed:
        source = files[origin["sha256"]]
        assert origin["licence"] == source["licence"]
        assert origin["format"] == source["format"]
        assert source["author"] in origin["source"]
        assert source["url"] in origin["source"]


@pytest.mark.results
def test_every_file_of_a_source_became_a_result() -> None:
    used = {submission["origin"]["sha256"] for submission in IMPORTED}

    assert {file["sha256"] for source in SOURCES for file in source.get("files", ())} <= used


@pytest.mark.parametrize(
    "path", sorted((ROOT / "results" / "published").glob("*.json")), ids=lambda path: path.stem
)
def test_a_published_file_names_its_licence_and_extent_or_cites_few_figures(
    path: Path,
) -> None:
    document = json.loads(path.read_bytes())
    source = document["source"]
    asked = {"author", "licence", "commit", "url", "taken", "left_out"}
    cited = [row for row in document["rows"] if row["kind"] == "speculation"]

    assert asked <= source.keys() or source["id"] in WITHOUT_LICENCE or len(cited) <= MOST_CITED


def test_no_file_was_imported_without_a_licence() -> None:
    assert all("licence" in source for source in SOURCES if source["use"] != "not-taken")
