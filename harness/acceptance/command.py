"""`draftmap acceptance`: what a target accepts of a draft, without running the two together."""

from typing import Annotated

import typer

from harness import console
from harness.acceptance.options import AcceptanceOptions
from harness.acceptance.pair import Pair, pair_of
from harness.acceptance.pricing import Prices, prices_of
from harness.acceptance.reading import Found, read_into
from harness.acceptance.report import Counted, as_json, lines
from harness.acceptance.rounds import at_depth
from harness.campaign.duration import in_turns
from harness.campaign.options import Options
from harness.command_options import Says, Without, offers_fields
from harness.errors import INTERRUPTED, NothingMeasuredError
from harness.machine.rate import this_machine
from harness.report import words
from harness.report.progress import ProgressDisplay
from harness.run import kept_answers
from harness.run.chosen_engine import EngineOptions
from schemas.axes import Axes
from schemas.vocabulary import DEFAULT_RUNNER

_DECIDED = Without(
    frozenset({*Axes.__dataclass_fields__})
    | {"methods", "blocks", "precision", "budget_min", "control", "context_depth_tokens"}
    | {"baseline_gpu_layers", "concurrency", "seed"}
)


_SAYS = Says(
    {
        "drafts": "The smaller model that proposes tokens. Default: the usual draft of a target "
        "known by name.",
        "context_tokens": "Context size, in steps of 256. Default: 2048, or what the answers take.",
    }
)


@console.reports_errors
@offers_fields
def acceptance(
    options: Annotated[Options, _DECIDED, _SAYS],
    asked: AcceptanceOptions,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """The draft alone reads the target's greedy answers; each of its guesses is right or wrong.

    That gives the tokens a round at every depth, exactly as running both would count them, on any
    machine that runs the draft. With a curve of step times it gives the speedup of every depth.

    - `python -m harness acceptance big.gguf small.gguf`

    - `python -m harness run --target big.gguf --keep-answers answers.jsonl`

    - `python -m harness acceptance big.gguf small.gguf --answers answers.jsonl`
    """
    kept_answers.require_free(asked.keep_answers)
    (engine,) = EngineOptions(runner=DEFAULT_RUNNER).engines(options)
    adapter = engine.adapter()
    pair = pair_of(options, asked, console.say)
    prices = prices_of(asked, file=pair.target, name=options.target, say=console.say)
    _say_expected(pair)
    found, interrupted = Found(), False
    with console.interruptible(), ProgressDisplay(console.progress_console()) as display:
        try:
            read_into(found, pair, adapter, display)
        except KeyboardInterrupt:
            interrupted = True
    if asked.keep_answers and found.kept:
        kept_answers.write(asked.keep_answers, found.kept)
    if not any(each.agrees for each in found.read):
        message = "Interrupted before the draft had read an answer."
        raise NothingMeasuredError(message)
    counted = _counted(found, pair, prices, asked.deepest)
    if json:
        console.print_json(as_json(counted))
    else:
        console.print_lines(lines(counted))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _counted(found: Found, pair: Pair, prices: Prices | None, deepest: int) -> Counted:
    drafting_ms = (prices.drafting_ms if prices else None) or found.drafting_ms
    drafting = prices.drafting(drafting_ms) if prices and drafting_ms else None
    curve = prices.curve if prices else None
    return Counted(
        pair=pair,
        answers=len(found.read),
        tokens=sum(len(each.agrees) + 1 for each in found.read),
        depths=tuple(
            at_depth(found.read, depth, curve=curve, drafting=drafting)
            for depth in range(1, deepest + 1)
        ),
        drafting_ms=drafting_ms,
        prices=prices,
    )


def _say_expected(pair: Pair) -> None:
    """Say how long the target writes; reading is a small part of it."""
    if pair.answers is not None:
        return
    expected = in_turns([pair.plain], this_machine(pair.plain.settings.threads))
    if expected is not None:
        console.say(f"This takes about {words.seconds(expected.seconds)}.")
