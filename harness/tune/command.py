"""`draftmap tune`: find the fastest method and depth, certify it, print the engine's command."""

from dataclasses import replace
from typing import Annotated

from harness import console
from harness.campaign.options import Options
from harness.command_options import Without, offers_fields
from harness.report.settings_file import SettingsFileOptions
from harness.run.chosen_engine import EngineOptions
from harness.run.request import ResultOptions
from harness.tune.options import SearchOptions
from harness.tune.tune_request import TuneRequest

# Options that a tune sets itself, or does not vary.
_DECIDED = Without(
    frozenset(
        {
            "blocks", "budget_min", "control", "quick",
            "baseline_gpu_layers", "concurrency", "context_depth_tokens",
        }
    )
)  # fmt: skip


HELP = """A tune has two steps; the last step writes a normal result file.

1. Look: one run at the largest depth, and the costs of single steps. These give a forecast of the
speedup at every smaller depth.

2. Certify: the settings with the best forecasts and no speculation run on prompts that the look did
not use. The intervals are corrected for the choice among the settings.

The command prints the report of this result, as `run` does, with the engine's command line or
"leave speculation off".

- `python -m harness tune`

- `python -m harness tune --target big.gguf --draft small.gguf --budget 30 --write models.ini`

- `python -m harness tune --runner llama-server --target big.gguf --method mtp --method
ngram-simple`

- `python -m harness tune --runner openai --method draft-model --draft NAME --server-command
"SERVER --port {port}" --spec-server-command "SERVER --port {port} --draft-tokens {depth}"`

In the last command, `{depth}` is replaced by each depth (for vLLM, put it in the
--speculative-config). With --base-url and --spec-base-url the running servers are compared as they
are.

Without --method, a draft is also tried together with n-grams, if the engine can do so. The depth in
a --method is ignored; its other sizes apply to all depths. Ctrl-C or a kill loses no
measurements: repeat the command with --resume.
"""


@console.reports_errors
@offers_fields
def tune(
    options: Annotated[Options, _DECIDED],
    search: SearchOptions,
    engine: EngineOptions,
    result: ResultOptions,
    settings: SettingsFileOptions,
) -> None:
    engines = (replace(engine, command="tune").engine(options),)
    request = TuneRequest(
        options=options, search=search, engines=engines, result=result, settings=settings
    )
    if result.dry_run:
        request.print_plan()
    else:
        request.measure()
