"""Read the numbers of drafted and accepted tokens from an answer.

Each engine uses its own names. Response metrics (vLLM) take precedence, then timings (llama.cpp and
its forks), stats (LM Studio) and meta information (SGLang). The last resort is how the metrics page
changed during the request. A missing count is unknown, never zero, except for llama.cpp and
mlx-vlm.
"""

from collections import defaultdict
from collections.abc import Mapping

from harness.machine.lenient_json import part
from harness.openai.server_identity import EngineName
from harness.openai.streamed_answer import Answer
from harness.runners.http.counted_rounds import Counted, without_zeros
from harness.runners.http.values import count, whole_numbers
from schemas.codec import Json
from schemas.vocabulary.documents import document

# The path and the names of each engine's draft counters; an empty name is a missing counter.
_SOURCES: list[Mapping[str, str]] = [
    defaultdict(str, each) for each in document("draft_counts", "harness.openai")["sources"]
]


def in_answer(answer: Answer) -> Counted | None:
    """Return the draft counts in an answer, from the first source that has them, or `None`."""
    stated: dict[str, Json] = {**answer.extras, "usage": dict(answer.usage)}
    found = (_read(part(stated, *each["path"].split(".")), each) for each in _SOURCES)
    return next(filter(None, found), None) or _predicted(stated)


def without_drafts(engine: EngineName, answer: Answer) -> Counted | None:
    """Return zero counts for an engine that omits counters if nothing was drafted; else `None`."""
    timings = part(answer.extras, "timings")
    if engine not in ("llama.cpp", "mlx-vlm") or not timings:
        return None
    return Counted(drafted=0, accepted=0) if timings.get("draft_n") is None else None


def _read(values: Mapping[str, Json], names: Mapping[str, str]) -> Counted | None:
    drafted, accepted = count(values, names["drafted"]), count(values, names["accepted"])
    if drafted is None or accepted is None or accepted > drafted:
        return None  # more accepted than drafted: the names mean something else
    counts = whole_numbers(values.get(names["histogram"]))
    return Counted(
        drafted=drafted,
        accepted=accepted,
        steps=count(values, names["steps"]),
        histogram=None if counts is None or min(counts) < 0 else without_zeros(counts),
        lengths=whole_numbers(values.get(names["lengths"])),
        depth=count(values, names["depth"]),
    )


def _predicted(stated: Mapping[str, Json]) -> Counted | None:
    """Read OpenAI's fields for predicted tokens.

    Zeros are ignored, since some servers always send them.
    """
    values = part(stated.get("usage"), "completion_tokens_details")
    accepted = count(values, "accepted_prediction_tokens")
    rejected = count(values, "rejected_prediction_tokens")
    if accepted is None or rejected is None or accepted + rejected == 0:
        return None
    return Counted(drafted=accepted + rejected, accepted=accepted)
