"""The n-gram drafter proposes what followed the same words the last time."""

from hypothesis import given
from hypothesis import strategies as st

from harness.runners.inprocess.drafters import PromptLookupDrafter


def drafted(*text: int, limit: int) -> list[int]:
    return PromptLookupDrafter(n_max=9, ngram_min=2, ngram_max=3).draft(text, limit)


def test_it_proposes_what_followed_the_tail_before() -> None:
    assert drafted(1, 2, 3, 4, 1, 2, limit=2) == [3, 4]


def test_it_prefers_the_longer_match() -> None:
    # 2 3 was last followed by 8, but 1 2 3 was followed by 9.
    assert drafted(1, 2, 3, 9, 2, 3, 8, 1, 2, 3, limit=1) == [9]


def test_it_prefers_the_latest_of_equal_matches() -> None:
    assert drafted(5, 6, 7, 0, 5, 6, 8, 0, 5, 6, limit=1) == [8]


def test_it_proposes_nothing_when_the_tail_is_new() -> None:
    assert drafted(1, 2, 3, 4, 5, limit=4) == []


def test_the_tail_does_not_match_itself() -> None:
    assert drafted(1, 2, limit=4) == []


def test_it_never_proposes_more_than_it_may() -> None:
    assert drafted(1, 2, 3, 4, 5, 1, 2, limit=1) == [3]
    assert drafted(1, 2, 3, 4, 5, 1, 2, limit=0) == []


@given(tokens=st.lists(st.integers(0, 3), max_size=60), cut=st.integers(0, 60))
def test_text_that_comes_in_parts_gives_the_same_draft(tokens: list[int], cut: int) -> None:
    drafter = PromptLookupDrafter(n_max=9, ngram_min=2, ngram_max=3)
    drafter.draft(tokens[:cut], 5)

    assert drafter.draft(tokens, 5) == drafted(*tokens, limit=5)


@given(tokens=st.lists(st.integers(0, 3), max_size=40))
def test_it_agrees_with_a_search_through_the_whole_text(tokens: list[int]) -> None:
    expected: list[int] = []
    for length in (3, 2):
        tail = tokens[-length:]
        starts = [
            start
            for start in range(len(tokens) - length)
            if len(tail) == length and tokens[start : start + length] == tail
        ]
        if starts:
            follow = max(starts) + length
            expected = tokens[follow : follow + 4]
            break

    assert drafted(*tokens, limit=4) == expected
