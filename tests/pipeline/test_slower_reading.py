"""The page "Why is it slower?" reads the same as the importer of llama-server's logs."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.imports.printed import stated
from harness.imports.source_files import Given
from schemas.vocabulary.documents import document
from tests import scripts

ROOT = Path(__file__).parents[2]
SERVER_LOG = document("server_log")
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
# Two requests at the same time, whose lines are mixed: 10 tokens in 100 ms, 20 in 150 ms.
MIXED = """
slot print_timing: id 0 | task 4 | prompt eval time = 10 ms / 5 tokens
slot print_timing: id 1 | task 5 | prompt eval time = 20 ms / 7 tokens
slot print_timing: id 0 | task 4 | eval time = 100 ms / 10 tokens (, 90 tokens per second)
slot print_timing: id 1 | task 5 | eval time = 150 ms / 20 tokens (, 126 tokens per second)
slot print_timing: id 0 | task 4 | draft acceptance = 0.5 ( 3 accepted / 6 generated)
slot print_timing: id 1 | task 5 | draft acceptance = 0.8 ( 8 accepted / 9 generated)
"""
# Two requests of one slot, each with its acceptance before its times.
BEFORE = """
draft acceptance = 0.5 ( 3 accepted / 6 generated)
prompt eval time = 10 ms / 5 tokens
eval time = 100 ms / 10 tokens (, 90 tokens per second)
draft acceptance = 0.8 ( 8 accepted / 9 generated)
prompt eval time = 20 ms / 7 tokens
eval time = 150 ms / 20 tokens (, 126 tokens per second)
"""
STREAMED = """data: {"choices": [{"finish_reason": null}], "timings": {"predicted_n": 3}}
data: {"choices": [{"finish_reason": "stop"}], "timings": {"predicted_n": 64}}
data: [DONE]

data: {"content": "a", "stop": false, "timings": {"predicted_n": 1}}
data: {"content": "", "stop": true, "timings": {"predicted_n": 32}}
"""
# 100 steps after the first token in 1 s, and 101 from before it in half a second.
PLAIN_RUN = """
common_perf_print: prompt eval time = 110.00 ms / 50 tokens ( 2.20 ms per token, 454.55 tokens per second)
common_perf_print:        eval time = 1000.00 ms / 100 runs ( 10.00 ms per token, 100.00 tokens per second)
"""  # noqa: E501 - lines of a log
SPECULATIVE = """
encoded   50 tokens in    0.110 seconds, speed:  454.545 t/s
decoded  101 tokens in    0.500 seconds, speed:  202.000 t/s

n_draft   = 4
n_predict = 101
n_drafted = 120
n_accept  = 70
accept    = 58.333%

llama_perf_context_print: eval time = 100.00 ms / 120 runs ( 0.83 ms per token, 1200.00 tokens per second)
"""  # noqa: E501 - lines of a log
# The times are in the chunk that has the usage; the server may have given them in both.
USAGE = """data: {"choices": [{"delta": {}}]}

data: {"choices": [{"finish_reason": "stop"}]}

data: {"choices": [], "usage": {"completion_tokens": 64}, "timings": {"predicted_n": 64}}

