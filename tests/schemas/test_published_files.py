"""Published files agree with their sources, in the form of the schema."""

import copy
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NotRequired, TypedDict, cast

import pytest
from jsonschema import Draft202012Validator, FormatChecker

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "results" / "published"
SCHEMA = json.loads((ROOT / "schemas" / "published.v1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())
ROUNDING = 0.02
NUMBER = re.compile(r"\d+(?:\.\d+)?")

# Printed in words, as a count of a count, as a slowdown, or as a percentage without its sign.
PRINTED_OTHERWISE = {
    ("doubles", "load_time_ratio"): [2.0],
    ("2-3 out of 8", "acceptance_rate"): [0.25, 0.375],
    ("nearly 4\N{MULTIPLICATION SIGN} regression", "speedup"): [0.25],
    ("15", "max_fallback_share"): [0.15],
}


class PublishedFigure(TypedDict):
    quantity: str
    value: float
    high: NotRequired[float]
    as_printed: str


class PublishedRow(TypedDict):
    id: str
    kind: str
    rig: NotRequired[str]
    target: NotRequired[dict[str, object]]
    baseline_row: NotRequired[str]
    n_max: NotRequired[int]
    figures: list[PublishedFigure]
    note: NotRequired[str]


class Document(TypedDict):
    source: dict[str, str]
    rigs: list[dict[str, object]]
    rows: list[PublishedRow]


def read(path: Path) -> Document:
    return cast("Document", json.loads(path.read_text(encoding="utf-8")))


def figure_values(row: PublishedRow) -> dict[str, float]:
    return {figure["quantity"]: figure["value"] for figure in row["figures"]}


def rows_by_id(document: Document) -> dict[str, PublishedRow]:
    return {row["id"]: row for row in document["rows"]}


def rows_with_baseline(document: Document) -> Iterator[tuple[PublishedRow, PublishedRow]]:
    rows = rows_by_id(document)
    for row in document["rows"]:
        if "baseline_row" in row:
            yield row, rows[row["baseline_row"]]


def printed_values(figure: PublishedFigure) -> list[float]:
    """Return the numbers of `as_printed` in the unit of the figure's quantity."""
    text = figure["as_printed"]
    if (text, figure["quantity"]) in PRINTED_OTHERWISE:
        return PRINTED_OTHERWISE[text, figure["quantity"]]
    if text.startswith("median of "):
        return [median(map(float, text.removeprefix("median of ").split(", ")))]
    numbers = [float(number) for number in NUMBER.findall(text.replace(",", ""))]
    if "gain" in text or (text.endswith("%") and text[0] in "+-\N{MINUS SIGN}"):
        return [1 + number / (-100 if text[0] in "-\N{MINUS SIGN}" else 100) for number in numbers]
    scale = {"%": 0.01, "K": 1024.0, "k": 1000.0}.get(text.rstrip("+")[-1], 1.0)
    return [number * scale for number in numbers]


def in_schema_order(value: object, schema: dict[str, Any]) -> object:
    """Return the same value with the keys of every object in the order of the schema."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, dict):
        fields = schema["properties"]
        return {key: in_schema_order(value[key], fields[key]) for key in fields if key in value}
    if isinstance(value, list):
        return [in_schema_order(item, schema["items"]) for item in value]
    return value


DOCUMENTS = {path: read(path) for path in sorted(PUBLISHED.glob("*.json"))}
ROWS = [row for document in DOCUMENTS.values() for row in document["rows"]]
PAIRS = [pair for document in DOCUMENTS.values() for pair in rows_with_baseline(document)]


def test_a_published_file_is_written_in_one_form_and_named_after_its_source() -> None:
    for path, document in DOCUMENTS.items():
        text = path.read_bytes().decode("utf-8")

        ordered = in_schema_order(document, SCHEMA)

        assert text == json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", path
        assert text == unicodedata.normalize("NFC", text), path
        assert document["source"]["id"] == path.stem


def test_no_two_rows_or_quantities_of_a_row_share_a_name_and_all_rigs_are_named_by_rows() -> None:
    for path, document in DOCUMENTS.items():
        rows = document["rows"]

        assert len(rows_by_id(document)) == len(rows), path
        assert all(len(figure_values(row)) == len(row["figures"]) for row in rows), path
        assert sorted({row["rig"] for row in rows if "rig" in row}) == sorted(
            str(rig["id"]) for rig in document["rigs"]
        ), path


def test_a_value_is_the_number_that_is_printed() -> None:
    for row in ROWS:
        for figure in row["figures"]:
            stored = [figure["value"], *([figure["high"]] if "high" in figure else [])]

            assert stored == pytest.approx(printed_values(figure)), (row["id"], figure)
            assert figure["value"] < figure.get("high", float("inf")), (row["id"], figure)


def test_a_baseline_has_the_same_rig_and_for_speculation_the_same_target() -> None:
    for row, baseline in PAIRS:
        assert (baseline["kind"], baseline["rig"]) == ("baseline", row["rig"]), row["id"]
        assert row["kind"] != "speculation" or row["target"] == baseline["target"], row["id"]


def test_speculation_without_a_baseline_states_a_speedup() -> None:
    alone = [row for row in ROWS if row["kind"] == "speculation" and "baseline_row" not in row]

    assert [row["id"] for row in alone if "speedup" not in figure_values(row)] == []


def test_a_stated_speedup_follows_from_the_two_speeds_or_a_note_says_why_not() -> None:
    for row, baseline in PAIRS:
        ours, theirs = figure_values(row), figure_values(baseline)
        if not {"decode_tps", "speedup"} <= ours.keys():
            continue
        from_speeds = ours["decode_tps"] / theirs["decode_tps"]
        agrees = abs(ours["speedup"] - from_speeds) <= ROUNDING

        assert agrees or "note" in row, (row["id"], from_speeds)


def test_a_round_yields_its_own_token_and_at_most_one_more_than_its_depth() -> None:
    for row in ROWS:
        if row["kind"] == "acceptance":
            assert 1 <= row["figures"][0]["value"] <= row["n_max"] + 1, row["id"]


def test_every_doubt_of_the_closed_list_is_documented() -> None:
    doubts = SCHEMA["$defs"]["row"]["properties"]["doubts"]["items"]["enum"]

    assert [entry["const"] for entry in SCHEMA["$defs"]["doubt_meanings"]["anyOf"]] == doubts


def test_every_quantity_of_the_closed_list_is_documented_with_its_unit() -> None:
    meanings = SCHEMA["$defs"]["quantity_meanings"]["anyOf"]

    assert [entry["const"] for entry in meanings] == SCHEMA["$defs"]["quantity"]["enum"]
    assert all(entry.keys() == {"const", "title", "description"} for entry in meanings)


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda document: document.update(score=1),
        lambda document: document["source"].update(title="<script>"),
        lambda document: document["source"].update(title="line end\n"),
        lambda document: document["source"].update(publisher="unknown"),
        lambda document: document["source"].update(url="http://example.org"),
        lambda document: document.update(transcribed_on="2026-02-30"),
        lambda document: document["rows"][0].update(method="none"),
        lambda document: document["rows"][0].update(figures=[]),
        lambda document: document["rows"][0].pop("draft"),
        lambda document: document["rows"][0]["figures"][0].update(value=-1),
        lambda document: document["rows"][0]["figures"][0].update(quantity="score"),
        lambda document: document["rows"][0]["figures"][0].update(quantity="acceptance_rate"),
        lambda document: document["rigs"][0].pop("gpu"),
        lambda document: document["rows"][0].update(date="July 2026"),
        lambda document: document["rows"][0].update(doubts=["projected"]),
    ],
)
def test_the_schema_rejects_a_corrupted_file(corrupt: Callable[[Any], object]) -> None:
    good = read(PUBLISHED / "rtx-4060-8gb-split-vram.json")
    good["rows"] = [rows_by_id(good)["spec-27b-4b"]]
    corrupted = copy.deepcopy(good)

    corrupt(corrupted)

    assert VALIDATOR.is_valid(good)
    assert not VALIDATOR.is_valid(corrupted)
