"""Files written by `tools/sources` agree with their sources, to the last digit.

If the copies of the sources are available, random rows are compared with the file and record that
their `place` names. Otherwise rows are counted, and `test_published_files.py` compares each value
with its printed form, such as the repeats of a median.
"""

import csv
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from schemas.codec import encode
from tools.sources import (
    arc_b70,
    club_5060ti,
    cmp170hx,
    dflash_mlx,
    draftbench,
    gb10_jkingston,
    gb10_muse,
    gb10_r0b0tlab,
    gemma4_m1max,
    kyanite_strix_halo,
    l4_hanxiao,
    lucebox,
    mlx_here_be_dragons,
    murai_5090,
    qwen38_alis_mlx,
    qwen38_rocm,
    qwen38_rtx4070ti,
    thc1006_v100,
)
from tools.sources.transcription import WrongInputError, digest, documents

ROOT = Path(__file__).parents[1]
COPIES = Path(os.environ.get("DRAFTMAP_SOURCES", ROOT.parent / "shared" / "sources"))
SCRIPTS = {
    "draftbench": draftbench,
    "dflash-mlx": dflash_mlx,
    "qwen38-alis-mlx": qwen38_alis_mlx,
    "qwen38-rocm": qwen38_rocm,
    "arc-b70": arc_b70,
    "gemma4-m1max": gemma4_m1max,
    "gb10-muse": gb10_muse,
    "gb10-jkingston": gb10_jkingston,
    "gb10-r0b0tlab": gb10_r0b0tlab,
    "cmp170hx": cmp170hx,
    "lucebox": lucebox,
    "kyanite-strix-halo": kyanite_strix_halo,
    "mlx-here-be-dragons": mlx_here_be_dragons,
    "club-5060ti": club_5060ti,
    "murai-5090": murai_5090,
    "l4-hanxiao": l4_hanxiao,
}
# Paths of copies that are inside a folder of several.
FOLDERS = dict.fromkeys(SCRIPTS) | {
    "gb10-jkingston": "gb10-qwen38/jkingston",
    "gb10-r0b0tlab": "gb10-qwen38/r0b0tlab",
}
# Records read of each source, and rows taken: without and with speculation.
TAKEN = {
    "draftbench": (18, 441),
    "dflash-mlx": (20, 20),
    "qwen38-alis-mlx": (48, 118),
    "qwen38-rocm": (9, 16),
    "arc-b70": (22, 66),
    "gemma4-m1max": (29, 29),
    "gb10-muse": (25, 25),
    "gb10-jkingston": (2, 4),
    "gb10-r0b0tlab": (1, 2),
    "cmp170hx": (34, 34),
    "lucebox": (13, 13),
    "kyanite-strix-halo": (8, 16),
    "mlx-here-be-dragons": (5, 10),
    "club-5060ti": (5, 7),
    "murai-5090": (6, 6),
    "l4-hanxiao": (1, 2),
}
DRAWN = 30


def published(source: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"results/published/{source}.json").read_bytes())
    return found


def rates(row: dict[str, Any]) -> dict[str, float]:
    return {figure["quantity"]: figure["value"] for figure in row["figures"]}


def folder_of(source: str) -> Path:
    return COPIES / (FOLDERS[source] or source)


def copy(source: str, path: str) -> Any:  # noqa: ANN401 - JSON of any shape
    return json.loads((folder_of(source) / path).read_bytes())


def without_tool(result: dict[str, Any]) -> str:
    """A result as text, without the version of this project that wrote it."""
    return json.dumps(result | {"tool": None}, sort_keys=True)


def of_draftbench(place: str) -> dict[str, float]:
    path, _, pair = place.partition(", ")
    target, _, draft = pair.replace(", no draft", " with ").partition(" with ")
    (found,) = (
        record
        for record in copy("draftbench", path)["results"]
        if (record["target"], record["draft"]) == (target, draft or None)
    )
    named = {"decode_tps": found["mean_tps"], "acceptance_rate": found["acceptance_rate"]}
    return {quantity: value for quantity, value in named.items() if value is not None}


