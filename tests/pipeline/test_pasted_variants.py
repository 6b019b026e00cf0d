"""A text that was quoted, cut, wrapped or joined gives the same figures, or the page asks."""

import itertools
import random
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import BadInputError
from harness.imports import llama_server
from harness.imports.source_files import Given
from tests.pipeline.test_pasted import PAGE, PASTED, text
from tests.read_pasted import concluded

FIGURES = ("tps", "tokens_per_round", "acceptance")
NAMES = sorted(each.name for each in PASTED.iterdir())
PAIRS = {on: off for off, on in PAGE if off and on}
COLOUR = "\x1b[32m{}\x1b[0m"


def cut(whole: str) -> str:
    """The text up to the middle of a line in its second half."""
    lines = whole.splitlines()
    at = len(lines) * 3 // 4
    return "\n".join([*lines[:at], lines[at][: len(lines[at]) // 2]])


def with_commas(whole: str) -> str:
    return re.sub(r"(?<![.\d])([0-9]+)\.([0-9]+)(?![.\d])", r"\1,\2", whole)


def with_other_numbers(whole: str) -> str:
    """The text, and once more with other decimals."""
    return (
        whole
        + "\n"
        + re.sub(
            r"(?<=[0-9]\.)[0-9]",
            lambda d: str((int(d[0]) + 5) % 10),
            re.sub(r"\b[1-9](?=[0-9]*\.[0-9])", lambda d: str(int(d[0]) % 9 + 1), whole),
        )
    )


def wrapped(whole: str) -> str:
    lines = (textwrap.wrap(line, 80, drop_whitespace=False) or [""] for line in whole.splitlines())
    return "\n".join(piece for line in lines for piece in line)


VARIANTS: dict[str, Callable[[str], str]] = {
    "cut at a line": cut,
    "quoted": lambda whole: "\n".join(f"> {line}" for line in whole.splitlines()),
    "with commas": with_commas,
    "coloured": lambda whole: "\n".join(map(COLOUR.format, whole.splitlines())),
    "wrapped": wrapped,
    "without its start": lambda whole: "\n".join(whole.splitlines()[5:]),
    "twice with other numbers": with_other_numbers,
}
# Texts of several requests, intervals or rows, of which a part has figures of its own, and two that
# state that they are two runs or two readings.
PARTS = {
    "cut at a line": {
        "llama_bench_combo.md", "mlx_vlm_short.json", "mtp_bench_results.json", "sglang_eagle3.log",
        "vllm_b70.log", "vllm_dp_engines.log", "vllm_glm_idle.log",
    },
    "without its start": {"mtp_bench.txt", "mtp_bench_results.json"},
    "twice with other numbers": {"sglang_bench_eagle_off.txt", "vllm_metrics_dp2.txt"},
}  # fmt: skip
ASK = {"llama_bench_combo.md"}


def wrong(own: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """The figures that are other than those of the whole text; none if the page asks."""
    if found["asks"] or not found["runs"]:
        return []
    run, whole = found["runs"][-1], own["runs"][-1]
    return [
        name
        for name in FIGURES
        if run[name] is not None
        and (whole[name] is None or run[name] != pytest.approx(whole[name], rel=0.01))
    ]


def failures(names: list[str]) -> list[tuple[str, str, list[str]]]:
    jobs = [(name, of, change(text(name))) for name in names for of, change in VARIANTS.items()]
    jobs += [(on, "both", f"{text(off)}\n{text(on)}") for on, off in PAIRS.items() if on in names]
    own = dict(zip(names, concluded([("", text(name)) for name in names]), strict=True))
    found = concluded([("", changed) for _, _, changed in jobs])
    return [
        (name, of, bad)
        for (name, of, _), each in zip(jobs, found, strict=True)
        if name not in PARTS.get(of, ()) and (bad := wrong(own[name], each))
    ]


def test_a_changed_text_has_the_same_figures_or_the_page_asks() -> None:
    names = random.Random(7).sample(NAMES, len(NAMES) // 10)  # noqa: S311 - names of a test

    assert failures(names) == []


@pytest.mark.nightly
def test_every_changed_text_has_the_same_figures_or_the_page_asks() -> None:
    assert failures(NAMES) == []


# The second of these continues the first: the same server, later tasks and times.
ALIKE = {
    ("mtp_1of633.log", "wrapped_terminal.log"),
    ("progress_only.log", "glm_acc_line.txt"),
}


@pytest.mark.nightly
def test_two_joined_texts_are_never_one_run_of_both() -> None:
    """Each text after each other: asked, or the figures are of one of both."""
    own = dict(zip(NAMES, concluded([("", text(name)) for name in NAMES]), strict=True))
    pairs = [pair for pair in itertools.permutations(NAMES, 2) if pair not in ALIKE]
    found = concluded([("", f"{text(one)}\n{text(two)}") for one, two in pairs])

    bad = [
        (one, two)
        for (one, two), each in zip(pairs, found, strict=True)
        if each["runs"] and wrong(own[one], each) and wrong(own[two], each)
    ]

    assert bad == []


def imported(whole: str) -> tuple[float, float | None] | None:
    """The tokens/s and the share of accepted tokens that the importer reads of a text."""
    try:
        (part,) = llama_server.read([Given(name="log", data=whole.encode())]).parts
    except BadInputError:
        return None
    timed = [
        (n - 1, each.decode_ms or (n - 1) / (each.per_second or 1) * 1000)
        for each in part.records
        if (n := each.output_tokens or 0) > 1 and (each.decode_ms or each.per_second)
    ]
    drafted = sum(each.drafted or 0 for each in part.records)
    accepted = sum(each.accepted or 0 for each in part.records)
    if not timed:
        return None
    tps = sum(n for n, _ in timed) / sum(ms for _, ms in timed) * 1000
    return tps, accepted / drafted if drafted else None


@pytest.mark.parametrize("part", [10, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_importer_refuses_what_the_page_asks_about_and_else_reads_the_same(part: int) -> None:
    texts = [change(text(name)) for name in NAMES for change in (str, *VARIANTS.values())]
    texts += [f"{text(one)}\n{text(two)}" for one, two in itertools.permutations(NAMES, 2)]
    random.Random(5).shuffle(texts)  # noqa: S311 - texts of a test
    taken = [
        (whole, read)
        for whole in texts[: len(texts) // part]
        if (read := imported(whole)) is not None
    ]

    found = concluded([("", whole) for whole, _ in taken])

    assert len(taken) > len(texts) // part // 20
    assert not any(each["asks"] for each in found)
    for (_, (tps, share)), each in zip(taken, found, strict=True):
        run = each["runs"][-1]
        assert run["tps"] == pytest.approx(tps, rel=0.01)
        assert None in (share, run["acceptance"]) or run["acceptance"] == pytest.approx(
            share, rel=0.01
        )


def test_settings_in_one_table_are_asked_for_and_formatting_keeps_the_figures() -> None:
    asked = dict(zip(NAMES, concluded([("", text(name)) for name in NAMES]), strict=True))

    assert {name for name, each in asked.items() if each["asks"]} == ASK
    assert [run["tps"] for run in asked["llama_bench_combo.md"]["runs"]] == [118.2, 242.56]


TABLE = """| {} | T/s | draft rate |
|---|---|---|
| {} | 36.00 | N/A |
| {} | **47.77** | 0.47 |
"""


@pytest.mark.parametrize(
    ("table", "speedup"),
    [
        (TABLE.format("draft-n-max", "none", "1"), 47.77 / 36),
        (TABLE.format("setting", "without MTP", "with MTP"), 47.77 / 36),
        (TABLE.format("model", "Qwen 8B", "Qwen 14B"), None),
        (TABLE.format("model", "Qwen 8B none", "Llama 70B"), None),
    ],
)
def test_a_typed_table_is_compared_only_if_its_cells_name_the_setting(
    table: str, speedup: float | None
) -> None:
    (found,) = concluded([("", table)])

    assert found["asks"] is (speedup is None)
    assert found["speedup"] == (None if speedup is None else pytest.approx(speedup))