data: [DONE]
data: {"choices": [{"finish_reason": "stop"}], "timings": {"predicted_n": 32}}
data: {"choices": [], "timings": {"predicted_n": 32}}
"""
# ik_llama.cpp counts tokens and calls them runs; its first token came with the prompt.
GENERATION = """
INFO [ print_timings] prompt eval time = 110.00 ms / 50 tokens (2.20 ms per token, 454.55 tokens per second) | tid="14"
INFO [ print_timings] generation eval time = 2000.00 ms / 101 runs ( 9.90 ms per token, 50.50 tokens per second) | tid="14"
"""  # noqa: E501 - lines of a log
IN_JSON = "\n".join(
    json.dumps({"log": line, "stream": "stderr"}) for line in GENERATION.splitlines() if line
)
SAVED = f'[{{"prompt": "a", "response": {ANSWERS}}}, {{"prompt": "b", "response": {ANSWERS}}}]'
COLOURED = "\x1b[32m" + PREFIXED.replace(" ms /", " ms\x1b[0m /") + "\x1b[0m"
TEXTS = {
    **{path.name: path.read_text("utf-8") for path in LOGS},
    "answers": ANSWERS,
    "jsonl": JSONL,
    "bare": BARE,
    "prefixed": PREFIXED,
    "mixed": MIXED,
    "acceptance first": BEFORE,
    "streamed": STREAMED,
    "one after the other": f"{ANSWERS}\n{ANSWERS}",
    "coloured": COLOURED,
    "usage": USAGE,
    "ik_llama": GENERATION,
    "lines in JSON": IN_JSON,
    "next to prompts": SAVED,
    "llama-cli": PLAIN_RUN,
    "llama-speculative": SPECULATIVE,
    "llama-speculative twice": SPECULATIVE + SPECULATIVE,
}
FIGURES = (
    "tokens", "ms", "took_ms", "rate", "prompt_tokens", "prompt_ms", "drafted", "accepted", "share",
)  # fmt: skip
READ = """
import { compiled, joined } from "./forms.js";
import { sides, statedIn } from "./runs.js";
const answer = ({ patterns, texts, names }) => {
  const known = compiled(patterns);
  return texts.map((text) => ({
    found: sides(["", text], known).with ?? { requests: [] },
    stated: statedIn(joined(text, known), known).found.map(
      ({ form, number }) => [form.of, ...names.map(number)]),
  }));
};
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    given = {"patterns": SERVER_LOG, "texts": list(TEXTS.values()), "names": FIGURES}
    return dict(zip(TEXTS, scripts.run(tmp_path_factory.mktemp("read"), READ, given), strict=True))


@pytest.mark.parametrize("name", TEXTS.keys() - {"streamed", "usage"})  # the importer has none
def test_every_text_states_the_same_figures_in_both_languages(
    seen: dict[str, dict[str, Any]], name: str
) -> None:
    found = stated(Given(name=name, data=TEXTS[name].encode())).found

    assert seen[name]["stated"] == [
        [each.form.of, *(each.number(figure) for figure in FIGURES)] for each in found
    ]
    assert any(each.is_request for each in found)


def test_requests_are_distinguished_and_a_stream_counts_once(
    seen: dict[str, dict[str, Any]],
) -> None:
    found = {
        name: [
            (each["tokens"], each["ms"], each["drafted"])
            for each in seen[name]["found"]["requests"]
        ]
        for name in TEXTS
    }

    assert found["mixed"] == [(10, 100, 6), (20, 150, 9)]
    assert found["acceptance first"] == found["mixed"]
    assert found["streamed"] == [(64, None, None), (32, None, None)]
    assert found["one after the other"] == [(64, 900.25, 30)] * 2
    assert found["coloured"] == [(3, 10, None)]
    assert found["usage"] == [(64, None, None), (32, None, None)]
    assert found["ik_llama"] == found["lines in JSON"] == [(101, 2000, None)]
    assert found["next to prompts"] == found["one after the other"]


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
    assert (captured["atOnce"], older["atOnce"]) == (1, 1)


def test_counters_of_other_servers_are_read(tmp_path: Path) -> None:
    page = CAPTURES / "vllm" / "ngram" / "metrics_after.txt"
    sglang = """{"meta_info": {"spec_verify_ct": 9, "spec_draft_token_num": 27,
      "spec_accept_token_num": 11}}"""
    vllm = """{"metrics": {"speculative_decoding": {"num_spec_steps": 4,
      "num_draft_tokens": 12, "num_accepted_draft_tokens": 5}}}"""
    texts = [page.read_text("utf-8"), sglang, vllm, f"[{vllm}, {vllm}]"]
    given = {"patterns": SERVER_LOG, "texts": texts, "names": FIGURES}

    found = [each["found"]["counters"] for each in scripts.run(tmp_path, READ, given)]

    assert found == [
        {"rounds": 24, "drafted": 120, "accepted": 22, "emitted": None},
        {"rounds": 9, "drafted": 27, "accepted": 11, "emitted": None},
        {"rounds": 4, "drafted": 12, "accepted": 5, "emitted": None},
        {"rounds": 8, "drafted": 24, "accepted": 10, "emitted": None},
    ]


def test_text_that_is_not_a_log_gives_nothing_and_no_error(tmp_path: Path) -> None:
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
    given = {"patterns": SERVER_LOG, "texts": texts, "names": FIGURES}

    assert [each["stated"] for each in scripts.run(tmp_path, READ, given)] == [[]] * len(texts)
