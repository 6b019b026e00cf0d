"""Rounds counted from a draft's agreement equal those of decoding with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.acceptance.rounds import AtDepth, ReadAnswer, Rounds, at_depth, rounds_of, tokens_of
from harness.runners.inprocess.loop import decode
from planner.rounds import Curve
from schemas.submission import VerificationProbe
from tests.harness.runners.test_loop import END, PROMPT, ScriptedDrafter, ScriptedTarget

# Tokens 2 to 8 of an answer of eight: right, right, wrong, right, right, right, right.
CUT = ReadAnswer(task="code", agrees=(True, True, False, True, True, True, True), limit=8)


def test_a_round_begins_after_the_targets_own_token() -> None:
    # 2 3 are accepted and 4 is the target's; 5 6 and 7; nothing is drafted before the last one.
    assert rounds_of(CUT, 2) == Rounds(rounds=3, tried=(2, 2), reached=(2, 2))
    # 2 is accepted and 3 is the target's; 4 is rejected; 5 and 6; 7 and 8.
    assert rounds_of(CUT, 1) == Rounds(rounds=4, tried=(4,), reached=(3,))


def test_a_rejected_token_ends_the_round_and_the_deeper_ones_are_not_tried() -> None:
    # 2 3 accepted, 4 rejected and replaced; 5 6 7 accepted, 8 is the target's.
    assert rounds_of(CUT, 4) == Rounds(rounds=2, tried=(2, 2, 2, 0), reached=(2, 2, 1, 0))


def test_an_answer_that_ended_drafts_beyond_its_end_and_one_that_was_cut_does_not() -> None:
    ended = ReadAnswer(task="code", agrees=(True, False), limit=100)
    cut = ReadAnswer(task="code", agrees=(True, True), limit=3)

    # The draft may propose the end, too: it is the target's choice, and no draft was accepted.
    assert rounds_of(ended, 3) == Rounds(rounds=1, tried=(1, 1, 0), reached=(1, 0, 0))
    assert rounds_of(cut, 3) == Rounds(rounds=1, tried=(1, 0, 0), reached=(1, 0, 0))


def test_an_answer_of_one_token_takes_no_round() -> None:
    alone = ReadAnswer(task="code", agrees=(), limit=9)

    assert rounds_of(alone, 2) == Rounds(rounds=0, tried=(0, 0), reached=(0, 0))
    assert at_depth([alone, CUT], 2).tokens_per_round == at_depth([CUT], 2).tokens_per_round


@given(
    text=st.lists(st.integers(0, 4), min_size=1, max_size=24),
    wrong=st.sets(st.integers(0, 40)),
    depth=st.integers(1, 6),
    limit=st.integers(1, 24),
)
def test_the_loop_that_decodes_takes_the_same_rounds(
    text: list[int], wrong: set[int], depth: int, limit: int
) -> None:
    """The drafter errs at fixed places of the text, as a greedy draft model does."""
    whole = [*text, *[3] * 40]
    proposed = [9 if place in wrong else token for place, token in enumerate(whole)]

    def propose(so_far: list[int]) -> list[int]:
        written = len(so_far) - len(PROMPT)
        return proposed[written : written + depth]

    target = ScriptedTarget(whole)
    decoded = decode(
        target=target,
        drafter=ScriptedDrafter(propose),
        prompt=PROMPT,
        first=whole[0],
        first_margin=None,
        max_output_tokens=limit,
    )

    answer = decoded.tokens
    agrees = [whole[n] == proposed[n] and whole[n] != END for n in range(1, len(answer))]
    most = limit if answer[-1] == END else len(answer)
    found = rounds_of(ReadAnswer(task="code", agrees=tuple(agrees), limit=most), depth)
    assert found == Rounds(
        rounds=len(decoded.rounds),
        tried=tuple(
            sum(r.drafted > k and r.accepted >= k for r in decoded.rounds) for k in range(depth)
        ),
        reached=tuple(sum(r.accepted > k for r in decoded.rounds) for k in range(depth)),
    )


def test_every_task_counts_once_in_the_tokens_of_a_round() -> None:
    chat = ReadAnswer(task="chat", agrees=(False, False, False, False), limit=5)

    found = at_depth([CUT, chat], 1)

    # Seven tokens in four rounds, and four in four: 4/7 and 1 rounds for a token.
    assert found.rounds == 8
    assert found.tokens_per_round.estimate == pytest.approx(2 / (4 / 7 + 1))
    tasks = {task: each.estimate for task, each in found.by_task.items()}
    assert tasks == pytest.approx({"code": 7 / 4, "chat": 1.0})
    # The last round of each drafts nothing: 4 and 3 tries, of which 3 and none were accepted.
    assert found.tried == (7,)
    assert found.acceptance == (3 / 7,)


def test_a_position_that_no_round_reached_has_no_chance() -> None:
    wrong = ReadAnswer(task="code", agrees=(False,) * 4, limit=5)

    assert at_depth([wrong], 2).acceptance == (0.0, None)


def test_a_speedup_is_tokens_over_the_wider_step_and_the_drafting() -> None:
    steps = VerificationProbe(
        context_tokens=9, repeats=1, widths=(1, 2, 3), step_ms_median=(10.0, 12.0, 15.0)
    )
    curve = Curve(probe=steps, source="a test")

    def depth(tokens: int) -> AtDepth:
        return at_depth([CUT], tokens, curve=curve, drafting_ms=2.0)

    two = depth(2).speedup
    assert two is not None
    # Seven tokens in three rounds, of 1.5 steps and two drafted tokens of 0.2 steps each.
    assert two.estimate == pytest.approx(7 / 3 / 1.9)
    assert two.low < two.estimate < two.high
    assert depth(3).speedup is None  # the curve ends at three tokens


def test_tokens_of_a_round_are_one_and_the_accepted_ones_up_to_the_depth() -> None:
    prompts = [Rounds(rounds=100, reached=each) for each in ((60, 30), (80, 50))]

    assert tokens_of(prompts).estimate == pytest.approx(1 + 140 / 200 + 80 / 200)


def test_prompts_that_differ_make_the_interval_of_a_yield_wider_than_their_rounds_do() -> None:
    alike = [Rounds(rounds=100, reached=(70,))] * 2
    apart = [Rounds(rounds=100, reached=(count,)) for count in (60, 80)]

    steady, moving = tokens_of(alike), tokens_of(apart)

    # By rounds sqrt(0.7 * 0.3 / 200), by prompts a standard error of 0.1; times Student's t.
    assert steady.high - steady.estimate == pytest.approx(0.0324 * 1.6525, rel=0.001)
    assert moving.high - moving.estimate == pytest.approx(min(0.3, 0.1 * 6.3138), rel=0.001)
    assert moving.low == pytest.approx(1.7 - 0.1 * 6.3138, rel=0.001)


def test_without_a_round_there_is_no_yield() -> None:
    with pytest.raises(ValueError, match="no round"):
        tokens_of([Rounds(rounds=0, reached=(0, 0))])
