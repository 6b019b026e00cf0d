"""Compare whole requests, from prompt to last token, between an arm and its baseline."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

import orjson

from estimates.model import AnswerLength
from estimates.reasons import ANSWER_LENGTHS, answer_length, costs_of
from estimates.requests import whole_request
from pipeline.site.rows import Row
from schemas.vocabulary import say, sentence

# Prompt lengths in tokens, from a question to a long document.
PROMPT_LENGTHS = (64, 512, 4096)


def whole_requests(estimates: Iterable[Row]) -> Mapping[str, object] | None:
    """Template values for an arm's whole requests: a sentence, a table by length, and costs."""
    row = next((row for row in estimates if row.whole_request is not None), None)
    costs = None if row is None else costs_of(row)
    if row is None or costs is None:
        return None
    return {
        "sentence": _request_sentence(row),
        "costs_json": orjson.dumps(asdict(costs)).decode(),
        "prompt_tokens": round(row.mean_prompt_tokens),
        "output_tokens": max(2, round(row.mean_output_tokens)),
        "answers": ANSWER_LENGTHS,
        "rows": tuple(
            (prompt, tuple(whole_request(costs, prompt, answer) for answer in ANSWER_LENGTHS))
            for prompt in PROMPT_LENGTHS
        ),
    }


def _request_sentence(row: Row) -> str:
    bounds = (row.whole_request_low, row.whole_request_high)
    text = (
        f"With prompts of {row.mean_prompt_tokens:.0f} and answers of {row.mean_output_tokens:.0f} "
        f"tokens on average, the whole request ran at {say.speedup(row.whole_request, *bounds)} "
        "the baseline's speed on this machine. The target, and the draft model if there is one, "
        "must first read the prompt."
    )
    if row.pays_from_tokens is not None:
        text += f" {sentence('pays-from', length=pays_from(row))}"
    return text


def pays_from(row: Row) -> str:
    """The answer length above which an arm saves time, in words."""
    return answer_length(
        AnswerLength(tokens=row.pays_from_tokens, low=row.pays_from_low, high=row.pays_from_high)
    )
