"""A text that was quoted, cut, wrapped or joined gives the same figures, or the page asks."""

import itertools
import random
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import BadInputError
from harness.imports.forms import repeats
from harness.imports.measured_arms import requests_of
from harness.imports.printed import stated
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


@pytest.mark.nightly
def test_two_joined_texts_are_never_one_run_of_both() -> None:
    """Each text after each other: asked, or the figures are of one of both."""
    own = dict(zip(NAMES, concluded([("", text(name)) for name in NAMES]), strict=True))
    pairs = [*itertools.permutations(NAMES, 2)]
    found = concluded([("", f"{text(one)}\n{text(two)}") for one, two in pairs])

    bad = [
        (one, two)
        for (one, two), each in zip(pairs, found, strict=True)
        if each["runs"] and wrong(own[one], each) and wrong(own[two], each)
    ]

    assert bad == []


def imported(whole: str) -> tuple[float, float | None] | None:
    """The tokens/s, as the tool counts them, and the share of accepted tokens of a text."""
    try:
        file = Given(name="log", data=whole.encode())
        own = requests_of(file, stated(file))
    except BadInputError:
        return None
    requests = [each for each, again in zip(own, repeats(own), strict=True) if not again]
    timed = [
        ((each.rate * ms / 1000 if each.rate else n - 1), ms)
        for each in requests
        if (n := each.count("tokens") or 0) > 1 and (ms := (each.step_ms or 0) * (n - 1))
    ]
    drafted = sum(each.drafted or 0 for each in requests)
    accepted = sum(each.number("accepted") or 0 for each in requests)
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


@pytest.mark.parametrize(
    ("stated", "length"),
    [
        ("acceptance_rate=0.529 mean_accepted_len=1.59", 2.59),  # 1.59 of 3 drafts
        ("90.7% draft acceptance, 3.72 accepted tokens per round", 3.72),  # 2.72 of 3 drafts
        ("acceptance_rate=0.5 mean_accepted_len=2.0", None),  # of 4 drafts or of 2
    ],
)
def test_accepted_tokens_per_round_are_read_if_the_share_tells_what_they_count(
    stated: str, length: float | None
) -> None:
    (found,) = concluded([("", f"{stated}\n")])

    (run,) = found["runs"]
    assert run["tokens_per_round"] == (None if length is None else pytest.approx(length))


def test_repeated_speeds_in_each_field_are_one_run_at_their_middle() -> None:
    (found,) = concluded(
        [
            (
                "speed: 40 t/s\nspeed: 41 t/s\nspeed: 39 t/s",
                "speed: 60 t/s\nspeed: 61 t/s\nspeed: 59 t/s",
            )
        ]
    )

    assert found["speedup"] == pytest.approx(1.5)


def test_the_speed_is_the_tools_own_and_the_tpot_of_many_requests_is_one_requests() -> None:
    timings = "eval time = 8627.28 ms / 25 tokens (345.09 ms per token, 2.90 tokens per second)"
    tpot = "Maximum request concurrency:  32\nMean TPOT (ms):  20.00"

    own, many = concluded([("", timings), ("", tpot)])

    assert own["runs"][0]["tps"] == pytest.approx(2.9)
    assert (many["runs"][0]["tps"], many["runs"][0]["at_once"]) == (50, 1)


TIMED = (
    "eval time =    2000.00 ms /   101 tokens (   19.80 ms per token,    50.50 tokens per second)"
)


@pytest.mark.parametrize(
    ("pasted", "speedup", "tps", "acceptance"),
    [
        ("| | plain | draft |\n|---|---|---|\n| tok/s | 40.0 | 60.0 |", 1.5, 60, None),
        ("setting\ttok/s\taccept rate\nno draft\t40.0\t-\nwith draft\t60.0\t0.55", 1.5, 60, 0.55),
        ("without MTP: 40.0 tok/s\nwith MTP: 60.0 tok/s", 1.5, 60, None),
        ("run 1: 59.0 tok/s\nrun 2: 61.0 tok/s\nmean: 60.0 tok/s", None, 60, None),
        (("| mode | run 1 | run 2 | average |\n|---|---|---|---|\n"
         "| MTP inactive | 39 tok/s | 41 tok/s | 40 tok/s |\n"
         "| MTP active | 58 tok/s | 62 tok/s | 60 tok/s |"), 1.5, 60, None),
        ("| arm | tok/s |\n|---|---|\n| baseline | 39 / 40 / 42 |\n| MTP | 58 / 60 / 61 |",
         1.5, 60, None),
        ("speed, -SD: 40.0 tokens/s\nspeed, +SD: 60.0 tokens/s", 1.5, 60, None),
        ("40 t/s\nspeculative: 60 t/s, 1.5x", 1.5, 60, None),
        ("llama-server -m a \\\n  -ngl 99\n40 t/s\nllama-server -m a -ngl 99 -md b\n60 t/s",
         1.5, 60, None),
        ("llama-server -m a\n40 t/s\nllama-server -m c -md b\n60 t/s", None, None, None),
        ("name,tokens/s,accept\nbaseline,40.0,\nmtp,60.0,75%", 1.5, 60, 0.75),
        ("run 1 (no spec): 40 t/s\nrun 2 (spec): 42 t/s", 1.05, 42, None),
        ("40 t/s\nspeculative: 60 t/s, 2.5x", None, None, None),
        (("| | median | runs |\n|---|---|---|\n| baseline | 40 tok/s | 40 |\n"
         "| `--speculative-config '{\"method\": \"mtp\"}'` | 60 tok/s | 60 |"), 1.5, 60, None),
        ("no draft: 10-11 tokens/s\nwith draft: 10-32 tokens/s", None, 10.5, None),
        ("TPOT (ms): 20.0, acceptance rate: 75.0%", None, 50, 0.75),
        (("SpecDecoding metrics: Draft acceptance rate: 75.0%, Accepted: 6 tokens, "
         "Drafted: 8 tokens"), None, None, 0.75),
        ("Generation 40.0 → 60.0 tok/s", None, None, None),
        ("Speed (tok/s)\n\n| baseline | MTP |\n|---|---|\n| 40.0 | 60.0 |", None, None, None),
        ("| prompt | baseline | MTP |\n|---|---|---|\n| a | 40.0 | 60.0 |", None, None, None),
        ("{'predicted_n': 101, 'predicted_ms': 2000.0, 'draft_n': 8, 'draft_n_accepted': 6}",
         None, 50, 0.75),
        (f"`12:01 {TIMED}`", None, 50, None),
        ((f"slot print_timing: id 0 | task 4 | {TIMED} slot print_timing: id 0 | task 4 | "
         "draft acceptance rate = 0.75000 ( 60 accepted / 80 generated)"), None, 50, 0.75),
        (("slot update_slots: id 3 | task 0 | accepted 2/4 draft tokens, new n_tokens = 664\n"
         "slot update_slots: id 3 | task 0 | accepted 4/4 draft tokens, new n_tokens = 669"),
         None, None, 0.75),
    ],
)  # fmt: skip
def test_figures_are_read_in_every_shape_they_are_typed_in_or_the_page_asks(
    pasted: str, speedup: float | None, tps: float | None, acceptance: float | None
) -> None:
    (found,) = concluded([("", pasted)])

    assert found["asks"] is (tps is None and acceptance is None)
    assert found["speedup"] == (None if speedup is None else pytest.approx(speedup))
    if not found["asks"]:
        run = found["runs"][-1]
        assert (run["tps"], run["acceptance"]) == (
            None if tps is None else pytest.approx(tps, rel=0.03),
            None if acceptance is None else pytest.approx(acceptance),
        )
