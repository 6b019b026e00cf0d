"""`draftmap acceptance`: measure a draft's acceptance rate without running it with its target."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness import PROGRAM, console
from harness.acceptance.own_texts import suite_of
from harness.acceptance.pair import PairToRead, name_of, pair_of
from harness.acceptance.read_answers import AnswersRead, read_into
from harness.acceptance.reader import Reader
from harness.acceptance.report import DraftCounts, as_json, lines
from harness.acceptance.rounds import at_depth
from harness.campaign.options import Options
from harness.command_options import Says, Without, offers_fields
from harness.errors import INTERRUPTED, BadInputError, MachineError, NothingMeasuredError
from harness.machine.command_line import pasted
from harness.machine.computer import computer_of
from harness.models.model_facts import find
from harness.options import option
from harness.record import kept
from harness.record.kept import KeptAcceptance
from harness.record.measured_here import kept_for
from harness.record.read import read as read_curve
from harness.report import words
from harness.report.progress import ProgressDisplay
from harness.run.chosen_engine import EngineOptions
from harness.run.time_limit import in_turns
from planner.names import read_model
from planner.rounds import Curve
from schemas.submission import Axes
from schemas.vocabulary import DEFAULT_RUNNER

_DECIDED = Without(
    frozenset({*Axes.__dataclass_fields__})
    | {"methods", "blocks", "budget_min", "control"}
    | {"baseline_gpu_layers", "concurrency", "seed"}
)
_SAYS = Says(
    {
        "drafts": "The smaller model that proposes tokens. Default: the target's usual draft, if "
        "the target is known by name.",
        "context_tokens": "Context size in tokens, rounded up to a multiple of 256. Default: "
        "2048, or more if the answers need it.",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """The prompts, the greatest depth to evaluate, and the cost of drafting."""

    texts: Path | None = option(
        "Your own prompts: a file with one prompt a line, or chats as JSON lines. The target "
        "answers them; they stay on this machine, and only counts are saved. Default: our prompts.",
        metavar="FILE",
        usual=True,
    )
    curve: Path | None = option(
        "The target's step times by width: JSON from `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o "
        "json`, or a file from `probe`. Default: the curve that `probe` saved on this machine.",
        metavar="FILE",
        usual=True,
    )
    drafting_ms: float | None = option(
        "Milliseconds per drafted token on the machine where the curve was measured. Default: "
        "the time measured on this machine.",
        metavar="MS",
        least=0,
    )
    deepest: int = option(
        "Longest draft to evaluate.", metavar="N", least=1, most=64, default=8, usual=True
    )


@console.reports_errors
@offers_fields
def acceptance(
    options: Annotated[Options, _DECIDED, _SAYS],
    asked: AcceptanceOptions,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """The target answers by itself, then the draft predicts each token of its greedy answers.

    The correct predictions give the same tokens per round at every depth as a run of both models.
    A curve of step times also gives the speedup.

    - `python -m harness acceptance big.gguf small.gguf`

    - `python -m harness acceptance big.gguf small.gguf --texts prompts.txt`
    """
    pair = _pair(options, asked)
    curve = _curve(asked, pair)
    engine = EngineOptions(runner=DEFAULT_RUNNER).engine(options)
    if expected := in_turns([pair.writes]):
        console.say(f"This takes about {words.seconds(expected.seconds)}.")
    found, interrupted = AnswersRead(), False
    open_reader = partial(Reader, answer_limit_s=engine.connection.answer_limit_s)
    with console.interruptible(), ProgressDisplay(console.progress_console()) as display:
        try:
            read_into(found, pair, open_reader, engine.adapter().open, display)
        except KeyboardInterrupt:
            interrupted = True
    _print(found, pair, asked, curve, json=json, interrupted=interrupted)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _pair(options: Options, asked: AcceptanceOptions) -> PairToRead:
    if len(options.drafts) > 1:
        raise BadInputError("name a single draft")
    return pair_of(options, console.say, suite_of(asked.texts) if asked.texts else None)


def _curve(asked: AcceptanceOptions, pair: PairToRead) -> Curve | None:
    """Return the curve from --curve, else the one that `probe` stored for the target, if any."""
    path = pair.target.on_disk
    if asked.curve is None:
        return kept_for(path, computer_of()) if path else None
    planned = find(read_model(str(path)), say=console.say)
    return read_curve(asked.curve).curve_for(str(path), planned, None)


def _print(
    found: AnswersRead,
    pair: PairToRead,
    asked: AcceptanceOptions,
    curve: Curve | None,
    *,
    json: bool,
    interrupted: bool,
) -> None:
    if not any(each.agrees for each in found.read):
        error = NothingMeasuredError if interrupted else MachineError
        raise error("no answer has two or more tokens, so there are no rounds to count")
    counted = _counted(found, pair, asked, curve)
    if json:
        console.print_json(as_json(counted))
    else:
        console.print_lines(lines(counted))
    _keep(counted, pair, found.drafting_ms)


def _keep(counted: DraftCounts, pair: PairToRead, drafting_ms: float | None) -> None:
    """Record the counts for `plan` if the draft was timed."""
    if drafting_ms is not None:
        measured = KeptAcceptance(
            measured_until=datetime.now(tz=UTC).isoformat(timespec="seconds"),
            device=kept.device_of(computer_of()),
            model=pair.target.model,
            draft=pair.draft,
            answers=counted.answers,
            tokens_per_round=tuple(each.tokens_per_round for each in counted.depths),
            drafting_ms=drafting_ms,
        )
        if kept.keep(measured):
            files = (str(pair.target.path), str(pair.reads.target.path))
            console.say(f"Saved for this machine. Plan with it: {PROGRAM} plan {pasted(files)}")


def _counted(
    found: AnswersRead, pair: PairToRead, asked: AcceptanceOptions, curve: Curve | None
) -> DraftCounts:
    drafting_ms = found.drafting_ms if asked.drafting_ms is None else asked.drafting_ms
    return DraftCounts(
        draft=name_of(pair.draft),
        target=name_of(pair.target.model),
        answers=len(found.read),
        tokens=sum(len(each.agrees) + 1 for each in found.read),
        depths=tuple(
            at_depth(found.read, depth, curve=curve, drafting_ms=drafting_ms)
            for depth in range(1, asked.deepest + 1)
        ),
        drafting_ms=drafting_ms,
        curve=curve if drafting_ms is not None else None,
    )
