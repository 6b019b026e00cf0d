"""The reason for a verdict is one true and plain sentence."""

from dataclasses import replace

import pytest

from estimates.model import Estimate, Interval
from estimates.reasons import reason
from schemas.method import Method
from schemas.submission import Probes, Submission, VerificationProbe
from tests.estimates.campaigns import BASELINE, CONTROL, SPEC, campaign, failed, trial

ESTIMATE = Estimate(
    arm="spec",
    baseline="baseline",
    task="code",
    verdict="helps",
    prompts=3,
    trials=9,
    failed_trials=0,
    speedup=1.42,
    interval=Interval(low=1.3, high=1.55),
    tokens_per_round=2.7,
    round_cost=1.9,
    fire_rate=1.0,
)
LOSES = replace(
    ESTIMATE,
    verdict="hurts",
    speedup=0.54,
    interval=Interval(low=0.5, high=0.58),
    tokens_per_round=1.4,
    round_cost=2.6,
)
SEVEN_OTHERS = "math, reasoning, summarization, chat, json, creative and translation"
QUIET = campaign([trial("baseline"), trial("spec")])


UNCLEAR = replace(ESTIMATE, verdict="no-clear-difference")
FAILED = replace(ESTIMATE, verdict="failed")
CURVE = VerificationProbe(context_tokens=9, repeats=9, widths=(1, 5), step_ms_median=(20.0, 50.0))
WIDE = trial("spec", drafted_histogram=(1, 0, 0, 0, 9))
OUT_OF_MEMORY = replace(SPEC, outcome="failed", reason="out-of-memory")
EMPTY = replace(CONTROL, method=Method(type="empty-draft"))
EXACT = replace(UNCLEAR, arm="control", speedup=0.99, interval=Interval(low=0.97, high=1.01))
WITHOUT = replace(CONTROL, id="spec", role="alternative")


@pytest.mark.parametrize(
    ("estimate", "submission", "expected"),
    [
        (ESTIMATE, QUIET, "One round costs 1.9 plain tokens and yields 2.7, so this arm wins."),
        (
            replace(ESTIMATE, verdict="slower-in-all"),
            QUIET,
            (
                "One round costs 1.9 plain tokens and yields 2.7, "
                "but reading the prompt costs more time than decoding saves."
            ),
        ),
        (LOSES, QUIET, "One round costs 2.6 plain tokens and yields only 1.4, so this arm loses."),
        (  # a probe that explains the cost of the round
            LOSES,
            campaign([trial("baseline"), WIDE], probes=Probes(verification=CURVE)),
            (
                "Checking 5 tokens takes as long as 2.5 plain steps: "
                "break-even is 2.6 tokens per round, but this arm yields 1.4."
            ),
        ),
        (  # depth 4 yields 5 tokens at most
            replace(LOSES, round_cost=5.2),
            QUIET,
            (
                "One round costs 5.2 plain tokens and yields at most 5, "
                "so this arm could not win at any acceptance rate."
            ),
        ),
        (
            replace(UNCLEAR, fire_rate=0.04, tokens_per_round=1.05),
            QUIET,
            "This arm drafted in only 4 % of rounds, so little could change.",
        ),
        (
            replace(UNCLEAR, interval=Interval(low=0.98, high=1.03), tokens_per_round=1.91),
            QUIET,
            (
                "One round costs 1.90 plain tokens and yields 1.91; "
                "the speedup lies between 0.98 and 1.03, so it hardly matters."
            ),
        ),
        (
            replace(UNCLEAR, interval=Interval(low=0.8, high=2.5)),
            QUIET,
            (
                "One round costs 1.9 plain tokens and yields 2.7; "
                "the speedup lies between 0.80 and 2.50, so it is uncertain whether this arm gains."
            ),
        ),
        (
            replace(ESTIMATE, tokens_per_round=None, round_cost=None, fire_rate=None),
            QUIET,
            (
                "This arm runs at 1.42 times the baseline's speed; "
                "the engine reports no rounds, so the cause is unknown."
            ),
        ),
        (
            replace(ESTIMATE, verdict="never-drafted"),
            QUIET,
            "This arm drafted nothing in any round, so nothing could change.",
        ),
        (
            FAILED,
            campaign([trial("baseline")], arms=(BASELINE, OUT_OF_MEMORY)),
            "The arm did not run: out of memory.",
        ),
        (
            FAILED,
            campaign([trial("baseline"), failed("spec"), failed("spec", block=1)]),
            "None of the arm's 2 trials finished: timed out.",
        ),
        (
            FAILED,
            campaign([failed("baseline"), trial("spec")]),
            "No trial of the baseline finished (timed out), so there is nothing to compare with.",
        ),
        (
            EXACT,
            campaign([trial("baseline")], arms=(BASELINE, CONTROL)),
            "The baseline against itself should give 1.00; it gave 0.99, between 0.97 and 1.01.",
        ),
        (
            EXACT,
            campaign([trial("baseline")], arms=(BASELINE, EMPTY)),
            (
                "This control drafts nothing, so the ratio shows the overhead of the loop: "
                "0.99, between 0.97 and 1.01."
            ),
        ),
        (
            ESTIMATE,
            campaign([trial("baseline")], arms=(BASELINE, WITHOUT)),
            "Without speculation, this setup runs at 1.42 times the baseline's speed.",
        ),
    ],
)
def test_a_verdict_has_a_reason(estimate: Estimate, submission: Submission, expected: str) -> None:
    assert reason(estimate, submission) == expected


@pytest.mark.parametrize(
    ("task", "prompts", "speedup", "expected"),
    [
        ("code", 1, 1.4, "Only 1 prompt was compared; an interval needs at least 2."),
        ("code", 0, None, "Only 0 prompts were compared; an interval needs at least 2."),
        (
            None,
            1,
            None,
            (
                "There is no figure over all tasks, because some tasks were not measured: "
                f"{SEVEN_OTHERS}."
            ),
        ),
    ],
)
def test_too_few_prompts_get_a_specific_reason(
    task: str | None, prompts: int, speedup: float | None, expected: str
) -> None:
    few = replace(
        ESTIMATE,
        verdict="too-few-prompts",
        task=task,  # type: ignore[arg-type]
        prompts=prompts,
        speedup=speedup,
    )

    assert reason(few, QUIET) == expected


def test_a_planned_but_unfinished_task_has_its_own_reason() -> None:
    tasks = ("code", "math", "reasoning", "summarization", "chat", "json", "creative")
    prompts = tuple(f"{task}-1" for task in (*tasks, "translation"))
    few = replace(ESTIMATE, verdict="too-few-prompts", task=None, speedup=None)

    assert reason(few, campaign([trial("baseline")], prompts=prompts)) == (
        "There is no figure over all tasks, because on at least one task no prompt was finished "
        "by both arms."
    )
