"""What `draftmap acceptance` takes from its user."""

from dataclasses import dataclass
from pathlib import Path

from harness.options import option

_ANSWERS = "Answers"
# The widest step that curves have: 16 tokens, and so 15 drafted ones.
DEEPEST = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """Where the answers come from, how deep rounds are, and what prices them."""

    answers: Path | None = option(
        "Answers of the target: what `run --keep-answers` wrote, or lines of JSON with prompt and "
        "answer. The target need not be here then. Default: the target writes them now.",
        metavar="FILE",
        panel=_ANSWERS,
        usual=True,
    )
    keep_answers: Path | None = option(
        "Keep the answers that the target writes now (NAME.jsonl), for the next draft.",
        metavar="FILE",
        panel=_ANSWERS,
        usual=True,
    )
    deepest: int = option(
        "The longest draft to count, in tokens.",
        metavar="N",
        least=1,
        most=DEEPEST,
        default=8,
        usual=True,
    )
