"""Pasted text is read correctly on the page and by the importer.

The texts in tests/data/pasted have the form of public logs, retyped with the figures of their
threads; their values were worked out by hand.
"""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import BadInputError
from harness.imports.measured_arms import read as read_arms
from harness.imports.source_files import Given, given
from pipeline.site.pages.slower import knowledge, reasons
from tests import scripts
from tests.pipeline.test_slower import EXPLAIN

PASTED = Path(__file__).parents[1] / "data" / "pasted"
# Without, with: figures of the page, each to 1 %.
PAGE: dict[tuple[str, str], dict[str, float]] = {
    # 5000 + 4816 rounds, 7500 + 7600 of 15000 + 14448 tokens of two engines.
    ("", "vllm_metrics_dp2.txt"): {"rounds": 9816, "accepted": 15100, "drafted": 29448,
                                   "acceptance": 0.513, "yielded": 2.538},
    # 13311 tokens at depth 3 are 4437 rounds, which emitted 10616.
    ("vllm_v0_off.log", "vllm_v0_063.log"): {"rounds": 4437, "yielded": 2.393, "acceptance": 0.642,
                                             "middle": 88 / 70},
    ("sglang_off.log", "sglang_eagle3.log"): {"yielded": 1.98, "acceptance": 0.4975, "slots": 1},
    ("mtp_bench_base.txt", "mtp_bench.txt"): {"drafted": 1356, "accepted": 876, "requests": 8,
                                              "tokens": 1227, "acceptance": 0.646,
                                              "specRate": 25.5, "plainRate": 22.93},
    ("", "mtp_bench_results.json"): {"drafted": 439, "accepted": 352, "requests": 3, "tokens": 576,
                                     "specRate": 72.6},
    ("llama_cli_new_off.txt", "llama_cli_new_on.txt"): {"plainRate": 22.9, "specRate": 19.4,
                                                        "middle": 0.847},
    ("ollama_off.json", "ollama_on.json"): {"plainRate": 11.78, "specRate": 5.14, "middle": 0.436},
    ("ollama_verbose_off.txt", "ollama_verbose_on.txt"): {"plainRate": 11.78, "specRate": 5.14,
                                                          "middle": 0.436},
    ("lmstudio_off.json", "lmstudio_on.json"): {"plainRate": 16.9, "specRate": 13.1,
                                                "drafted": 700, "accepted": 180},
    ("bench_serve_print_off.txt", "bench_serve_print.txt"): {"middle": 1.546, "yielded": 2.84,
                                                             "drafted": 1608, "accepted": 984},
    ("", "vllm_spec_decode_py.txt"): {"rounds": 4816, "accepted": 12208, "drafted": 33712,
                                      "yielded": 3.535},
    ("m1pro_off.log", "m1pro_on.log"): {"middle": 0.0736, "yielded": 3.15, "accepted": 43},
    ("cached_repeat_off.log", "cached_repeat_on.log"): {"middle": 2.226, "requests": 1,
                                                        "drafted": 420, "slots": 1},
    # 250 accepted and 180 rejected of 430; 420 tokens are the first, 250 and 169 rounds.
    ("", "tabby_on.txt"): {"specRate": 48.5, "drafted": 430, "yielded": 2.479},
    ("", "sycl_garbled.log"): {"acceptance": 0.01047, "specRate": 22.1},
    ("cli_run_off.log", ""): {"plainRate": 42.5},
    ("cli_3060_off.txt", "spec_3060_on.txt"): {"middle": 1.707, "accepted": 526, "drafted": 730},
    ("", "eagle3_simple.txt"): {"acceptance": 0.3214, "yielded": 1.36},
    ("", "eagle3_metrics.log"): {"yielded": 2.898, "acceptance": 0.645, "draftMs": 3.742},
    ("", "wrapped_terminal.log"): {"yielded": 3.099, "acceptance": 0.6995},
    ("", "chain_router.log"): {"yielded": 2.616, "acceptance": 0.8194},
    ("", "vllm_dp_engines.log"): {"yielded": 2.924, "acceptance": 0.6413, "slots": 1},
    ("", "sglang_bench.txt"): {"yielded": 1.95, "specRate": 172.4},
    ("bench.md", ""): {"plainRate": 104.3},
    ("sweep.md", ""): {"plainRate": 2.88},
    ("llama_bench_9070xt.json", ""): {"plainRate": 104.3},
    # Both runs in one quoted text: 191 steps each, in 191 / 55.0 + 191 / 45.9 + 191 / 57.8 s;
    # 573 steps in 573 - 349 rounds.
    ("", "quoted_mtp_bench.txt"): {"plainRate": 27.6, "specRate": 52.38, "middle": 1.898,
                                   "yielded": 2.558, "acceptance": 0.7896},
    ("sglang_bench_eagle_off.txt", "sglang_bench_eagle_on.txt"): {"middle": 2.647, "yielded": 5.88},
    ("benchy_c124.txt", ""): {"plainRate": 12.52},
    ("benchy_off.txt", "benchy_on.txt"): {"middle": 2.131},
    # 464 + 228 of 828 + 556; 464 / 2.24 + 228 / 1.64 = 346 rounds.
    ("", "vllm_b70.log"): {"accepted": 692, "drafted": 1384, "yielded": 3.0, "specRate": 67.1},
    ("probe_off.txt", "probe_on.txt"): {"plainRate": 36.0, "specRate": 54.7, "middle": 1.519},
    ("", "progress_only.log"): {"specRate": 21.95},
    ("", "glm_acc_line.txt"): {"acceptance": 0.745, "yielded": 4.13, "accepted": 3474},
    # (1 + 110) / (1 + 30) rounds.
    ("", "mlx_vlm_short.json"): {"rounds": 31, "yielded": 3.58, "drafted": 97},
    # 129 steps in 248.34 s; 129 - 47 rounds.
    ("", "speculative_2023.txt"): {"specRate": 0.519, "accepted": 47, "drafted": 132,
                                   "yielded": 1.573},
    ("", "mtp_1of633.log"): {"accepted": 1, "drafted": 633, "yielded": 1.005},
    ("", "adaptive_depth.log"): {"accepted": 8390, "drafted": 11511, "yielded": 4.18},
    ("", "gemma_ncmoe.txt"): {"accepted": 764, "drafted": 833, "yielded": 1.917},
    # 361 / 1.5 + 19 / 0.76 = 266 rounds.
    ("", "vllm_glm_idle.log"): {"accepted": 380, "drafted": 795, "yielded": 2.43, "slots": 2},
}  # fmt: skip
# What the importer reads of each request with speculation: tokens, tokens/s, drafted, accepted.
IMPORTED: dict[str, list[tuple[int, float, int | None, int | None]]] = {
    "mtp_bench_results.json": [
        (192, 77.15, 135, 123),
        (192, 72.36, 149, 116),
        (192, 68.88, 155, 113),
    ],
    "ollama_off.json": [(200, 11.78, None, None)],
    "ollama_on.json": [(200, 5.14, None, None)],
    "ollama_verbose_on.txt": [(200, 5.14, None, None)],
    "lmstudio_on.json": [(400, 13.1, 700, 180)],
    "tabby_on.txt": [(420, 48.5, 430, 250)],
    "m1pro_on.log": [(64, 1.93, 45, 43)],
    "cli_run_off.log": [(256, 42.5, None, None)],  # its end, where counts would be, was cut off
    "eagle3_metrics.log": [(256, 111.46, 259, 167)],
    "wrapped_terminal.log": [(221, 6.93, 213, 149)],
    "chain_router.log": [(192, 13.4, 144, 118)],
    "sycl_garbled.log": [(200, 22.22, 191, 2)],
}
SUMMARIES = (
    "bench.md", "bench_serve_print.txt", "benchy_on.txt", "glm_acc_line.txt",
    "llama_bench_combo.md", "llama_cli_new_on.txt", "probe_on.txt", "progress_only.log",
    "sglang_bench_eagle_on.txt", "sglang_bench.txt",
    "sglang_eagle3.log", "sweep.md", "vllm_dp_engines.log", "vllm_metrics_dp2.txt",
    "vllm_spec_decode_py.txt", "vllm_v0_063.log",
)  # fmt: skip


