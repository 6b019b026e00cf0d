"""Counters are taken from the first source that has them, in a fixed order."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from harness.openai.streamed_answer import (
    StreamedAnswer,
    counted_drafts,
    server_times,
    without_drafts,
)
from harness.runners.http.counted_rounds import Counted, read_counters, totals
from harness.runners.http.values import BadAnswerError
from tests.harness.openai.test_answer import (
    ANSWER,
    METRICS,
    TIMINGS,
    USAGE,
    VLLM,
    captured,
    read_at,
    said,
)

DRAFTS = {
    "num_draft_tokens": 15, "num_accepted_draft_tokens": 4, "num_spec_steps": 3,
    "num_spec_tokens": 5, "acceptance_histogram": [1, 0, 2, 0, 0, 0],
}  # fmt: skip
META = {"spec_num_proposed_drafts": 12, "spec_num_correct_drafts": 1, "spec_verify_ct": 4}
OLD_META = {"spec_draft_token_num": 12, "spec_accept_token_num": 1, "spec_verify_ct": 4}
SGLANG = Counted(drafted=12, accepted=1, steps=4)
MLX = {"draft_kind": "mtp", "draft_rounds": 6, "draft_n": 9, "draft_n_accepted": 3}
EVERY = {
    "metrics": {"speculative_decoding": DRAFTS},
    "timings": {"draft_n": 14, "draft_n_accepted": 3},
    "stats": {"total_draft_tokens_count": 13, "accepted_draft_tokens_count": 2},
    "meta_info": META,
}


def stating(extras: Mapping[str, Any] | None = None) -> StreamedAnswer:
    """An answer with additional fields of a server."""
    return replace(ANSWER, extras=extras or {})


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        # The first source in a fixed order.
        (
            stating(EVERY),
            Counted(drafted=15, accepted=4, steps=3, histogram=(1, 0, 2), depth=5),
        ),
        (stating({**EVERY, "metrics": {}}), Counted(drafted=14, accepted=3)),
        (stating({"stats": EVERY["stats"], "meta_info": META}), Counted(drafted=13, accepted=2)),
        (stating({"meta_info": META}), SGLANG),
        (stating({"sglext": {"spec_tokens_details": META}}), SGLANG),
        (stating({"meta_info": OLD_META}), SGLANG),  # its names before 2026
        # Four steps verified 2.5 tokens each, of which one is the target's own: six drafts.
        (
            stating({"meta_info": {**META, "spec_cap_length": 2.5}}),
            Counted(drafted=6, accepted=1, steps=4),
        ),
        (stating({"meta_info": {**META, "spec_cap_length": 0.0}}), SGLANG),  # no cap
        (stating({"timings": MLX}), Counted(drafted=9, accepted=3, steps=6)),
        (stating({"timings": dict.fromkeys(MLX)}), None),
        (stating(), None),
        # More accepted than drafted: the names mean something else.
        (stating({"timings": {"draft_n": 3, "draft_n_accepted": 4}}), None),
        (
            stating({"timings": {"draft_n": 4, "draft_n_accepted": 4}}),
            Counted(drafted=4, accepted=4),
        ),
        *(
            (stating({"timings": {"draft_n": odd, "draft_n_accepted": 3}}), None)
            for odd in (None, -1, 1.5, True, "7")
        ),
        (captured("none/chat.sse"), None),
        (
            captured("ngram/chat.sse"),
            Counted(
                drafted=60, accepted=11, steps=12, histogram=(1, 11), lengths=(5,) * 12, depth=5
            ),
        ),
    ],
)
def test_counts_are_those_of_the_first_source(
    answer: StreamedAnswer, counted: Counted | None
) -> None:
    assert counted_drafts(answer) == counted


def test_a_plain_answer_of_an_engine_that_then_omits_counters_drafted_nothing() -> None:
    plain = stating({"timings": dict.fromkeys(MLX)})

    assert without_drafts("mlx-vlm", plain) == Counted(drafted=0, accepted=0)
    assert without_drafts("unknown server", plain) is None


@pytest.mark.parametrize("name", ["ngram", "draft_model"])
def test_chunks_and_metrics_page_agree_with_the_counts_of_a_real_answer(name: str) -> None:
    answer = captured(f"{name}/chat.sse")
    pages = [
        read_counters((VLLM / name / f"metrics_{at}.txt").read_text()) for at in ("before", "after")
    ]
    whole = json.loads((VLLM / name / "completion.json").read_text())
    stated = whole["metrics"]["speculative_decoding"]

    made = totals(
        decode_ms=1.0,
        output_tokens=answer.output_tokens,
        counted=counted_drafts(answer),
        chunk_tokens=answer.chunk_tokens,
    )

    # One engine alone sends every round in its own chunk.
    lengths = [size - 1 for size in answer.chunk_tokens[1:]]
    assert made.rounds == len(lengths)
    assert 1 + (made.accepted or 0) + made.rounds == answer.output_tokens
    assert made.accepted_histogram == tuple(map(lengths.count, range(max(lengths) + 1)))
    assert made.drafted_histogram is not None
    assert sum(made.drafted_histogram) == made.rounds
    drafted = sum(length * count for length, count in enumerate(made.drafted_histogram))
    assert drafted == made.drafted
    before, after = pages
    assert before is not None
    assert after is not None
    page = after.since(before)
    assert (page.drafted, page.accepted, page.steps) == tuple(stated[key] for key in (*DRAFTS,)[:3])


NUMBERS = some.sampled_from([-1, 0, 1, 2, 5, 9, 40, None, True, 1.5, "7", [], [1], [0, 2, 1]])
NAMES = (*DRAFTS, *MLX, *META, *TIMINGS, *METRICS)
COUNTERS = some.dictionaries(some.sampled_from(NAMES), NUMBERS, max_size=6)
ODD = some.one_of(NUMBERS, COUNTERS)
CHOICE = some.fixed_dictionaries({"delta": NUMBERS, "token_ids": NUMBERS}).map(lambda one: [one])
CHUNKS = some.lists(
    some.fixed_dictionaries(
        {"choices": some.one_of(NUMBERS, CHOICE)},
        optional={
            "metrics": COUNTERS.map(lambda counts: {**counts, "speculative_decoding": counts}),
            "timings": ODD,
            "meta_info": COUNTERS,
            "usage": NUMBERS,
        },
    ),
    max_size=3,
)


@settings(max_examples=60)
@given(CHUNKS)
def test_any_stream_is_read_or_refused(chunks: list[dict[str, Any]]) -> None:
    try:
        answer = read_at(*chunks, said(".", "length"), USAGE)
    except BadAnswerError:
        return

    made = totals(
        decode_ms=1.0,
        output_tokens=answer.output_tokens,
        counted=counted_drafts(answer),
        chunk_tokens=answer.chunk_tokens if answer.tokens else (),
    )
    server_times(answer, salted=True)
    if made.rounds is not None:
        assert made.accepted is not None
        assert made.drafted is not None
        assert made.rounds >= 0
        assert 0 <= made.accepted <= made.drafted
        assert answer.output_tokens == 1 + made.accepted + made.rounds
        histogram = made.accepted_histogram
        assert histogram is None or sum(histogram) == made.rounds
