"""`draftmap plan`: which models fit, a draft's memory use, and its expected gain."""

from typing import Annotated, cast

import typer

from answers.answer import answer
from answers.answer_details import with_details
from answers.answer_json import as_json
from harness import console
from harness.command_options import offers_fields
from harness.machine.engines import server_program
from harness.plan import options
from harness.plan.inputs import question_of
from harness.plan.report import show
from schemas.codec import Json


@console.reports_errors
@offers_fields
def plan(
    models: options.ModelOptions,
    load: options.LoadOptions,
    computer: options.ComputerOptions,
    speed: options.SpeedOptions,
    *,
    details: Annotated[
        bool, typer.Option("--details", help="Show buffers, all drafting methods, and sources.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Recommends a setting, based on results from similar machines if there are any.

    Reads only the models' headers.

    - `python -m harness plan qwen3-8b`

    - `python -m harness plan big.gguf small.gguf --gpu "RTX 4060 8 GB" --ram 32GB`

    - `python -m harness plan qwen3.8-27b:Q4_K_M mtp --context 32k`
    """
    question = question_of(models, load=load, computer=computer, speed=speed, say=console.say)
    found = with_details(answer(question))
    if json:
        console.print_json(cast("dict[str, Json]", as_json(found)))
    else:
        server = None if question.computer.described else server_program()
        show(found, console.result_console(), server, details=details)
