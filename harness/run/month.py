"""The run of the month: the same few prompts for everybody, and a line for comparing results."""

from dataclasses import replace

from answers.presets import month, presets
from estimates.identity import identify
from estimates.model import Summary
from harness import __version__, console
from harness.campaign.method_parser import parse
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.campaign.options import Options
from harness.machine.computer import computer_of
from harness.models.overview import facts_about, memory_of, need_of
from harness.report.expected_time import this_machine
from harness.report.setting_results import settings
from schemas.submission import Submission
from schemas.vocabulary import METHODS, say

# With slower steps, even these few prompts take most of an hour.
_SLOWEST_STEP_S, _BYTES_PER_MB = 0.3, 1e6


def of_the_month(options: Options) -> Options:
    """Complete the options for a run of the month; choose a target that fits if none was named."""
    run = month()
    short = replace(
        options,
        tasks=options.tasks or run.tasks,
        prompts=options.prompts or (str(run.prompts),),
        max_output_tokens=options.max_output_tokens or run.max_output_tokens,
        blocks=options.blocks or run.blocks,
    )
    if options.target is not None:
        return short
    computer = computer_of()
    for name in run.targets:
        need = need_of(computer, DEFAULT_CONTEXT_TOKENS, facts_about(presets()[name]))
        # A step reads all weights, so size and read rate give its time.
        step_s = (presets()[name].size_mb or 0) * _BYTES_PER_MB / this_machine(None).bytes_per_s
        slow = not computer.devices and step_s > _SLOWEST_STEP_S
        if need.fits == "yes" and not slow:
            return replace(short, target=name, methods=options.methods or (parse(run.method),))
    memory = memory_of(computer).name
    console.say(
        f"None of {say.listed(run.targets)} fits into {memory} and takes at most "
        f"{_SLOWEST_STEP_S:g} s per token, so a small model is measured instead."
    )
    return short


def line(submission: Submission, summary: Summary) -> str:
    """Return the line to paste: machine, model, method and the speedup on each task."""
    found = settings(submission, summary)
    tasks = [each for each in found[0].tasks if each.speedup] if found else []
    if not tasks:
        return "No speedup could be measured: there is no line to paste."
    named, method = identify(submission), found[0].arm.method
    parts = (
        named.device_label,
        f"{named.target_label} {submission.target.quantisation or ''}".strip(),
        f"{METHODS[method.type].label} {method.n_max or ''}".strip(),
        ", ".join(f"{say.times(task.speedup)} {task.task}" for task in tasks),
        f"draftmap {__version__}",
    )
    return " · ".join(parts)