def of_dflash_mlx(place: str) -> dict[str, float]:
    path, run, arm = place.removeprefix("benchmark/").split(", ")
    report = copy("dflash-mlx", path)
    taken = report["runs"][int(run.removeprefix("run ")) - 1]
    found = {"decode_tps": taken[arm]["generation_tps"]}
    if arm == "dflash":
        found["speedup"] = report["summary"]["speedup_median"]
        found["tokens_per_round"] = report["config"]["max_new_tokens"] / taken["dflash"]["cycles"]
    return found


def of_alis(place: str) -> dict[str, float]:
    path, arm, prompt = place.removeprefix("results/").split(", ")
    repeats = copy("qwen38-alis-mlx", path)["cells"][f"{arm}|{prompt}"]
    found = {"decode_tps": median(repeat["tok_s"] for repeat in repeats)}
    if "accept" in repeats[0]:
        found["tokens_per_round"] = median(repeat["accept"] for repeat in repeats)
    return found


def of_rocm(place: str) -> dict[str, float]:
    cell = copy("qwen38-rocm", place.removeprefix("docs/results/"))
    assert cell["degraded"] is False
    times = [stream["tpot_ms"] for stream in cell["client"]["streams"]]
    return {"decode_tps": round(median(1000 / ms for ms in times), 2)}


def of_arc(place: str) -> dict[str, float]:
    path, mode, coordinate = place.split(", ")
    (found,) = (
        row
        for row in copy("arc-b70", path)["rows"]
        if (row["mode"], row["coordinate"]) == (mode, coordinate)
    )
    rate = {"decode_tps": found["client_post_first_tps"]["median"]}
    accepted, drafted = found["mtp_accepted_tokens"], found["mtp_proposed_tokens"]
    return rate | ({"acceptance_rate": round(accepted / drafted, 6)} if drafted else {})


def of_r0b0tlab(place: str) -> dict[str, float]:
    path, *keys = place.split(", ")
    report = copy("gb10-r0b0tlab", path)
    found = report["comparison_vs_mtp_k3"][keys[0]][keys[1]] if keys[1:] else report[keys[0]]
    speedup = {"speedup": report["dspark_speedup_vs_ar_c1"]} if "dspark_k7" in keys else {}
    return {"decode_tps": found, **speedup}


def of_club(place: str) -> dict[str, float]:
    path, prompt = place.split(", ")
    found = copy("club-5060ti", path)["results"]
    runs = [each["metrics"] for each in found if each["benchmark"]["prompt_set"] == prompt]
    return {"decode_tps": round(median(round(each["decode_tok_s"], 4) for each in runs), 6)}


def of_murai(place: str) -> dict[str, float]:
    path, *cell = place.split(", ")
    (found,) = (
        row
        for row in copy("murai-5090", path)
        if [row["prompt_tokens"], row["concurrency"]] == list(map(int, cell))
    )
    return {"decode_tps": found["decode_tok_s"]}


def of_line(source: str, place: str) -> list[float]:
    """The numbers in the line of a log, or in the cell of a table, that a row names."""
    path, line, *columns = place.split(", ", 2)
    texts = (folder_of(source) / path).read_text("utf-8").splitlines()
    at = int(line.removeprefix("line ")) - 1
    if path.endswith(".csv"):
        head, cells = (next(csv.reader([text])) for text in (texts[0], texts[at]))
    else:
        top = next(index for index in range(at, -1, -1) if not texts[index].startswith("|")) + 1
        head, cells = (
            [cell.strip(" *`") for cell in texts[row].strip("| ").split("|")] for row in (top, at)
        )
    cell = cells[head.index(columns[0])] if columns else texts[at]
    numbers = [
        float(number) for number in re.findall(r"[0-9]+(?:[.][0-9]+)?", cell.replace(",", "."))
    ]
    return [round(1000 / number, 2) for number in numbers] if "(ms)" in place else numbers


READERS: dict[str, Callable[[str], dict[str, float]]] = {
    "draftbench": of_draftbench,
    "dflash-mlx": of_dflash_mlx,
    "qwen38-alis-mlx": of_alis,
    "qwen38-rocm": of_rocm,
    "arc-b70": of_arc,
    "gb10-r0b0tlab": of_r0b0tlab,
    "club-5060ti": of_club,
    "murai-5090": of_murai,
}


