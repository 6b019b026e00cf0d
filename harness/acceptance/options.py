"""The options of `draftmap acceptance`."""

from dataclasses import dataclass
from pathlib import Path

from harness.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """The source of the answers, the greatest depth to evaluate, and the cost of drafting."""

    answers: Path | None = option(
        "The target's answers: a file written by `run --keep-answers`, or JSON lines with prompt "
        "and answer. The target need not be on this machine then. Default: the target writes the "
        "answers now.",
        metavar="FILE",
        usual=True,
    )
    keep_answers: Path | None = option(
        (
            "Keep the answers that the target writes now in this file (NAME.jsonl), to test "
            "other drafts."
        ),
        metavar="FILE",
        usual=True,
    )
    curve: Path | None = option(
        "Step times of the target by width: JSON from `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o "
        "json`, a result of `run`, or a file of `probe`. Default: the curve that `probe` saved "
        "on this machine.",
        metavar="FILE",
        usual=True,
    )
    drafting_ms: float | None = option(
        (
            "Milliseconds per drafted token on the machine of the curve. Default: the time "
            "measured here."
        ),
        metavar="MS",
        least=0,
    )
    deepest: int = option(
        "Longest draft to evaluate.", metavar="N", least=1, most=64, default=8, usual=True
    )
