"""Does teacher forcing write the given text and remember what the target would have chosen?"""

from harness.runners.inprocess.loop import Decoded, decode
from harness.runners.inprocess.targets import ForcedTarget
from tests.harness.runners.test_loop import PROMPT, ScriptedDrafter, ScriptedTarget

OWN = [1, 2, 3, 4, 5]
TRUTH = [1, 2, 8, 9, 5]


def forced(draft: list[int], truth: list[int] = TRUTH) -> tuple[Decoded, ForcedTarget]:
    target = ForcedTarget(ScriptedTarget(OWN), [*PROMPT, *truth], held=len(PROMPT))
    decoded = decode(
        target=target,
        drafter=ScriptedDrafter(lambda text: draft[len(text) - len(PROMPT) - 1 :]),
        prompt=PROMPT,
        first=truth[0],
        first_margin=None,
        max_output_tokens=len(truth),
    )
    return decoded, target


def test_the_text_is_the_truth_whatever_is_drafted() -> None:
    for draft in ([], [2, 8, 9, 5], [2, 3, 4, 5], [0, 0, 0, 0]):
        decoded, _ = forced(draft)

        assert decoded.tokens == tuple(TRUTH)


def test_drafts_are_accepted_where_they_agree_with_the_truth_and_not_with_the_target() -> None:
    right, _ = forced([2, 8, 9])
    wrong, _ = forced([2, 3, 4])

    assert [item.accepted for item in right.rounds] == [3]
    assert [item.accepted for item in wrong.rounds] == [1, 0, 0]


def test_the_targets_own_choices_are_kept_for_every_token_after_the_first() -> None:
    for draft in ([], [2, 8, 9, 5], [2, 3, 4, 5]):
        _, target = forced(draft)

        assert target.own == [2, 3, 4, 5]
