"""What `draftmap acceptance` takes from its user."""

from dataclasses import dataclass
from pathlib import Path

from harness.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """Where the answers come from, how deep rounds are, and what prices them."""

    answers: Path | None = option(
        "Answers of the target: what `run --keep-answers` wrote, or lines of JSON with prompt and "
        "answer. The target need not be here then. Default: the target writes them now.",
        metavar="FILE",
        usual=True,
    )
    keep_answers: Path | None = option(
        "Keep the answers that the target writes now (NAME.jsonl), for the next draft.",
        metavar="FILE",
        usual=True,
    )
    curve: Path | None = option(
        "What a wider step of the target costs: JSON of `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o "
        "json`, a result of `run`, or a file of `probe`. Default: what `probe` kept here.",
        metavar="FILE",
        usual=True,
    )
    drafting_ms: float | None = option(
        "Milliseconds of a drafted token where the curve is from. Default: as timed here.",
        metavar="MS",
        least=0,
    )
    deepest: int = option(
        "The longest draft to count.", metavar="N", least=1, most=64, default=8, usual=True
    )