def text(name: str) -> str:
    return (PASTED / name).read_text("utf-8") if name else ""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    asked = [{"without": text(a), "with": text(b), "typed": {}} for a, b in PAGE]
    given_ = {"known": knowledge(reasons()), "asked": asked}
    found = scripts.run(tmp_path_factory.mktemp("pasted"), EXPLAIN, given_)
    return dict(zip(PAGE, found, strict=True))


@pytest.mark.parametrize("names", PAGE, ids="-".join)
def test_the_page_reads_the_value_of_the_thread(
    read: dict[tuple[str, str], dict[str, Any]], names: tuple[str, str]
) -> None:
    found = read[names]["figures"]

    assert {name: found[name] for name in PAGE[names]} == pytest.approx(PAGE[names], rel=0.01)


@pytest.mark.parametrize("name", IMPORTED)
def test_the_importer_reads_whole_requests_with_what_is_known(name: str) -> None:
    line = "eval time = 10.00 ms / 11 tokens (0.91 ms per token, 1100.00 tokens per second)\n"
    plain = Given(name="plain.log", data=line.encode() * len(IMPORTED[name]))

    measured = read_arms([plain, given(PASTED / name)])

    found = [each for arm, _, each in measured.requests if arm != "baseline"]
    assert [(e.number("tokens"), e.rate, e.drafted, e.number("accepted")) for e in found] == [
        (tokens, pytest.approx(rate, rel=0.001), drafted, accepted)
        for tokens, rate, drafted, accepted in IMPORTED[name]
    ]


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_log_without_requests_is_refused_and_the_page_that_reads_it_named(name: str) -> None:
    with pytest.raises(
        BadInputError, match="paste the text into the page 'Why is it slower"
    ) as caught:
        read_arms([given(PASTED / name)])

    assert str(caught.value).count("\n") == 0


