"""`draftmap run`: measure, write the result file, print the verdict."""

from harness import console
from harness.campaign.options import Options
from harness.command_options import offers_fields
from harness.run import run_command, run_reports
from harness.run.chosen_engine import EngineOptions
from harness.run.request import ResultOptions, RunRequest


@console.reports_errors
@offers_fields
def run(options: Options, engine: EngineOptions, result: ResultOptions) -> None:
    """Measures a model with and without its drafts. Default: a small built-in model.

    - `python -m harness run --quick`

    - `python -m harness qwen3-8b`

    - `python -m harness big.gguf small.gguf --method draft-model:n_max=3`
    """
    request = RunRequest(options=options, engines=(engine.engine(options),), result=result)

    if result.dry_run:
        run_reports.print_plan(request)
    else:
        run_command.measure(request)
