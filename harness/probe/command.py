"""`draftmap probe`: time a model's steps over 1, 2 … tokens, and store the curve for `plan`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, cast

from estimates.flags.machine_state import BUSY
from estimates.system_load import in_use
from harness import console
from harness.campaign.options import Options
from harness.command_help import NO_RUNNING_SERVER
from harness.command_options import Without, offers_fields
from harness.errors import BadInputError
from harness.machine.computer import computer_of
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.options import option
from harness.record import kept
from harness.record.kept import KeptCurve
from harness.report import details, words
from harness.run.chosen_engine import ChosenEngine, EngineOptions
from harness.runners.base import Stepped, StepTimes
from harness.runners.probes import PASSES, passes
from schemas.codec import Json, encode
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Probes
from schemas.vocabulary import say

# Options about drafts, answers or prompts, which a probe does not use.
_OF_ANSWERS = Without(
    frozenset(
        {
            "drafts", "methods", "suite", "tasks", "prompts", "max_output_tokens", "blocks",
            "budget_min", "control", "quick", "thinking", "context_depth_tokens",
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

`plan` finds the curve of this machine.
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
    chosen = engine.engine(options)
    if chosen.kind.behind_servers:
        raise BadInputError(NO_RUNNING_SERVER)
    chosen.require_suited(options)
    curve = _measured(chosen, options, probing)
    if probing.json:
        console.print_json(cast("dict[str, Json]", encode(curve)))
        kept.keep(curve)
        return
    costs = details.costs(Probes(verification=curve.curve.probe))
    spread = f"\N{PLUS-MINUS SIGN}{say.percent(curve.spread)}"
    console.print_lines([*costs, f"Half of the passes are within {spread}, at every width."])
    name = options.target or curve.model.name
    if curve.doubt:
        console.say(f"Doubt: {curve.doubt}. Close other programs, then measure again.")
    if kept.keep(curve):
        saved = "Saved with this doubt" if curve.doubt else "Saved"
        console.say(f"{saved} for this machine. Plan with it: python -m harness plan {name}")


def _measured(chosen: ChosenEngine, options: Options, probing: ProbeOptions) -> KeptCurve:
    """Load the model and measure. Ctrl-C ends the program without a curve."""
    campaign = chosen.campaign(options, fetch=True)
    cores = machine().cpu.logical_cores or 1
    busy = in_use(Watch().snapshot("before"), cores) > BUSY["load"]
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
            widths, budget_s = tuple(range(1, probing.widest + 1)), probing.budget_min * 60
            timed = [*_timed(session, widths, budget_s)]
            report = session.report()
        finally:
            session.close()
    return KeptCurve(
        measured_until=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        device=kept.device_of(computer_of()),
        model=campaign.target.model,
        engine=report.engine,
        settings=report.settings,
        gpu_layers=campaign.settings.gpu_layers,
        context_tokens=timed[-1].context_tokens,
        widths=widths,
        step_ms=tuple(zip(*(each.ms for each in timed), strict=True)),
        busy=busy,
    )


def _timed(session: Stepped, widths: Sequence[int], budget_s: float) -> Iterator[StepTimes]:
    """Yield the passes over the widths; say how long they take after the first."""
    for number, (times, seconds) in enumerate(passes(session, widths, budget_s=budget_s)):
        if not number:
            console.say(f"This takes about {words.seconds(min(budget_s, seconds * PASSES))}.")
        yield times
