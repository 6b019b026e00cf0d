"""How much was drafted and accepted? From what the answer says, in a fixed order of sources.

Each engine counts under names of its own. Response metrics (vLLM) come first, then timings
(llama.cpp and its forks), stats (LM Studio) and meta information (SGLang); the difference of the
metrics page before and after is the last resort. What nobody tells is unknown and never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.runners.http.counters import Counters
from harness.runners.openai.answer import Answer, count
from schemas.codec import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Speculation in one answer, as its engine counts it.

    `steps` are the rounds that drafted, `histogram` has them by accepted length, `depth` is what
    the server was started with. The last round may have accepted tokens that no longer fitted into
    the output: engines count those, too.
    """

    drafted: int
    accepted: int
    steps: int | None = None
    histogram: tuple[int, ...] | None = None
    depth: int | None = None


def counted(answer: Answer, page: Counters | None) -> Counted | None:
    """The counters of the first source that has them, or `None`."""
    return told(answer) or of_page(page)


def told(answer: Answer) -> Counted | None:
    """What the answer itself says of its drafts, or `None`."""
    beside = answer.beside
    sources = (
        _vllm(_part(beside, "metrics", "speculative_decoding")),
        _named(_part(beside, "timings"), "draft_n", "draft_n_accepted"),
        _named(_part(beside, "stats"), *_LM_STUDIO),
        _named(answer.usage, *_LM_STUDIO),  # where LM Studio's older routes have them
        _sglang(_part(beside, "meta_info")),
        _sglang(_part(beside, "sglext", "spec_tokens_details")),
        _predicted(_part(answer.usage, "completion_tokens_details")),
    )
    return next((found for found in sources if found is not None), None)


def of_page(page: Counters | None) -> Counted | None:
    """What a server's metrics page counted between two readings."""
    if page is None:
        return None
    return Counted(
        drafted=page.drafted,
        accepted=page.accepted,
        steps=page.rounds,
        histogram=page.accepted_histogram(0),
    )


_LM_STUDIO = ("total_draft_tokens_count", "accepted_draft_tokens_count")


def _vllm(values: Mapping[str, Json]) -> Counted | None:
    found = _named(values, "num_draft_tokens", "num_accepted_draft_tokens")
    if found is None:
        return None
    return Counted(
        drafted=found.drafted,
        accepted=found.accepted,
        steps=count(values, "num_spec_steps"),
        histogram=_histogram(values.get("acceptance_histogram")),
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
    if not isinstance(value, list) or not value:
        return None
    counts = [item for item in value if isinstance(item, int) and item >= 0]
    while len(counts) > 1 and counts[-1] == 0:
        counts.pop()
    return tuple(counts) if len(counts) <= len(value) else None


def _part(values: Mapping[str, Json], *names: str) -> Mapping[str, Json]:
    part: Json = dict(values)
    for name in names:
        part = part.get(name) if isinstance(part, dict) else None
    return part if isinstance(part, dict) else {}
