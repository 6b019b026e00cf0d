"""The options of `draftmap acceptance`."""

from dataclasses import dataclass
from pathlib import Path

from harness.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """The source of the answers, the greatest depth to evaluate, and the cost of drafting."""

    answers: Path | None = option(
        "The target's answers: a file written by `run --keep-answers`, or JSON lines with prompt "
        "and answer. In that case, the target need not be on this machine. Default: the target "
        "writes the answers now.",
        metavar="FILE",
        usual=True,
    )
    keep_answers: Path | None = option(
        (
            "Save the answers that the target writes now to this file (NAME.jsonl), for testing "
            "other drafts."
        ),
        metavar="FILE",
        usual=True,
    )
    curve: Path | None = option(
        "The target's step times by width: JSON from `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o "
        "json`, a result file from `run`, or a file from `probe`. Default: the curve that "
        "`probe` saved on this machine.",
        metavar="FILE",
        usual=True,
    )
    drafting_ms: float | None = option(
        (
            "Milliseconds per drafted token on the machine where the curve was measured. "
            "Default: the time measured on this machine."
        ),
        metavar="MS",
        least=0,
    )
    deepest: int = option(
        "Longest draft to evaluate.", metavar="N", least=1, most=64, default=8, usual=True
    )