@pytest.mark.parametrize("source", SCRIPTS)
def test_figures_drawn_at_random_are_those_of_the_record_that_the_row_names(source: str) -> None:
    rows = published(source)["rows"]
    drawn = random.Random(source).sample(rows, min(DRAWN, len(rows)))  # noqa: S311 - a sample

    assert all(re.search(r"\.(json|md|csv|log)", row["place"]) for row in drawn)
    if not folder_of(source).is_dir():
        return
    for row in drawn:
        if ", line " in row["place"]:
            assert rates(row)["decode_tps"] in of_line(source, row["place"]), row["id"]
        else:
            found = READERS[source](row["place"])
            assert rates(row) == pytest.approx(found, rel=1e-9), row["id"]


@pytest.mark.parametrize("source", SCRIPTS)
def test_the_file_is_what_the_script_makes_of_the_copy(source: str) -> None:
    rows = published(source)["rows"]

    kinds = Counter(row["kind"] for row in rows)

    assert (kinds["baseline"], kinds["speculation"]) == TAKEN[source]
    if folder_of(source).is_dir():
        assert SCRIPTS[source].transcribe(folder_of(source)) == published(source)


def test_another_copy_of_a_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "one.json").write_text("{}")

    with pytest.raises(WrongInputError, match="have the digest"):
        documents(tmp_path, "results/*.json", draftbench.DIGEST)


def test_the_answers_of_the_rtx_4070_ti_are_those_of_the_two_imported_results() -> None:
    folder = COPIES / "qwen38-rtx4070ti"
    results = [
        json.loads(path.read_bytes())
        for path in (ROOT / "results" / "community").glob("nvidia-geforce-rtx-4070-ti--*")
    ]

    assert [len(each["trials"]) for each in results] == [20, 20]
    if folder.is_dir():
        assert digest(folder, "answers/*.jsonl") == qwen38_rtx4070ti.DIGEST
        answers = [
            json.loads(line)["timings"]
            for path in folder.glob("answers/*.jsonl")
            for line in path.read_text("utf-8").splitlines()
        ]
        times = sorted(answer["predicted_ms"] for answer in answers)
        assert times == sorted(trial["decode_ms"] for each in results for trial in each["trials"])


def test_the_trials_of_the_v100s_are_the_rows_of_their_table() -> None:
    results = [
        json.loads(path.read_bytes())
        for path in (ROOT / "results" / "community").glob("nvidia-tesla-v100--*")
    ]
    folder = COPIES / "thc1006-v100"

    trials = [trial for each in results for trial in each["trials"]]

    assert sorted(len(each["trials"]) for each in results) == [160, 160, *[240] * 3, *[360] * 3]
    # Every round drafts at most the depth, and yields its accepted tokens and one.
    assert all(
        trial["rounds"] + trial["accepted"] + 1 == trial["output_tokens"] == 384
        for trial in trials
        if trial["arm"] != "baseline"
    )
    if folder.is_dir():
        with (folder / thc1006_v100.TABLE).open(encoding="utf-8") as table:
            rows = Counter(
                (row["config"], float(row["predicted_ms"]), int(row["draft_n_accepted"]))
                for row in csv.DictReader(table)
            )
        assert rows == Counter(
            (trial["arm"], trial["decode_ms"], trial.get("accepted", 0)) for trial in trials
        )
        made = [encode(each) for each in thc1006_v100.results(folder).submissions]
        assert {without_tool(each) for each in made} == {without_tool(each) for each in results}


def test_no_pair_of_the_strix_halo_is_of_a_round_that_its_author_or_an_early_end_corrupts() -> None:
    rows = published("qwen38-rocm")["rows"]
    halo = [row for row in rows if row["rig"] == "radeon-8060s" and row["kind"] == "speculation"]
    through_hip = [row for row in halo if row["engine"].get("backend") == "rocm"]

    assert {
        row["settings"]["concurrency"]
        for row in through_hip
        if row["engine"]["name"] == "llama.cpp"
    } == {1}
    assert {row["settings"]["concurrency"] for row in halo} == {1, 4, 8, 16}
