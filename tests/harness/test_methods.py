"""Is `--method` understood, and a slip answered with what was meant?"""

from __future__ import annotations

import pytest

from harness.errors import BadInputError
from harness.methods import DraftModelRequest, MethodRequest, label, parse
from schemas.submission import EmptyDraft, NoSpeculation, Oracle, PromptLookup


@pytest.mark.parametrize(
    ("text", "expected", "name"),
    [
        (
            "prompt-lookup",
            PromptLookup(n_max=8, ngram_min=2, ngram_max=4),
            "prompt-lookup-n8",
        ),
        (
            "prompt-lookup:n_max=5, ngram_min=3",
            PromptLookup(n_max=5, ngram_min=3, ngram_max=4),
            "prompt-lookup-n5-g3-4",
        ),
        ("draft-model", DraftModelRequest(n_max=4), "draft-model-n4"),
        ("draft-model:n_max=2", DraftModelRequest(n_max=2), "draft-model-n2"),
        ("empty-draft", EmptyDraft(), "empty-draft"),
        ("none", NoSpeculation(), "baseline-again"),
        ("oracle", Oracle(n_max=4, acceptance=0.7), "oracle-a0.7-n4"),
        ("oracle:acceptance=1,n_max=2", Oracle(n_max=2, acceptance=1.0), "oracle-a1-n2"),
    ],
)
def test_a_method_and_the_arm_it_becomes(text: str, expected: MethodRequest, name: str) -> None:
    assert parse(text) == expected
    assert label(parse(text)) == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("promt-lookup", r"unknown method 'promt-lookup'\. Did you mean 'prompt-lookup'"),
        ("draft-model:nmax=3", r"no option 'nmax'\. Did you mean 'n_max'"),
        ("draft-model:n_max=zero", "whole number from 1 to 256, not 'zero'"),
        ("draft-model:n_max=0", "from 1 to 256, not '0'"),
        ("draft-model:n_max", "not ''"),
        ("prompt-lookup:ngram_min=5", "ngram_min=5 exceeds ngram_max=4"),
        ("oracle:acceptance=1.2", "a number from 0 to 1 like 0.7, not '1.2'"),
        ("oracle:acceptance=nan", "from 0 to 1 like 0.7, not 'nan'"),
        ("none:n_max=3", r"none has no option 'n_max'\. It has no options"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse(text)
