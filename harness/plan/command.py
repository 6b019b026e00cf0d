"""`draftmap plan`: which models fit, a draft's memory use, and its expected gain."""

from dataclasses import replace
from typing import cast

from harness import console
from harness.command_options import offers_fields
from harness.machine.engines import server_program
from harness.plan import options
from harness.plan.inputs import question_of
from harness.plan.report import loadable, show
from planner.answer import answer
from planner.answer_json import as_json
from schemas.codec import Json


@console.reports_errors
@offers_fields
def plan(
    models: options.ModelOptions,
    load: options.LoadOptions,
    computer: options.ComputerOptions,
    speed: options.SpeedOptions,
    output: options.OutputOptions,
) -> None:
    """Recommends a setting, based on results from similar machines if there are any.

    Reads only the models' headers.

    - `python -m harness plan qwen3-8b`

    - `python -m harness plan big.gguf small.gguf --gpu "RTX 4060 8 GB" --ram 32GB`

    - `python -m harness plan qwen3.8-27b:Q4_K_M mtp --context 32k`

    - `python -m harness plan qwen3-8b --write models.ini`
    """
    models = replace(models, usual_engine=output.engine(models.engine))
    question = question_of(models, load=load, computer=computer, speed=speed, say=console.say)
    found = answer(question)
    server = None if question.computer.described else server_program()
    if output.json:
        console.print_json(cast("dict[str, Json]", as_json(found)))
    else:
        show(found, console.result_console(), server, details=output.details)
    if output.write is not None:
        console.say(output.save(loadable(found), server))