def test_a_repeated_request_from_the_cache_is_left_out_and_listed() -> None:
    files = [given(PASTED / f"cached_repeat_{arm}.log") for arm in ("off", "on")]

    measured = read_arms(files)

    assert [at for _, at, _ in measured.requests] == [1, 1]
    assert sum("prompt was in the cache" in line for line in measured.left_out) == 6


def test_a_head_whose_rounds_cost_far_more_than_its_tokens_is_a_fault_of_the_build(
    read: dict[tuple[str, str], dict[str, Any]],
) -> None:
    found = read["m1pro_off.log", "m1pro_on.log"]

    # 33160 ms of 20 rounds are 42.8 plain tokens a round of 3 drafted tokens.
    assert found["figures"]["cost"] == pytest.approx(42.8, rel=0.01)
    assert found["figures"]["drafter"] == "head"
    assert [id_ for id_, _ in found["reasons"]] == [
        "build-fault", "slow-draft", "layers-displaced", "too-little",
    ]  # fmt: skip


TWO_READINGS = """d{e='0'} 10\nd{e='1'} 20\nt{e='0'} 30\nt{e='1'} 60\na{e='0'} 5\na{e='1'} 9
d{e='0'} 30\nd{e='1'} 40\nt{e='0'} 90\nt{e='1'} 120\na{e='0'} 25\na{e='1'} 29\n"""


@pytest.mark.parametrize(
    ("page", "drafted"),
    [
        # Two readings of two engines: 60 + 60 tokens were drafted between them.
        (TWO_READINGS, 120),
        # The later reading first: less than nothing was drafted.
        ("d{e='0'} 30\nt{e='0'} 90\na{e='0'} 25\nd{e='0'} 10\nt{e='0'} 30\na{e='0'} 5\n", None),
        # More accepted than drafted.
        ("d 10\nt 30\na 35\n", None),
    ],
)  # fmt: skip
def test_counters_of_all_engines_are_summed_and_impossible_ones_refused(
    tmp_path: Path, page: str, drafted: int | None
) -> None:
    names = {"d": "num_drafts", "t": "num_draft_tokens", "a": "num_accepted_tokens"}
    lines = [
        f"vllm:spec_decode_{names[line[0]]}_total{line[1:]}".replace("'", '"')
        for line in page.splitlines()
    ]
    program = EXPLAIN.replace("figures: found,", "figures: found, run: runs[1],")
    asked = [{"without": "", "with": "\n".join(lines), "typed": {}}]

    (found,) = scripts.run(tmp_path, program, {"known": knowledge(reasons()), "asked": asked})

    assert found["figures"]["drafted"] == drafted
    assert (found["run"]["refused"] is None) == (drafted is not None)


AT_ONCE = """{a}.000.000 I slot print_timing: id  {slot} | task {task} | prompt eval time = 1000.00 ms / 50 tokens
{a}.000.100 I slot print_timing: id  {slot} | task {task} | eval time = 9000.00 ms / 100 tokens (, 11.0 tokens per second)
"""  # noqa: E501 - lines of a log


@pytest.mark.parametrize(
    ("ends", "at_once"), [(("0.20", "0.31"), 1), (("0.20", "0.24"), 2)], ids=["in turn", "together"]
)
def test_requests_with_overlapping_times_are_concurrent(
    tmp_path: Path, ends: tuple[str, str], at_once: int
) -> None:
    """Slots 3 and 2 of ten seconds each, which end 11 or 4 seconds apart."""
    log = "".join(
        AT_ONCE.format(a=end, slot=slot, task=task)
        for end, slot, task in zip(ends, (3, 2), (4, 9), strict=True)
    )
    asked = [{"without": "", "with": log, "typed": {}}]

    (found,) = scripts.run(tmp_path, EXPLAIN, {"known": knowledge(reasons()), "asked": asked})

    assert found["figures"]["slots"] == at_once


def test_a_file_with_both_runs_is_refused_by_the_importer() -> None:
    both = (PASTED / "quoted_mtp_bench.txt", PASTED / "mtp_bench.txt")

    with pytest.raises(BadInputError, match="several runs; give each run its own file"):
        read_arms([given(path) for path in both])


def test_a_text_that_the_page_cannot_use_is_not_sent_to_it() -> None:
    text = b"prompt eval time = 900.00 ms / 20 tokens (45.00 ms per token)\n"

    with pytest.raises(BadInputError, match="give the whole log"):
        read_arms([Given(name="log", data=text)])
