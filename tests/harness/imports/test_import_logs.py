"""Logs and answers of llama.cpp become the results worked out by hand."""

import pytest

from harness.imports.source_files import Given
from tests.harness.imports.samples import (
    GREEDY,
    MTP,
    Case,
    answer,
    file,
    files,
)
from tests.pipeline.test_slower_reading import PLAIN_RUN, SPECULATIVE

COUNTS = "0.trials.1.drafted,accepted,rounds"


def older(sign: str) -> list[Given]:
    off, on = files("llama-server")
    text = on.text.replace("draft acceptance =", sign).replace(", mean len", " ;")
    return [off, file("llama-server-on.log", text)]


def against(**timings: float | None) -> list[Given]:
    """A plain answer, and one with these timings."""
    return [answer("off.json", 2000.0), answer("on.json", 1000.0, **timings)]


FEW_ROUNDS = "too few rounds for drafts of at most 3 tokens (on.json: $)"
NO_TIME = "a record without tokens or without a time (on.json: $)"
LOGS = {
    "build, model, method and counters": Case(
        "llama-server", files("llama-server"), GREEDY,
        {
            "0.engine.build_number,commit": [10450, "ece963f41"],
            "0.arms.1.method": {"type": "mtp"},
            "0.trials.*.drafted,accepted,rounds": [[None] * 3] * 2 + [[100, 50, 50], [80, 60, 40]],
            "0.suite.prompts.*.tokens": [50, 60],
            "0.trials.2.prompt_ms": 110.0,
        },
        ["statistics lines"],
    ),
    "an older name of the acceptance": Case(
        "llama-server", older("draft acceptance rate ="), GREEDY,
        {"0.trials.*.accepted": [None, None, 50, 60]},
    ),
    "no mean length": Case(
        "llama-server", older("draft acceptance ="), GREEDY,
        {"0.trials.*.accepted": [None, None, 50, 60]},
    ),
    # One step from before the first token: 101 steps, of which 31 rounds and 70 accepted tokens.
    "llama-cli and llama-speculative count steps": Case(
        "llama-server", [file("off.log", PLAIN_RUN), file("on.log", SPECULATIVE)],
        GREEDY | {"method": "mtp:n_max=4"},
        {
            "0.trials.*.output_tokens,decode_ms,rounds": [[101, 1000.0, None], [102, 500.0, 31]],
            "0.summary.estimates.task=other.speedup": [pytest.approx(2.02)],
        },
    ),
    "an answer with timings": Case(
        "llama-server", against(draft_n=100, draft_n_accepted=50), MTP,
        {
            "0.trials.*.output_tokens,decode_ms,drafted": [[101, 2000.0, None], [101, 1000.0, 100]],
            "0.suite.prompts.0.tokens": 50,
            "0.engine.build_number": 10068,
            "0.trials.0.finish": "length",
        },
    ),
    "an arm that drafted nothing": Case(
        "llama-server", against(), MTP,
        {"0.trials.1.drafted": 0, "0.summary.flags.name=never-drafted.name": ["never-drafted"]},
    ),
    # 101 tokens less 75 accepted and the first leave 25 rounds, too few for 90 drafts of 3.
    "too few rounds": Case(
        "llama-server", against(draft_n=90, draft_n_accepted=75), MTP,
        {COUNTS: [90, 75, None]},
        [FEW_ROUNDS],
    ),
    "more accepted than drafted": Case(
        "llama-server", against(draft_n=40, draft_n_accepted=50), MTP,
        {COUNTS: [None] * 3},
        ["counters with more accepted than drafted tokens (on.json: $)"],
    ),
    "no time": Case(
        "llama-server", against(predicted_ms=0, predicted_per_second=None), MTP,
        {"0.trials.*.arm": ["baseline"]}, [NO_TIME],
    ),
    "a time too short to store": Case(
        "llama-server", against(predicted_ms=1e-9, predicted_per_second=None), MTP,
        {"0.trials.*.arm": ["baseline"]}, [NO_TIME],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_a_file_becomes_the_result_worked_out_by_hand(name: str) -> None:
    LOGS[name].check()
