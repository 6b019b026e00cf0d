"""Read how much was drafted and accepted from an answer.

Each engine counts under other names. Response metrics (vLLM) come first, then timings
(llama.cpp and its forks), stats (LM Studio) and meta information (SGLang); the difference of the
metrics page before and after is the last resort. What is not counted is unknown, never zero.
"""

from collections.abc import Mapping

from harness.runners.http.counters import Counted, Counters, without_zeros
from harness.runners.http.values import count, whole_numbers
from harness.runners.openai.answer import Answer
from schemas.codec import Json

_LM_STUDIO = ("total_draft_tokens_count", "accepted_draft_tokens_count")


def counted(answer: Answer, page: Counters | None) -> Counted | None:
    """The counters of the first source that has them, or `None`."""
    return in_answer(answer) or (page.counted() if page else None)


def in_answer(answer: Answer) -> Counted | None:
    """What the answer itself states of its drafts, or `None`."""
    extras = answer.extras
    sources = (
        _vllm(_part(extras, "metrics", "speculative_decoding")),
        _named(_part(extras, "timings"), "draft_n", "draft_n_accepted"),
        _named(_part(extras, "stats"), *_LM_STUDIO),
        _named(answer.usage, *_LM_STUDIO),  # where LM Studio's older routes have them
        _sglang(_part(extras, "meta_info")),
        _sglang(_part(extras, "sglext", "spec_tokens_details")),
        _predicted(_part(answer.usage, "completion_tokens_details")),
    )
    return next((found for found in sources if found is not None), None)


def _vllm(values: Mapping[str, Json]) -> Counted | None:
    found = _named(values, "num_draft_tokens", "num_accepted_draft_tokens")
    if found is None:
        return None
    return Counted(
        drafted=found.drafted,
        accepted=found.accepted,
        steps=count(values, "num_spec_steps"),
        histogram=_histogram(values.get("acceptance_histogram")),
        lengths=whole_numbers(values.get("per_step_drafted")),
        depth=count(values, "num_spec_tokens"),
    )


def _sglang(values: Mapping[str, Json]) -> Counted | None:
    """SGLang renamed its counters in 2026; both names are understood."""
    found = _named(values, "spec_num_proposed_drafts", "spec_num_correct_drafts") or _named(
        values, "spec_draft_token_num", "spec_accept_token_num"
    )
    if found is None:
        return None
    listed = values.get("spec_correct_drafts_histogram") or values.get("spec_accept_histogram")
    return Counted(
        drafted=found.drafted,
        accepted=found.accepted,
        steps=count(values, "spec_verify_ct"),
        histogram=_histogram(listed),
    )


def _predicted(values: Mapping[str, Json]) -> Counted | None:
    """OpenAI's own fields for predicted tokens. Zeros say nothing: some always send them."""
    accepted = count(values, "accepted_prediction_tokens")
    rejected = count(values, "rejected_prediction_tokens")
    if accepted is None or rejected is None or accepted + rejected == 0:
        return None
    return Counted(drafted=accepted + rejected, accepted=accepted)


def _named(values: Mapping[str, Json], drafted: str, accepted: str) -> Counted | None:
    n_drafted, n_accepted = count(values, drafted), count(values, accepted)
    if n_drafted is None or n_accepted is None or n_accepted > n_drafted:
        return None  # more accepted than drafted: they count something else
    return Counted(drafted=n_drafted, accepted=n_accepted)


def _histogram(value: Json) -> tuple[int, ...] | None:
    """Counts by accepted length without zeros at the end."""
    counts = whole_numbers(value)
    return None if counts is None or min(counts) < 0 else without_zeros(counts)


def _part(values: Mapping[str, Json], *names: str) -> Mapping[str, Json]:
    part: Json = dict(values)
    for name in names:
        part = part.get(name) if isinstance(part, dict) else None
    return part if isinstance(part, dict) else {}
