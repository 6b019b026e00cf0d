"""The options of `draftmap acceptance`."""

from dataclasses import dataclass
from pathlib import Path

from harness.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """The source of the answers, the depth of rounds, and their cost."""

    answers: Path | None = option(
        "Answers of the target: a file of `run --keep-answers`, or JSON lines with prompt and "
        "answer. The target is then not needed here. Default: the target writes them now.",
        metavar="FILE",
        usual=True,
    )
    keep_answers: Path | None = option(
        "Keep the answers that the target writes now (NAME.jsonl), for the next draft.",
        metavar="FILE",
        usual=True,
    )
    curve: Path | None = option(
        "Step times of the target by width: JSON of `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o "
        "json`, a result of `run`, or a file of `probe`. Default: the curve kept here by `probe`.",
        metavar="FILE",
        usual=True,
    )
    drafting_ms: float | None = option(
        "Milliseconds per drafted token on the machine of the curve. Default: as timed here.",
        metavar="MS",
        least=0,
    )
    deepest: int = option(
        "The longest draft to count.", metavar="N", least=1, most=64, default=8, usual=True
    )
