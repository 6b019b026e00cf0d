"""`draftmap probe`: time a model's steps over 1, 2 … tokens, and store the curve for `plan`."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, cast

import msgspec
import typer
from rich import progress

from harness import console
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.command_help import NO_RUNNING_SERVER
from harness.command_options import Without, offers_fields
from harness.curves import kept
from harness.curves.kept import KeptCurve
from harness.errors import INTERRUPTED, BadInputError
from harness.machine.computer import computer_of
from harness.options import option
from harness.report import details, words
from harness.run.chosen_engine import ChosenEngine, EngineOptions
from harness.runners.base import Stepped
from harness.runners.probes import PASSES, passes
from schemas.codec import Json, encode
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Probes

# Options about drafts, answers or prompts, which a probe does not use.
_OF_ANSWERS = Without(
    frozenset(
        {
            "drafts", "methods", "suite", "tasks", "prompts", "max_output_tokens", "blocks",
            "precision", "budget_min", "control", "quick", "thinking", "context_depth_tokens",
            "draft_gpu_layers", "baseline_gpu_layers", "concurrency", "seed", "temperature",
        }
    )
)  # fmt: skip
_OTHER_SERVERS = Without(
    frozenset(
        {
            "base_url", "spec_base_urls", "server_command", "spec_server_commands", "model",
            "spec_models", "device_names",
        }
    )
)  # fmt: skip

HELP = """The target checks a draft of n tokens in a single step of n + 1 tokens. The cost of this
step depends on the card, the model and the build, but not on the text. A probe therefore needs no
draft and no answers.

- `python -m harness probe qwen3-8b`

- `python -m harness probe big.gguf --runner llama-server --gpu-layers 20`

`plan` finds the curve of this machine. Ctrl-C loses nothing: repeat the command to continue.
"""
_MEASURED = "What is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    budget_min: float = option(
        "Time limit: after the first five passes over the widths, the probe stops before a pass "
        "that would exceed the limit.",
        name="budget",
        metavar="MINUTES",
        panel=_MEASURED,
        least=0.1,
        most=1000,
        default=2.0,
    )
    widest: int = option(
        "Largest number of tokens in a step: the longest draft plus one.",
        metavar="N",
        panel=_MEASURED,
        least=2,
        most=64,
        default=16,
    )
    json: bool = option(
        "Print the curve as JSON, which `plan --curve` reads.", panel="Result", default=False
    )


@console.reports_errors
@offers_fields
def probe(
    options: Annotated[Options, _OF_ANSWERS],
    engine: Annotated[EngineOptions, _OTHER_SERVERS],
    probing: ProbeOptions,
) -> None:
    options = replace(options, methods=(NO_SPECULATION,), prompts=("1",))
    chosen, *others = engine.engines(options)
    if others:
        raise BadInputError("a probe measures a single engine; give one --server-binary")
    if chosen.kind.behind_servers:
        raise BadInputError(NO_RUNNING_SERVER)
    chosen.require_suited(options)
    curve = _measured(chosen, options, probing)
    if probing.json:
        console.print_json(cast("dict[str, Json]", encode(curve)))
        return
    found = curve.measured("").probe
    console.print_lines(details.costs(Probes(verification=found)))
    name = options.target or curve.model.name
    console.say(f"Saved for this machine. Plan with it: python -m harness plan {name}")


def _measured(chosen: ChosenEngine, options: Options, probing: ProbeOptions) -> KeptCurve:
    """Load the model and measure. Ctrl-C ends the program and keeps the finished passes."""
    campaign = chosen.campaign(options, fetch=True)
    with console.interruptible():
        # The engine reserves room for an arm's widest step, so this arm has the widest step of the
        # probe.
        wide = Method(type=NO_SPECULATION.type, n_max=probing.widest - 1)
        arm = replace(campaign.arms[0], method=wide)
        session = chosen.adapter().open(replace(campaign, arms=(arm,)))
        try:
            if not isinstance(session, Stepped):
                raise BadInputError(
                    f"{chosen.runner} cannot time single steps; use another --runner"
                )
            curve = kept.begun(_nothing_yet(campaign, session, probing.widest))
            with _shown(curve, probing.budget_min * 60) as passed:
                return measure(curve, session, budget_s=probing.budget_min * 60, passed=passed)
        finally:
            session.close()


def measure(
    curve: KeptCurve,
    session: Stepped,
    *,
    budget_s: float,
    passed: Callable[[KeptCurve, float], None],
    clock: Callable[[], float] = time.monotonic,
) -> KeptCurve:
    """Measure the missing passes of a curve, and store each pass once it is finished.

    After each pass, `passed` is called with the curve and the seconds that the pass took. Raises
    `HarnessError` if steps cannot be timed.
    """
    timed = passes(session, curve.widths, had=curve.passes, budget_s=budget_s, clock=clock)
    for times, pass_s in timed:
        curve = curve.with_pass(times)
        kept.keep(curve)
        passed(curve, pass_s)
    curve = msgspec.structs.replace(curve, complete=True)
    kept.keep(curve)
    return curve


def _nothing_yet(campaign: Campaign, session: Stepped, widest: int) -> KeptCurve:
    report, widths = session.report(), tuple(range(1, widest + 1))
    return KeptCurve(
        measured_on=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        device=kept.device_of(computer_of()),
        model=campaign.target.model,
        engine=report.engine,
        settings=report.settings,
        gpu_layers=campaign.settings.gpu_layers,
        context_tokens=0,
        widths=widths,
        step_ms=((),) * len(widths),
    )


@contextmanager
def _shown(begun: KeptCurve, budget_s: float) -> Iterator[Callable[[KeptCurve, float], None]]:
    """Write the expected duration after the first pass; on a terminal, also show a progress bar.

    After Ctrl-C, report how many passes are stored.
    """
    screen = console.progress_console()
    columns = (
        progress.TextColumn("Timing steps of 1 to {task.fields[widest]} tokens"),
        progress.BarColumn(bar_width=None),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    if begun.passes:
        console.say(f"Continuing after {begun.passes} of {PASSES} passes.")
    latest = begun
    with progress.Progress(*columns, console=screen, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=PASSES, completed=begun.passes, widest=begun.widths[-1])

        def passed(curve: KeptCurve, seconds: float) -> None:
            nonlocal latest
            if latest is begun:
                left_s = min(budget_s, seconds * (PASSES - begun.passes))
                console.say(f"This takes about {words.seconds(left_s)}.")
            latest = curve
            bar.update(task, completed=curve.passes)

        try:
            yield passed
        except KeyboardInterrupt:
            saved = latest.passes
            done = f"{saved} of {PASSES} passes are saved" if saved else "no pass ended"
            console.say(f"{done}; repeat the command to continue.")
            raise typer.Exit(INTERRUPTED) from None
