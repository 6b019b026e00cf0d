"""The page "Why is it slower?" reads what the importer reads, and computes as the estimates do."""

import math
import random
import re
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from estimates.decomposition import tokens_per_round
from estimates.intervals import t_interval
from estimates.verdicts import judge
from harness.errors import BadInputError
from harness.importers import llama_server
from harness.importers.model import Given
from pipeline.site.pages.slower import MOST_PAIRS, knowledge, reasons
from schemas.submission import Trial
from schemas.vocabulary import SERVER_LOG
from tests import scripts

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests" / "captures"
IMPORTS = CAPTURES / "imports"
EXAMPLES = ROOT / "site_src" / "assets" / "examples"
LOGS = (*sorted(EXAMPLES.glob("*.log")), *sorted(IMPORTS.glob("*.log")))
ANSWERS = """{"timings": {"cache_n": 5, "prompt_n": 20, "prompt_ms": 50.5, "predicted_n": 64,
 "predicted_ms": 900.25, "predicted_per_second": 70.0, "draft_n": 30, "draft_n_accepted": 12}}"""
JSONL = """{"timings": {"predicted_n": 64, "predicted_ms": 900}}
{"timings": {"predicted_n": 32, "predicted_ms": 450, "draft_n": 8, "draft_n_accepted": 8}}"""
BARE = '[{"predicted_n": 10, "predicted_ms": 100.0}, {"predicted_n": 20, "predicted_ms": 150.0}]'
PREFIXED = "[53409] 5.05 I slot print_timing: id 0 | task 0 | eval time = 10.00 ms / 3 tokens (3.33 ms per token, 300.00 tokens per second)"  # noqa: E501 - a line of a log
# Two requests at the same time, whose lines stand mixed: 10 tokens in 100 ms, 20 in 150 ms.
MIXED = """
slot print_timing: id 0 | task 4 | prompt eval time = 10 ms / 5 tokens
slot print_timing: id 1 | task 5 | prompt eval time = 20 ms / 7 tokens
slot print_timing: id 0 | task 4 | eval time = 100 ms / 10 tokens (, 90 tokens per second)
slot print_timing: id 1 | task 5 | eval time = 150 ms / 20 tokens (, 126 tokens per second)
slot print_timing: id 0 | task 4 | draft acceptance = 0.5 ( 3 accepted / 6 generated)
slot print_timing: id 1 | task 5 | draft acceptance = 0.8 ( 8 accepted / 9 generated)
"""
STREAMED = """data: {"choices": [{"finish_reason": null}], "timings": {"predicted_n": 3}}
data: {"choices": [{"finish_reason": "stop"}], "timings": {"predicted_n": 64}}
data: [DONE]

data: {"content": "a", "stop": false, "timings": {"predicted_n": 1}}
data: {"content": "", "stop": true, "timings": {"predicted_n": 32}}
"""
COLOURED = "\x1b[32m" + PREFIXED.replace(" ms /", " ms\x1b[0m /") + "\x1b[0m"
TEXTS = {
    **{path.name: path.read_text("utf-8") for path in LOGS},
    "answers": ANSWERS,
    "jsonl": JSONL,
    "bare": BARE,
    "prefixed": PREFIXED,
    "mixed": MIXED,
    "streamed": STREAMED,
    "one after the other": f"{ANSWERS}\n{ANSWERS}",
    "coloured": COLOURED,
}
READ = """
import { compiled, read, requestsOf } from "./serverlog.js";
const answer = ({ patterns, texts }) => {
  const known = compiled(patterns);
  const lines = (text) => text.split("\\n");
  return texts.map((text) => ({
    requests: requestsOf(text, known),
    found: read(text, known),
    groups: lines(text).map((line) => Object.values(known).map((pattern) => {
      const hit = line.match(pattern);
      return hit && Object.values(hit.groups ?? {}).map((group) => group ?? null);
    })),
  }));
};
"""
COMPUTE = """
import { geometric, judged, yieldOf } from "./arithmetic.js";
const answer = ({ quantiles, words, ratios, runs }) => ({
  intervals: ratios.map((each) => {
    const found = geometric(each, quantiles);
    return [found.low, found.high, judged(words, found)];
  }),
  yields: runs.map(yieldOf),
});
"""
EXPLAIN = """
import { figures, reasons } from "./reasons.js";
import { compiled, read } from "./serverlog.js";
const none = { plain: null, spec: null, tokens: null, drafted: null, accepted: null, depth: null,
  slots: null, layersWith: null, layersWithout: null };
const answer = ({ known, asked }) => asked.map(({ without, with: with_, typed }) => {
  const patterns = compiled(known.patterns);
  const runs = [without, with_].map((text) => read(text, patterns));
  const found = figures(...runs, { ...none, ...typed }, known);
  return { figures: found, reasons: reasons(found, known).map(({ id, sure }) => [id, sure]) };
});
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    given = {"patterns": dict(SERVER_LOG), "texts": list(TEXTS.values())}
    return dict(zip(TEXTS, scripts.run(tmp_path_factory.mktemp("read"), READ, given), strict=True))


@pytest.mark.parametrize("name", TEXTS)
def test_the_page_reads_the_requests_that_the_importer_reads(
    seen: dict[str, dict[str, Any]], name: str
) -> None:
    given = Given(name=name, data=TEXTS[name].encode())
    expected = [astuple(request)[1:8] for request in llama_server.requests_of(given)]

    assert [tuple(request.values()) for request in seen[name]["requests"]] == expected
    assert expected


def test_requests_are_told_apart_and_a_stream_counts_once(
    seen: dict[str, dict[str, Any]],
) -> None:
    found = {
        name: [(each["tokens"], each["ms"], each["drafted"]) for each in seen[name]["requests"]]
        for name in ("mixed", "streamed", "one after the other", "coloured")
    }

    assert found["mixed"] == [(10, 100, 6), (20, 150, 9)]
    assert found["streamed"] == [(64, None, None), (32, None, None)]
    assert found["one after the other"] == [(64, 900.25, 30)] * 2
    assert found["coloured"] == [(3, 10, None)]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_every_pattern_finds_the_same_in_both_languages(
    seen: dict[str, dict[str, Any]], path: Path
) -> None:
    patterns = [re.compile(pattern) for pattern in SERVER_LOG.values()]

    assert seen[path.name]["groups"] == [
        [
            list(hit.groupdict().values()) if (hit := pattern.search(line)) else None
            for pattern in patterns
        ]
        for line in TEXTS[path.name].split("\n")
    ]


def test_sums_layers_and_slots_of_a_log_are_read(seen: dict[str, dict[str, Any]]) -> None:
    captured = seen["llama-server-b10068-draft.log"]["found"]
    older = seen["llama-server-2025.log"]["found"]

    assert captured["layers"] == {"on": 31, "all": 31}
    assert [
        (each["calls"], each["drafts"], each["draft_ms"]) for each in captured["statistics"]
    ] == [(76, 76, 15566.471)]
    assert [(each["kind"], each["draft_ms"]) for each in older["statistics"]] == [
        ("ngram_simple", None),
        ("draft", 400.0),
    ]
    assert (captured["slots"], older["slots"]) == (1, 2)


def test_counters_of_other_servers_are_read(tmp_path: Path) -> None:
    page = CAPTURES / "vllm" / "ngram" / "metrics_after.txt"
    sglang = """{"meta_info": {"spec_verify_ct": 9, "spec_draft_token_num": 27,
      "spec_accept_token_num": 11}}"""
    vllm = """{"metrics": {"speculative_decoding": {"num_spec_steps": 4,
      "num_draft_tokens": 12, "num_accepted_draft_tokens": 5}}}"""
    texts = [page.read_text("utf-8"), sglang, vllm, f"[{vllm}, {vllm}]"]
    given = {"patterns": dict(SERVER_LOG), "texts": texts}

    found = [each["found"]["counters"] for each in scripts.run(tmp_path, READ, given)]

    assert found == [
        {"rounds": 24, "drafted": 120, "accepted": 22},
        {"rounds": 9, "drafted": 27, "accepted": 11},
        {"rounds": 4, "drafted": 12, "accepted": 5},
        {"rounds": 8, "drafted": 24, "accepted": 10},
    ]


def test_text_that_is_no_log_gives_nothing_and_no_error(tmp_path: Path) -> None:
    texts = [
        "",
        "hello",
        "{",
        "[1, 2]",
        '{"timings": 3}',
        "null",
        '{"a": "<img src=x>"}',
        "eval time =",
    ]
    given = {"patterns": dict(SERVER_LOG), "texts": texts}

    assert [each["requests"] for each in scripts.run(tmp_path, READ, given)] == [[]] * len(texts)
    with pytest.raises(BadInputError):
        llama_server.requests_of(Given(name="log", data=b"hello"))


def trial(tokens: int, accepted: int) -> Trial:
    return Trial(
        arm="a", block=0, order=0, outcome="ok", prompt="p", output_tokens=tokens, accepted=accepted
    )


def test_intervals_verdicts_and_yields_are_those_of_the_estimates(tmp_path: Path) -> None:
    rng = random.Random(12)  # noqa: S311 - inputs of a test
    ratios = [
        [rng.lognormvariate(rng.gauss(0, 0.3), 0.1) for _ in range(rng.randint(1, 12))]
        for _ in range(1000)
    ]
    runs = [
        [
            (tokens := rng.randint(2, 300), rng.randint(0, tokens - 1))
            for _ in range(rng.randint(1, 4))
        ]
        for _ in range(1000)
    ]
    known = knowledge(reasons())
    given = {
        "quantiles": known["quantiles"],
        "words": {name: known[name] for name in ("helps_above", "hurts_below")},
        "ratios": ratios,
        "runs": [[{"tokens": n, "accepted": a} for n, a in run] for run in runs],
    }

    found = scripts.run(tmp_path, COMPUTE, given)

    logs = [[math.log(ratio) for ratio in each] for each in ratios]
    expected = [t_interval(each) for each in logs]
    assert [each[2] for each in found["intervals"]] == [judge(each) for each in expected]
    assert [each[:2] for each in found["intervals"]] == [
        [None, None] if each is None else pytest.approx([each.low, each.high], rel=1e-4)
        for each in expected
    ]
    yields = [tokens_per_round([trial(*each) for each in run]) for run in runs]
    assert found["yields"] == [None if each is None else pytest.approx(each) for each in yields]
    assert len(known["quantiles"]) == MOST_PAIRS


def log(*requests: tuple[float, int, int | None, int | None], extra: str = "") -> str:
    """A log of requests: milliseconds, tokens, drafted and accepted tokens."""
    lines = [extra]
    for ms, tokens, drafted, accepted in requests:
        lines.append("prompt eval time = 10.00 ms / 5 tokens (")
        lines.append(
            f"eval time = {ms:.2f} ms / {tokens} tokens (1 ms per token, 1.00 tokens per second)"
        )
        if drafted is not None:
            lines.append(f"draft acceptance = 0.5 ({accepted} accepted / {drafted} generated)")
    return "\n".join(lines)


PLAIN = log(*[(1000.0, 101, None, None)] * 3)  # 10 ms a token
CASES: dict[str, tuple[str, str, dict[str, float], list[list[Any]]]] = {
    "a draft model that was never asked": (
        PLAIN, log(*[(1100.0, 101, None, None)] * 3), {}, [["never-drafted", True]],
    ),
    # 50 rounds of 2 drafted tokens yield 2 each and take 40 ms: R = 4, a perfect draft gives 3.
    "no draft could win": (
        PLAIN, log(*[(2000.0, 101, 100, 50)] * 3), {},
        [["cannot-win", True], ["layers-displaced", False], ["slow-draft", False]],
    ),
    # 80 rounds of 4 drafted tokens yield 1.25 and take 20 ms: R = 2, and 25 % would break even.
    "too little is accepted": (
        PLAIN, log(*[(1600.0, 101, 320, 20)] * 3), {},
        [["low-acceptance", True], ["layers-displaced", False], ["slow-draft", False]],
    ),
    "layers have left the GPU": (
        f"{PLAIN}\noffloaded 33/33 layers to GPU",
        log(*[(1600.0, 101, 320, 20)] * 3, extra="offloaded 28/33 layers to GPU"), {},
        [["layers-displaced", True], ["low-acceptance", True], ["slow-draft", False]],
    ),
    "it is faster": (PLAIN, log(*[(500.0, 101, 100, 50)] * 3), {}, [["none", True]]),
    # 40 tokens/s against 25, 500 drafted at depth 8 of which 200: 4.2 of 9 a round, R = 6.72.
    "typed numbers": (
        "", "", {"plain": 40, "spec": 25, "drafted": 500, "accepted": 200, "depth": 8, "slots": 4},
        [["low-acceptance", True], ["several-at-once", False], ["kernel-step", False],
         ["layers-displaced", False], ["slow-draft", False]],
    ),
    "a single short request": (
        log((100.0, 11, None, None)), log((50.0, 11, 10, 5)), {},
        [["none", True], ["too-little", True]],
    ),
    "other requests": (
        PLAIN, log(*[(500.0, 101, 100, 50)] * 4), {}, [["none", True], ["other-texts", True]],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    asked = [
        {"without": without, "with": with_, "typed": typed}
        for without, with_, typed, _ in CASES.values()
    ]
    given = {"known": knowledge(reasons()), "asked": asked}
    found = scripts.run(tmp_path_factory.mktemp("explain"), EXPLAIN, given)
    return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_likely_reasons_follow_from_the_figures(
    explained: dict[str, dict[str, Any]], name: str
) -> None:
    assert explained[name]["reasons"] == CASES[name][3]


def test_the_figures_of_a_run_can_be_worked_out_by_hand(
    explained: dict[str, dict[str, Any]],
) -> None:
    found = explained["too little is accepted"]["figures"]
    typed = explained["typed numbers"]["figures"]

    assert (found["middle"], found["yielded"], found["cost"]) == (
        pytest.approx(0.625),
        pytest.approx(1.25),
        pytest.approx(2.0),
    )
    assert (found["needed"], found["acceptance"]) == (pytest.approx(0.25), pytest.approx(0.0625))
    assert found["ceiling"] == pytest.approx(2.5)
    assert found["verdict"] == "hurts"
    assert (typed["yielded"], typed["cost"]) == (pytest.approx(4.2), pytest.approx(6.72))
    assert typed["verdict"] == "too-few-prompts"


def test_every_reason_has_words_and_every_word_a_reason() -> None:
    script = (scripts.SCRIPTS / "reasons.js").read_text("utf-8")
    used = set(re.findall(r'(?:found|check)\("([a-z-]+)"|id: "([a-z-]+)"', script))

    assert {first or second for first, second in used} == set(reasons()["reason"])
