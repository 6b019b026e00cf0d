"""Posted figures agree with the collection of them, and no person outweighs the others.

If the collection is available, random rows are compared with the entry that their id numbers. The
requirements for every file are tested everywhere.
"""

import json
import os
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from answers.model_names import model_key
from pipeline.site.pages import evidence_file
from tests.pipeline.tables import one, real_database
from tools.sources import reported

ROOT = Path(__file__).parents[1]
COPIES = Path(os.environ.get("DRAFTMAP_SOURCES", ROOT.parent / "shared" / "sources"))
COLLECTION = COPIES.parent / "data" / "reported_second.json"
NOTE = "Single figures, cited as facts from a collection that was read in November 2026."
DRAWN = 60
POSTED = [
    document
    for path in sorted((ROOT / "results" / "published").glob("*.json"))
    for document in [json.loads(path.read_bytes())]
    if document["source"].get("note") == NOTE
]
ROWS = [
    (document, row)
    for document in POSTED
    for row in document["rows"]
    if row["kind"] == "speculation"
]


def values(row: dict[str, Any]) -> dict[str, float]:
    return {figure["quantity"]: figure["value"] for figure in row["figures"]}


def baseline(document: dict[str, Any], row: dict[str, Any]) -> dict[str, Any] | None:
    return next((each for each in document["rows"] if each["id"] == row.get("baseline_row")), None)


def speedup(document: dict[str, Any], row: dict[str, Any]) -> float:
    base = baseline(document, row)
    own = values(row)
    return own["decode_tps"] / values(base)["decode_tps"] if base else own["speedup"]


def test_rows_drawn_at_random_are_the_entries_that_their_ids_number() -> None:
    entries = reported.read(COLLECTION.parent) if COLLECTION.exists() else []
    drawn = random.Random(49).sample(ROWS, DRAWN)  # noqa: S311 - a sample

    assert all(row["id"][1:].isdigit() for _, row in drawn)
    for document, row in drawn if entries else ():
        entry = entries[int(row["id"].removeprefix("n"))].entry
        rig = next(each for each in document["rigs"] if each["id"] == row["rig"])
        base = baseline(document, row)
        own = values(row)
        assert speedup(document, row) == pytest.approx(entry["speedup"], rel=0.02), row["id"]
        assert (base and values(base)["decode_tps"]) == (
            entry["baseline_tps"] if entry["spec_tps"] else None
        )
        assert own.get("decode_tps") == entry["spec_tps"]
        assert own.get("acceptance_rate") in {None, entry["acceptance"]}
        assert own.get("tokens_per_round") in {None, entry["tokens_per_round"]}
        assert row.get("n_max") == entry["depth"]
        assert row.get("date") in {None, entry["date"]}
        settings = row.get("settings", {})
        assert settings.get("concurrency") == entry["concurrency"]
        assert settings.get("temperature") in {entry["temperature"], 0}
        assert settings.get("offload") == (entry["offload"] if entry["offload"] != "none" else None)
        assert row["place"] == entry["source"]
        person = reported.WORDS["people"].get(entry["person"], entry["person"])
        assert row.get("contributor") in {None, person}
        count, _, name = rig.get("gpu", rig.get("cpu")).rpartition(" \N{MULTIPLICATION SIGN} ")
        assert int(count or 1) == (entry["n_cards"] or int(count or 1)) or " + " in name
        assert model_key(row["target"]["name"]) == model_key(entry["model"])


def test_the_files_are_what_the_script_makes_of_the_collection() -> None:
    files = {each["source"]["id"]: each for each in POSTED}

    assert len(files) == 201
    if COLLECTION.exists():
        made = reported.transcribe(COLLECTION.parent)
        assert {each["source"]["id"]: each for each in made} == files


def test_at_most_25_rows_of_an_unlicensed_source_are_cited() -> None:
    counts = Counter(
        document["source"]["id"] for document, _ in ROWS if "licence" not in document["source"]
    )
    spec_bench = [row for document, row in ROWS if document["source"]["id"].startswith("hemingkx")]

    assert max(n for name, n in counts.items() if name != "hemingkx-spec-bench") == reported.MOST
    kinds = Counter((row["method"], row.get("note"), row.get("task")) for row in spec_bench)
    assert set(kinds.values()) == {1}


def test_no_person_has_more_than_15_percent_and_losses_have_their_share() -> None:
    people = Counter(row.get("contributor", document["source"]["id"]) for document, row in ROWS)
    lost = [row["id"] for document, row in ROWS if speedup(document, row) < 1]

    assert len(people) >= 100
    assert max(people.values()) <= 0.15 * len(ROWS)
    assert 0.3 < len(lost) / len(ROWS) < 0.4  # of all that is collected, without Spec-Bench, 0.37


def test_no_card_and_no_model_of_a_posted_row_is_a_guess() -> None:
    words = [row["target"]["name"] for _, row in ROWS]
    words += [rig.get("gpu", rig.get("cpu")) for document in POSTED for rig in document["rigs"]]

    assert [each for each in words if reported.re.search(reported.WORDS["guess"], each)] == []


def test_tables_by_the_authors_of_a_method_are_marked() -> None:
    marked = defaultdict(set)
    for _, row in ROWS:
        marked[row.get("contributor")] |= set(row.get("doubts", []))

    assert all(
        "by-authors" in marked[name]
        for name in ("lujangusface", "witcheer", "SGLang team", "Baseten")
    )


def test_doubted_and_old_figures_are_never_sure_and_drawn_only_without_better_ones() -> None:
    connection = real_database()
    found = {(each.source, each.person): each for each in evidence_file.reports(connection)}
    instead = """
        select count(*) from strip join strip_figure as figure using (source, row_id)
        where figure.lesser and selection = 0 and strip.condition is null and exists (
          from strip_figure as other
          where other.tier = 'published' and other.device = strip.device
            and other.target = strip.target and other.view = strip.task
            and other.method = strip.method and other.condition is null
            and not other.lesser and not other.confounded
        ) and figure.view = strip.task
    """

    assert found["thoughtworks-qwen3-coder-next-eagle3", "lujangusface"].doubts == ("by-authors",)
    assert "before 2025" in found["ggml-org-llama-cpp-3649", "LiuXiaoxuanPKU"].doubts
    assert found["ggml-org-llama-cpp-23533", "raphaelkobi-sys"].doubts == ()
    assert found["ggml-org-llama-cpp-23533", "raphaelkobi-sys"].day == "2026-08-19"
    assert one(connection, instead) == (0,)
