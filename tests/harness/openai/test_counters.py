"""Counters are taken from the first source that has them, in a fixed order."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.openai.draft_counts import in_answer, without_drafts
from harness.openai.streamed_answer import Answer
from harness.runners.http.counted_rounds import Counted

VLLM = {
    "speculative_decoding": {
        "num_draft_tokens": 15,
        "num_accepted_draft_tokens": 4,
        "num_spec_steps": 3,
        "num_spec_tokens": 5,
        "acceptance_histogram": [1, 0, 2, 0, 0, 0],
    }
}
TIMINGS = {"draft_n": 14, "draft_n_accepted": 3}
STATS = {"total_draft_tokens_count": 13, "accepted_draft_tokens_count": 2}
META = {"spec_num_proposed_drafts": 12, "spec_num_correct_drafts": 1, "spec_verify_ct": 4}


def answer(
    beside: Mapping[str, Any] | None = None, usage: Mapping[str, Any] | None = None
) -> Answer:
    """An answer with additional fields of a server."""
    return Answer(
        began_s=0.0,
        first_s=0.1,
        last_s=0.2,
        prompt_tokens=5,
        output_tokens=10,
        finish="length",
        extras=beside or {},
        usage=usage or {},
    )


def test_sources_are_asked_in_their_order() -> None:
    every = {"metrics": VLLM, "timings": TIMINGS, "stats": STATS, "meta_info": META}
    drafted = []
    for name in list(every):
        found = in_answer(answer(every))
        assert found is not None
        drafted.append(found.drafted)
        del every[name]

    assert drafted == [15, 14, 13, 12]
    assert in_answer(answer()) is None


def test_mlx_vlm_tells_the_rounds_and_a_plain_answer_of_it_drafted_nothing() -> None:
    drafted = {"draft_kind": "mtp", "draft_rounds": 6, "draft_n": 9, "draft_n_accepted": 3}
    plain = dict.fromkeys(drafted)

    assert in_answer(answer({"timings": drafted})) == Counted(drafted=9, accepted=3, steps=6)
    assert in_answer(answer({"timings": plain})) is None
    assert without_drafts("mlx-vlm", answer({"timings": plain})) == Counted(drafted=0, accepted=0)
    assert without_drafts("unknown server", answer({"timings": plain})) is None


def test_vllm_tells_steps_histogram_and_the_depth_it_was_started_with() -> None:
    assert in_answer(answer({"metrics": VLLM})) == Counted(
        drafted=15, accepted=4, steps=3, histogram=(1, 0, 2), depth=5
    )


@pytest.mark.parametrize(
    "beside",
    [
        {"sglext": {"spec_tokens_details": META}},
        {
            "meta_info": {
                "spec_draft_token_num": 12,
                "spec_accept_token_num": 1,
                "spec_verify_ct": 4,
            }
        },
    ],
    ids=["in sglext", "under its names before 2026"],
)
def test_sglang_counts_are_found_under_each_of_their_names(beside: dict[str, Any]) -> None:
    assert in_answer(answer(beside)) == Counted(drafted=12, accepted=1, steps=4)


def test_predicted_tokens_of_the_usage_count_unless_they_are_all_zero() -> None:
    details = {"accepted_prediction_tokens": 3, "rejected_prediction_tokens": 5}
    zeros = {"accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}

    assert in_answer(answer(usage={"completion_tokens_details": details})) == Counted(
        drafted=8, accepted=3
    )
    assert in_answer(answer(usage={"completion_tokens_details": zeros})) is None


@pytest.mark.parametrize("value", [None, -1, 1.5, True, "7"])
def test_a_value_that_is_not_a_count_is_ignored(value: Any) -> None:  # noqa: ANN401 - anything of JSON
    assert in_answer(answer({"timings": {"draft_n": value, "draft_n_accepted": 3}})) is None
