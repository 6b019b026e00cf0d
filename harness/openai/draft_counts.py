"""Read how much was drafted and accepted from an answer.

Each engine counts under other names. Response metrics (vLLM) come first, then timings
(llama.cpp and its forks), stats (LM Studio) and meta information (SGLang); the difference of the
metrics page before and after is the last resort. What is not counted is unknown, never zero, but
for llama.cpp.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.machine.lenient_json import part
from harness.openai.server_identity import EngineName
from harness.openai.streamed_answer import Answer
from harness.runners.http.counted_rounds import Counted, without_zeros
from harness.runners.http.values import count, whole_numbers
from schemas.codec import Json


@dataclass(frozen=True, slots=True)
class _Source:
    """Where an engine states its drafts, and the names of its counters; empty for one it lacks."""

    path: str
    drafted: str
    accepted: str
    steps: str = ""
    histogram: str = ""
    lengths: str = ""
    depth: str = ""


_LM_STUDIO = ("total_draft_tokens_count", "accepted_draft_tokens_count")
# SGLang renamed its counters in 2026.
_SGLANG = (
    "spec_num_proposed_drafts",
    "spec_num_correct_drafts",
    "spec_verify_ct",
    "spec_correct_drafts_histogram",
)
_OLD_SGLANG = (
    "spec_draft_token_num",
    "spec_accept_token_num",
    "spec_verify_ct",
    "spec_accept_histogram",
)
_SOURCES = (
    _Source(
        "metrics.speculative_decoding",
        "num_draft_tokens",
        "num_accepted_draft_tokens",
        "num_spec_steps",
        "acceptance_histogram",
        "per_step_drafted",
        "num_spec_tokens",
    ),
    _Source("timings", "draft_n", "draft_n_accepted", "draft_rounds"),  # rounds: mlx-vlm
    _Source("stats", *_LM_STUDIO),
    _Source("usage", *_LM_STUDIO),  # of LM Studio's older routes
    _Source("meta_info", *_SGLANG),
    _Source("meta_info", *_OLD_SGLANG),
    _Source("sglext.spec_tokens_details", *_SGLANG),
    _Source("sglext.spec_tokens_details", *_OLD_SGLANG),
)


def in_answer(answer: Answer) -> Counted | None:
    """What the answer itself states of its drafts, from the first source that has it, or `None`."""
    stated: dict[str, Json] = {**answer.extras, "usage": dict(answer.usage)}
    found = (_read(part(stated, *each.path.split(".")), each) for each in _SOURCES)
    return next(filter(None, found), None) or _predicted(stated)


def without_drafts(engine: EngineName, answer: Answer) -> Counted | None:
    """Of an engine that states its drafts only where there are any: that it drafted nothing."""
    timings = part(answer.extras, "timings")
    if engine not in ("llama.cpp", "mlx-vlm") or not timings:
        return None
    return Counted(drafted=0, accepted=0) if timings.get("draft_n") is None else None


def _read(values: Mapping[str, Json], names: _Source) -> Counted | None:
    drafted, accepted = count(values, names.drafted), count(values, names.accepted)
    if drafted is None or accepted is None or accepted > drafted:
        return None  # more accepted than drafted: they count something else
    counts = whole_numbers(values.get(names.histogram))
    return Counted(
        drafted=drafted,
        accepted=accepted,
        steps=count(values, names.steps),
        histogram=None if counts is None or min(counts) < 0 else without_zeros(counts),
        lengths=whole_numbers(values.get(names.lengths)),
        depth=count(values, names.depth),
    )


def _predicted(stated: Mapping[str, Json]) -> Counted | None:
    """OpenAI's own fields for predicted tokens. Zeros say nothing: some always send them."""
    values = part(stated.get("usage"), "completion_tokens_details")
    accepted = count(values, "accepted_prediction_tokens")
    rejected = count(values, "rejected_prediction_tokens")
    if accepted is None or rejected is None or accepted + rejected == 0:
        return None
    return Counted(drafted=accepted + rejected, accepted=accepted)
