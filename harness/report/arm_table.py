"""Format one arm's part of the report: a title, a table of its tasks, and its throughput."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from estimates import depths
from estimates.model import Estimate, Throughput
from estimates.verdicts import LOSSY
from harness.report import words
from schemas.method import limit
from schemas.submission import Arm, Submission
from schemas.vocabulary import METHODS, VERDICTS, say

LEGEND = (
    "tokens/s: the decoding rates of the baseline and of this arm; the second divided by the "
    "first is the speedup. [95%]: the range of the speedup on this machine with other prompts of "
    "the same kind. request: the speedup of whole requests, including the time to read the "
    "prompt (a draft reads it too). repeatable: how far the speedup could move if the same "
    "prompts were measured for much longer (95 %; wide after few blocks). got/needs: tokens per "
    "round, and the break-even number of tokens (R, the cost of a round in plain tokens); the "
    "first divided by the second is the speedup. same: number of outputs identical to the "
    "baseline's (~ diverged at a near-tie, ! diverged elsewhere). A figure with a less-than sign "
    "includes answers that timed out, so it is an upper bound."
)

_COLUMNS = ("task", "verdict", "tokens/s", "speedup [95%]", "request", "got/needs", "same")
_FEWEST_COLUMNS = 4
_WIDE = 1000  # wider than any row


def title(arm: Arm, submission: Submission) -> Text:
    """Return an arm's title: `draft-model-n4: Tiny-500M Q8_0 drafts up to 4 tokens`."""
    return Text.assemble((arm.id, "bold"), f": {_described(arm, submission)}")


def table(estimates: Sequence[Estimate], console: Console) -> Table:
    """Return a table with a row per task, then one for all; narrow consoles get fewer columns."""
    unbounded = console.options.update(width=_WIDE)
    for count in range(len(_COLUMNS), _FEWEST_COLUMNS, -1):
        drawn = _table(estimates, count)
        if console.measure(drawn, options=unbounded).maximum <= console.width:
            return drawn
    return _table(estimates, _FEWEST_COLUMNS)


def _table(estimates: Sequence[Estimate], count: int) -> Table:
    drawn = _empty_table()
    for heading in _COLUMNS[:count]:
        is_text = heading in _COLUMNS[:_FEWEST_COLUMNS]
        wraps = heading == "verdict" and count == _FEWEST_COLUMNS
        drawn.add_column(heading, no_wrap=not wraps, justify="left" if is_text else "right")
    for estimate in estimates:
        drawn.add_row(*_row(estimate)[:count], style="bold" if estimate.task is None else "")
    return drawn


def _empty_table() -> Table:
    return Table(
        box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim"
    )


def _row(estimate: Estimate) -> tuple[Text, ...]:
    verdict = VERDICTS[estimate.verdict]
    return (
        Text(estimate.scope),
        Text(f"{verdict.sign} {verdict.short}", style=verdict.terminal),
        Text(words.rates(estimate)),
        Text(words.speedup(estimate.speedup, estimate.interval, at_most=estimate.at_most)),
        Text(say.times(estimate.whole_request)),
        Text(words.rounds(estimate)),
        Text("lossy" if estimate.doubt == LOSSY else words.exactness(estimate.exactness)),
    )


def _described(arm: Arm, submission: Submission) -> str:
    if arm.role == "alternative":
        layers = arm.placement.target_gpu_layers_requested if arm.placement else None
        asked = {None: "", -1: ", all its layers on the GPU"}
        return f"the target alone{asked.get(layers, f', {layers} layers on the GPU')}"
    method, depth = arm.method, limit(arm.method)
    upto = f" up to {depth} tokens" if depth else ""
    if varied := depths.varied_by(method):
        upto += f", {varied}"
    if METHODS[method.type].lossy:
        upto += ", with lossy verification: by design, answers differ from the target's"
    if method.length is not None:
        return f"acceptance set to {method.length:g} tokens per round, {depth} drafted"
    if method.draft is not None:
        names = {model.id: f"{model.name} {model.quantisation}" for model in submission.drafts}
        return f"{names.get(method.draft, method.draft)} drafts{upto}"
    return (METHODS[method.type].reported or f"{method.type} drafts") + upto


CONCURRENCY_TITLE = "Concurrent requests: the rate of one request, and the machine's total"
CONCURRENCY_LEGEND = (
    "All rates are in tokens/s. The total covers whole passes, including prompt processing; its "
    "speedup is the total divided by the baseline's total above ([95%]: interval over blocks, on "
    "this machine). A draft uses compute that the other requests could have used."
)


def concurrency_table(found: Sequence[Throughput]) -> Table:
    """Return a table of throughput by concurrency; each level starts with its baseline."""
    drawn = _empty_table()
    for heading in ("at once", "arm", "one stream", "in total", "total speedup [95%]"):
        is_text = heading in ("arm", "total speedup [95%]")
        drawn.add_column(heading, no_wrap=True, justify="left" if is_text else "right")
    for each in sorted(found, key=lambda item: item.concurrency):
        drawn.add_row(
            str(each.concurrency),
            each.arm,
            say.rate(each.stream_tps),
            say.rate(each.total_tps),
            words.speedup(each.total_speedup, each.interval) if each.total_speedup else "",
        )
    return drawn
