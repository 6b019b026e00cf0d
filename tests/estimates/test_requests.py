"""A whole request is the prompt, the draft's prompt and the answer together."""

from dataclasses import replace

import pytest

from estimates.model import AnswerLength, Estimate, Interval
from estimates.reasons import answer_length, costs_of
from estimates.reasons import whole_request as sentence
from estimates.requests import Costs, pays_from, whole_request
from estimates.summary import summarize
from schemas.submission import Placement, Prompt, Submission, Suite, Trial
from tests.estimates.campaigns import BASELINE, LOOKUP, SPEC, campaign, failed, trial

# 10 ms a token for the baseline, 11.36 for the arm; the target reads a token in 5 ms, the draft in
# 11.6: a default prompt of 217 tokens takes 1,085 ms and 2,517 ms more.
COSTS = Costs(
    baseline_prompt_token_ms=5.0, prompt_token_ms=16.6, baseline_token_ms=10.0, token_ms=11.36
)


def with_lengths(submission: Submission, tokens: int = 100) -> Submission:
    prompts = tuple(replace(each, tokens=tokens) for each in submission.suite.prompts)
    return replace(submission, suite=replace(submission.suite, prompts=prompts))


def of(submission: Submission, arm: str = "spec") -> Estimate:
    return next(e for e in summarize(submission).estimates if e.arm == arm and e.task == "code")


def test_the_closed_form_adds_reading_and_writing() -> None:
    # (100 * 5 + 23 * 10) / (100 * 16.6 + 23 * 11.36) = 730 / 1921.28
    assert whole_request(COSTS, 100, 24) == pytest.approx(730 / 1921.28)
    # Without a prompt it is the ratio per token.
    assert whole_request(COSTS, 0, 500) == pytest.approx(10 / 11.36)


READS_200_MS_MORE = {"baseline_reading_ms": 100.0, "reading_ms": 300.0}
TWICE = [[(10.0, 5.0)]]  # ms per token without and with the arm


def test_the_arm_saves_time_from_the_answer_on_whose_gain_pays_for_the_reading() -> None:
    # Every token after the first saves 5 ms, so that 40 of them pay for 200 ms. At 4 times as fast
    # one saves 7.5 ms (26.7 tokens), at 1.25 times 2 ms (100).
    found = pays_from(READS_200_MS_MORE, TWICE, Interval(low=1.25, high=4.0))

    assert found is not None
    assert found.tokens == pytest.approx(1 + 40)
    assert found.low == pytest.approx(1 + 200 / 7.5)
    assert found.high == pytest.approx(1 + 100)
    # There the whole requests are equal: 100 + 40 x 10 and 300 + 40 x 5.
    costs = Costs(
        baseline_prompt_token_ms=1.0, prompt_token_ms=3.0, baseline_token_ms=10.0, token_ms=5.0
    )
    assert whole_request(costs, 100, found.tokens) == pytest.approx(1.0)


def test_an_arm_that_may_not_be_faster_may_never_pay() -> None:
    found = pays_from(READS_200_MS_MORE, TWICE, Interval(low=0.9, high=4.0))

    assert found is not None
    assert found.high is None
    assert answer_length(found) == "41 tokens (28 to perhaps never)"
    assert pays_from(READS_200_MS_MORE, TWICE, None) == AnswerLength(tokens=pytest.approx(41))


def test_without_extra_reading_or_a_gain_there_is_no_break_even_length() -> None:
    reads_the_same = {"baseline_reading_ms": 100.0, "reading_ms": 100.0}

    assert pays_from(reads_the_same, TWICE, None) is None
    assert pays_from(READS_200_MS_MORE, [[(10.0, 11.0)]], None) is None


def test_the_draft_prompt_time_is_found_in_any_trial() -> None:
    # Read 50 ms by the target in the baseline's first trial, 30 ms by the draft in the arm's first.
    made = campaign(
        [
            trial("baseline", block=0, prompt_ms=50.0),
            trial("spec", block=0, decode_ms=80.0, draft_prompt_ms=30.0),
            trial("spec", block=1, decode_ms=80.0),
            trial("baseline", block=1),
        ]
    )

    estimate = of(with_lengths(made))
    (prompt,) = summarize(made).prompts

    # (50 + 100) / (50 + 30 + 80): per token 1.25 times as fast, the whole request 0.94 times.
    assert estimate.speedup == pytest.approx(1.25)
    assert estimate.whole_request == pytest.approx(150 / 160)
    assert (prompt.baseline_reading_ms, prompt.reading_ms) == (50.0, 80.0)
    assert estimate.mean_prompt_tokens == 100
    assert estimate.mean_output_tokens == 11
    assert costs_of(estimate) == Costs(
        baseline_prompt_token_ms=pytest.approx(0.5),
        prompt_token_ms=pytest.approx(0.8),
        baseline_token_ms=pytest.approx(10.0),
        token_ms=pytest.approx(8.0),
    )
    # The closed form at the measured lengths is the figure itself.
    assert whole_request(costs_of(estimate), 100, 11) == pytest.approx(estimate.whole_request)


def test_a_draft_that_is_not_known_to_have_read_leaves_the_whole_request_unknown() -> None:
    made = campaign([trial("baseline", prompt_ms=50.0), trial("spec", decode_ms=80.0)])

    assert of(made).whole_request is None
    assert sentence(of(made)) == ""


def test_prompt_lookup_adds_no_reading() -> None:
    arm = replace(SPEC, method=LOOKUP)
    made = campaign(
        [trial("baseline", prompt_ms=100.0), trial("spec", decode_ms=50.0)], arms=(BASELINE, arm)
    )

    # 200 ms with the baseline, 150 with the arm.
    assert of(made).whole_request == pytest.approx(200 / 150)


