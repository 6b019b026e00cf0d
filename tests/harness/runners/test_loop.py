"""The loop writes the target's text for any proposals, and counts correctly."""

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.runners.inprocess.loop import Decoded, decode

END = 0
PROMPT = (7, 7)


class ScriptedTarget:
    """Knows one text. Its greedy choice after n tokens is the text's token n, for any input."""

    def __init__(self, text: Sequence[int]) -> None:
        self.text = [*PROMPT, *text]
        self.held = len(PROMPT)
        self.widths: list[int] = []

    def step(self, tokens: Sequence[int]) -> list[int]:
        self.widths.append(len(tokens))
        choices = [self._choice(self.held + fed) for fed in range(1, len(tokens) + 1)]
        self.held += len(tokens)
        return choices

    def truncate(self, length: int) -> None:
        assert length <= self.held
        self.held = length

    def is_end(self, token: int) -> bool:
        return token == END

    def margins(self, count: int) -> list[float]:
        return [0.5] * count

    def _choice(self, position: int) -> int:
        return self.text[position] if position < len(self.text) else 99


class ScriptedDrafter:
    """Proposes tokens by a function of the text."""

    def __init__(self, propose: Callable[[list[int]], list[int]]) -> None:
        self._propose = propose

    def draft(self, text: Sequence[int], limit: int) -> list[int]:
        return self._propose(list(text))[:limit]


def run(
    text: Sequence[int], propose: Callable[[list[int]], list[int]], limit: int
) -> tuple[Decoded, ScriptedTarget]:
    target = ScriptedTarget(text)
    decoded = decode(
        target=target,
        drafter=ScriptedDrafter(propose),
        prompt=PROMPT,
        first=text[0],
        first_margin=0.5,
        max_output_tokens=limit,
    )
    return decoded, target


def test_without_drafts_every_round_is_a_single_step() -> None:
    decoded, target = run([1, 2, 3, 4], lambda _text: [], limit=4)

    assert decoded.tokens == (1, 2, 3, 4)
    assert target.widths == [1, 1, 1]
    assert [item.drafted for item in decoded.rounds] == [0, 0, 0]


def test_a_right_draft_is_accepted_whole_and_followed_by_the_targets_own_token() -> None:
    decoded, target = run([1, 2, 3, 4], lambda _text: [2, 3], limit=4)

    assert decoded.tokens == (1, 2, 3, 4)
    assert [(item.drafted, item.accepted) for item in decoded.rounds] == [(2, 2)]
    assert target.widths == [3]


def test_a_draft_is_accepted_up_to_its_first_wrong_token() -> None:
    decoded, target = run([1, 2, 3, 4], lambda text: [2, 8] if text[-1] == 1 else [], limit=4)

    assert decoded.tokens == (1, 2, 3, 4)
    assert [(item.drafted, item.accepted) for item in decoded.rounds] == [(2, 1), (0, 0)]
    assert target.held == len(PROMPT) + 3  # all but the newest token


def test_the_output_is_never_longer_than_asked_for() -> None:
    decoded, _ = run([1, 2, 3, 4, 5, 6], lambda text: [text[-1] + 1, text[-1] + 2], limit=3)

    assert decoded.tokens == (1, 2, 3)


def test_an_accepted_end_counts_as_the_targets_token() -> None:
    decoded, _ = run([1, 2, END, 5], lambda _text: [2, END, 5], limit=9)

    assert decoded.tokens == (1, 2, END)
    assert [(item.drafted, item.accepted) for item in decoded.rounds] == [(3, 1)]


def test_a_first_token_that_ends_the_output_needs_no_round() -> None:
    decoded, _ = run([END, 1], lambda _text: [], limit=5)

    assert decoded.tokens == (END,)
    assert decoded.rounds == ()


def test_every_output_token_has_a_margin() -> None:
    decoded, _ = run([1, 2, 3, 4], lambda _text: [2], limit=4)

    assert decoded.margins is not None
    assert len(decoded.margins) == len(decoded.tokens)


@given(
    text=st.lists(st.integers(0, 3), min_size=1, max_size=30),
    proposals=st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=30),
    limit=st.integers(1, 30),
)
def test_any_drafter_gives_the_baselines_text_and_consistent_counters(
    text: list[int], proposals: list[list[int]], limit: int
) -> None:
    baseline, _ = run(text, lambda _text: [], limit)

    decoded, _ = run(text, lambda known: proposals[len(known) % len(proposals)], limit)

    accepted = sum(item.accepted for item in decoded.rounds)
    assert decoded.tokens == baseline.tokens
    assert len(decoded.tokens) == 1 + accepted + len(decoded.rounds)
    assert all(item.accepted <= item.drafted for item in decoded.rounds)
