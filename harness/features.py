"""Tables of the program's commands and of the engines that it measures, each with its module.

The core finds features through these tables only. A module is imported when its feature is used:
engines, the hub client and numerical libraries take seconds to import, and `--help` needs none of
them.
"""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from harness import INSTALLED


@dataclass(frozen=True, slots=True)
class Feature:
    """A command or an engine.

    A command's module has a function of its name, or a typer application `app`; an engine's module
    has a function `connect`. `summary` is the first line of the help; `page` is the guide in the
    repository.
    """

    module: str
    summary: str = ""
    page: str = "docs/measuring.md"

    def load(self) -> ModuleType:
        return import_module(self.module)


COMMANDS = {
    "run": Feature("harness.run.command", "Measure this machine and write one result file."),
    "tune": Feature(
        "harness.tune.command",
        "Find the fastest method and depth on this machine, and certify them.",
    ),
    "compare": Feature(
        "harness.compare.command",
        "Compare two builds of llama-server, to see whether a change slows down speculation.",
        page="docs/engine-developers.md",
    ),
    "fleet": Feature(
        "harness.fleet.command",
        "Measure a matrix of targets, methods and backends across many machines.",
        page="docs/fleet.md",
    ),
    "acceptance": Feature(
        "harness.acceptance.command",
        "Count the draft tokens that a target would accept, by running only the draft.",
    ),
    "plan": Feature(
        "harness.plan.command",
        "Predict what fits, how much memory a draft costs and what it gains, without a download.",
    ),
    "probe": Feature(
        "harness.probe.command",
        (
            "Measure the cost of a model's wider steps on this machine, in two minutes, without "
            "a draft."
        ),
    ),
    "doctor": Feature(
        "harness.doctor.command",
        "Check Python, engine, devices, memory, power, load and clock; list what to fix.",
    ),
    "validate": Feature(
        "harness.commands.validate",
        "Check result files against the format; print one line per finding.",
    ),
    "fix": Feature(
        "harness.commands.fix",
        "Repair the format of result files without changing a measurement.",
    ),
    "show": Feature(
        "harness.commands.show",
        "Print the report of a result file: verdicts, speedups per arm and task, and reasons.",
    ),
    "verify": Feature(
        "harness.verify.command",
        "Check a result by repeating two of its prompts with the same weights.",
    ),
    "submit": Feature(
        "harness.submit.command",
        "Check a result, copy it to results/community/ and open a pull request with gh.",
    ),
    "explain": Feature(
        "harness.commands.explain",
        "Explain a flag, verdict, reason or code, and what to do about it.",
    ),
    "methods": Feature(
        "harness.commands.methods", "List the methods for `run --method` with their default sizes."
    ),
    "import": Feature(
        "harness.imports.command",
        "Turn another tool's raw records into results of the tier `imported`.",
    ),
    "models": Feature(
        "harness.commands.models",
        "List the models and pairs known by name, check a pair, or fetch models.",
    ),
}
if INSTALLED:  # a wheel has no importers: they write into the results folder of a checkout
    del COMMANDS["import"]

ENGINES = {
    "llama-cpp-python": Feature("harness.runners.inprocess"),
    "llama-server": Feature("harness.runners.llama_server"),
    "openai": Feature("harness.openai", page="docs/engines.md"),
    "mlx": Feature("harness.mlx", page="docs/engines.md"),
}