def test_a_server_is_measured_from_outside() -> None:
    def served(arm: str, wall_ms: float, **fields: float) -> Trial:
        return trial(arm, prompt_ms=40.0, wall_ms=wall_ms, **fields)

    # Before the first token: 160 - 100 = 60 ms, and 180 - 80 = 100 ms.
    made = campaign([served("baseline", 160.0), served("spec", 180.0, decode_ms=80.0)])

    assert of(made).whole_request == pytest.approx(160 / 180)


def test_the_first_token_is_waited_for_as_the_client_saw_it() -> None:
    made = campaign(
        [
            trial("baseline", ttft_ms=50.0, wall_ms=151.0),
            trial("spec", ttft_ms=90.0, decode_ms=80.0, wall_ms=171.0),
        ]
    )

    assert of(made).whole_request == pytest.approx(150 / 170)


def test_a_prompt_is_read_by_the_placement_that_answers_it() -> None:
    all_layers, half = (Placement(target_gpu_layers_requested=each) for each in (-1, 10))
    arms = (
        replace(BASELINE, placement=all_layers),
        replace(SPEC, method=LOOKUP, placement=half),
    )
    made = campaign(
        [trial("baseline", prompt_ms=20.0), trial("spec", decode_ms=80.0, prompt_ms=60.0)],
        arms=arms,
    )

    # 120 ms with the baseline, 140 with the arm.
    assert of(made).whole_request == pytest.approx(120 / 140)


def test_several_requests_at_once_have_no_whole_request() -> None:
    arms = tuple(replace(arm, concurrency=4) for arm in (BASELINE, replace(SPEC, method=LOOKUP)))
    made = campaign([trial("baseline", prompt_ms=20.0), trial("spec")], arms=arms)

    assert of(made).whole_request is None


def test_over_prompts_it_is_the_ratio_of_the_summed_times() -> None:
    arm = replace(SPEC, method=LOOKUP)
    made = campaign(
        [
            trial("baseline", "code-1", prompt_ms=100.0),
            trial("spec", "code-1", decode_ms=50.0),
            trial("baseline", "code-2", prompt_ms=300.0),
            trial("spec", "code-2", decode_ms=100.0),
        ],
        arms=(BASELINE, arm),
        prompts=("code-1", "code-2"),
    )

    # 200 and 400 ms with the baseline, 150 and 400 with the arm.
    found = of(made)
    assert found.whole_request == pytest.approx(600 / 550)
    assert (found.baseline_request_ms, found.request_ms) == (300.0, 275.0)
    # With answers of 256 tokens: reading takes 100 and 300 ms, a token 10 ms, or 5 and 10.
    assert found.stated_request == pytest.approx((200 + 2550) / (200 + 255 * 7.5))
    # d = (200 - 12/11 x 150) / 300 and (400 - 12/11 x 400) / 300: 4/33 and -4/33. t = 12.7062.
    assert found.whole_request_interval is not None
    assert found.whole_request_interval.log_half_width == pytest.approx(12.7062 * 4 / 33, rel=1e-4)


def test_a_failed_trial_is_in_the_whole_request_with_its_time_limit() -> None:
    # Given up after 900 ms with 11 tokens at most: 90 ms a token; the prompt was read in 50 ms.
    arm = replace(SPEC, method=LOOKUP)
    gone = replace(failed("spec"), wall_ms=900.0)
    made = campaign([trial("baseline", prompt_ms=50.0), gone], arms=(BASELINE, arm))
    made = replace(made, settings=replace(made.settings, max_output_tokens=11))

    assert of(made).whole_request == pytest.approx((50 + 100) / (50 + 900))
    assert of(made).at_most


def test_arms_whose_baseline_answered_several_requests_at_once_have_no_whole_request() -> None:
    arms = (replace(BASELINE, concurrency=4), replace(SPEC, method=LOOKUP))
    made = campaign([trial("baseline", prompt_ms=20.0), trial("spec")], arms=arms)

    assert of(made).whole_request is None


def test_the_sentence_names_both_figures_and_other_lengths() -> None:
    made = with_lengths(
        campaign(
            [
                trial("baseline", prompt_ms=50.0),
                trial("spec", decode_ms=50.0, draft_prompt_ms=100.0),
            ]
        )
    )

    # Reading: 50 and 150 ms for 100 tokens. Writing: 10 and 5 ms a token.
    # 24: (50 + 230) / (150 + 115) = 1.06; 96: 1000 / 625 = 1.60; 384: 3880 / 2065 = 1.88;
    # 1536: 15400 / 7825 = 1.97. It pays from 1 + 100 / 5 = 21 tokens on.
    assert sentence(of(made)) == (
        "Whole request: 0.75\N{MULTIPLICATION SIGN} the baseline's speed, reading the prompt "
        "included (per token 2.00\N{MULTIPLICATION SIGN}), with prompts of 100 and answers of 11 "
        "tokens on average. For answers of 24, 96, 384 and 1,536 tokens: "
        "1.06\N{MULTIPLICATION SIGN}, 1.60\N{MULTIPLICATION SIGN}, 1.88\N{MULTIPLICATION SIGN} and "
        "1.97\N{MULTIPLICATION SIGN}. It saves time for answers of about 21 tokens or more."
    )


def test_a_prompt_of_unknown_length_gives_the_figure_without_the_form() -> None:
    made = campaign(
        [trial("baseline", prompt_ms=50.0), trial("spec", decode_ms=50.0, draft_prompt_ms=100.0)]
    )
    bare = replace(
        made, suite=Suite(id="x", version="1.0.0", prompts=(Prompt(id="code-1", task="code"),))
    )

    assert of(bare).whole_request == pytest.approx(150 / 200)
    assert costs_of(of(bare)) is None
