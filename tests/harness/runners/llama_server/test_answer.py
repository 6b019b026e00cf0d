"""An answer's counters are used only if they are consistent."""

from copy import deepcopy

import pytest

from harness.campaign.method_parser import parse
from harness.campaign.model import ArmPlan
from harness.runners.base import Totals
from harness.runners.http.counted_rounds import Counted, totals
from harness.runners.http.values import BadAnswerError
from harness.runners.llama_server.completion import (
    Completion,
    Timings,
    counted_in,
    margins_in,
    read_completion,
)
from schemas.codec import Json

ARM = ArmPlan(id="x", role="speculation", method=parse("draft-model"))
ANSWER: dict[str, Json] = {
    "tokens": [472, 585, 304, 1758],
    "tokens_evaluated": 5,
    "stop_type": "limit",
    "timings": {
        "prompt_n": 5,
        "prompt_ms": 200.766,
        "predicted_n": 4,
        "predicted_ms": 178.9,
        "draft_n": 3,
        "draft_n_accepted": 2,
    },
}


def changed(**timings: Json) -> Json:
    answer = deepcopy(ANSWER)
    stated = answer["timings"]
    assert isinstance(stated, dict)
    stated.update(timings)
    return answer


def sums(done: Completion, page: Counted | None) -> Totals:
    return totals(
        decode_ms=done.timings.predicted_ms,
        output_tokens=done.timings.predicted_n,
        counted=counted_in(done, ARM, page),
        page=page,
    )


def test_tokens_counts_and_times_are_read() -> None:
    assert read_completion(ANSWER) == Completion(
        tokens=(472, 585, 304, 1758),
        stop_type="limit",
        timings=Timings(
            predicted_n=4, prompt_ms=200.766, predicted_ms=178.9, draft_n=3, draft_n_accepted=2
        ),
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "Expected `object`, got `array`"),
        ({"tokens": [1]}, "missing required field `timings`"),
        ({**ANSWER, "tokens": []}, "return_tokens"),
        ({**ANSWER, "tokens": [472, 585, 304, 2**31]}, r"\$\.tokens"),
        (changed(predicted_n=9), "has 4 tokens, but its timings state 9"),
        (changed(predicted_ms="fast"), "timings.predicted_ms"),
        (changed(draft_n=-1), "timings.draft_n"),
        (changed(draft_n=True), "timings.draft_n"),
        (changed(predicted_ms=float("nan")), "timings.predicted_ms"),
    ],
)
def test_missing_and_wrong_fields_are_named(answer: Json, message: str) -> None:
    with pytest.raises(BadAnswerError, match=message):
        read_completion(answer)


def test_rounds_follow_from_tokens_and_accepted_drafts() -> None:
    # Four tokens: the first from the prompt, two accepted, so one pass of the target.
    counted = Counted(steps=1, drafted=3, accepted=2, histogram=(0, 0, 1))

    found = sums(read_completion(ANSWER), counted)

    assert (found.rounds, found.drafted, found.accepted) == (1, 3, 2)
    assert found.accepted_histogram == (0, 0, 1)


def test_metrics_that_disagree_with_the_answer_are_recorded_without_a_histogram() -> None:
    counted = Counted(steps=1, drafted=3, accepted=1, histogram=(0, 1))

    found = sums(read_completion(ANSWER), counted)

    assert (found.drafted, found.accepted, found.accepted_histogram) == (3, 2, None)
    assert (found.metrics_drafted, found.metrics_accepted) == (3, 1)


def test_accepted_tokens_that_are_not_listed_are_still_counted() -> None:
    # A build of early 2026 that accepted two tokens in the round that reached the limit.
    listed = {**ANSWER, "tokens": [472, 585]}

    found = read_completion(listed)

    assert (len(found.tokens), found.timings.predicted_n) == (2, 4)
    assert sums(found, None).rounds == 1
    with pytest.raises(BadAnswerError, match="has 1 tokens, but its timings state 4"):
        read_completion({**ANSWER, "tokens": [472]})


def test_an_answer_without_draft_counters_drafted_nothing() -> None:
    answer = deepcopy(ANSWER)
    timings = answer["timings"]
    assert isinstance(timings, dict)
    del timings["draft_n"], timings["draft_n_accepted"]

    found = sums(read_completion(answer), None)

    assert (found.rounds, found.drafted, found.accepted) == (3, 0, 0)
    assert found.accepted_histogram == (3,)


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        (((-0.5, -2.0), (-0.25, -0.5)), (1.5, 0.25)),
        (((0.0,),), None),  # a token without a runner-up
    ],
)
def test_margins_are_differences_of_log_probabilities(
    logprobs: tuple[tuple[float, ...], ...], expected: tuple[float, ...] | None
) -> None:
    listed: Json = [{"top_logprobs": [{"logprob": each} for each in pair]} for pair in logprobs]

    assert margins_in({"completion_probabilities": listed}) == expected


def test_a_baseline_that_drafts_by_itself_is_refused() -> None:
    plain = ArmPlan(id="baseline", role="baseline", method=parse("none"))

    with pytest.raises(BadAnswerError, match="the baseline's server drafted 3 tokens"):
        counted_in(read_completion(ANSWER), plain, None)
