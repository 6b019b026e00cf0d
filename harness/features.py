"""Tables of the program's commands and of the engines that it measures.

The core finds features through these tables only. A module is imported when its feature is used:
engines, the hub client and numerical libraries take seconds to import, and `--help` needs none of
them.
"""

from importlib import import_module
from types import ModuleType

from harness import INSTALLED

# The commands, in the order of the help, each with the first line of its help.
COMMANDS = {
    "run": "Measure this machine and write one result file.",
    "tune": "Find the fastest method and depth on this machine, and certify them.",
    "compare": (
        "Compare two builds of llama-server, to see whether a change slows down speculation."
    ),
    "fleet": "Measure a matrix of targets, methods and backends across many machines.",
    "acceptance": "Count the draft tokens that a target would accept, by running only the draft.",
    "plan": (
        "Predict what fits, how much memory a draft costs and what it gains, without a download."
    ),
    "probe": (
        "Measure the cost of a model's wider steps on this machine, in two minutes, without "
        "a draft."
    ),
    "forget": "Delete what was measured on this machine from the record that `plan` uses.",
    "doctor": "Check Python, engine, devices, memory, power, load and clock; list what to fix.",
    "validate": "Check result files against the format; print one line per finding.",
    "show": "Print the report of a result file: verdicts, speedups per arm and task, and reasons.",
    "verify": "Check a result by repeating two of its prompts with the same weights.",
    "submit": "Check a result, push it as a branch and open a pull request with gh.",
    "explain": "Explain a flag, verdict, reason or code, and what to do about it.",
    "methods": "List the methods for `run --method` with their default sizes.",
    "import": "Turn another tool's logs or answers into a result of the tier `imported`.",
    "models": "List the models and pairs known by name, or fetch models.",
}
if INSTALLED:  # a wheel only reads logs: its importers write into the results folder of a checkout
    del COMMANDS["import"]

# Commands whose module is in `harness/commands`.
_IN_COMMANDS = ("validate", "show", "explain", "forget", "methods", "models")
# The guides in the repository, other than docs/measuring.md.
_GUIDES = {"compare": "docs/engine-developers.md", "fleet": "docs/fleet.md"}

# The module of each engine, which has a function `connect`.
ENGINES = {
    "llama-cpp-python": "harness.runners.inprocess",
    "llama-server": "harness.runners.llama_server",
    "openai": "harness.openai",
    "mlx": "harness.mlx",
}

# Modules of features that other commands use with some of their options or files.
_PARTS = {
    "logs": "harness.imports.asked_log",
    "other files": "harness.imports.measured_arms",
    "missed gain": "harness.plan.missed_gain",
}


def part(name: str) -> ModuleType:
    """Import the part of a feature that another command uses."""
    return import_module(_PARTS[name])


def command_module(name: str) -> ModuleType:
    """Import a command's module: it has a function of that name, or a typer application `app`."""
    if name in _IN_COMMANDS:
        return import_module(f"harness.commands.{name}")
    folder = "imports" if name == "import" else name
    return import_module(f"harness.{folder}.command")


def guide(name: str) -> str:
    """Return the path of a command's guide in the repository."""
    return _GUIDES.get(name, "docs/measuring.md")
