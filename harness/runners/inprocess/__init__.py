"""The in-process runner: llama.cpp through the low-level interface of llama-cpp-python."""

from harness.runners.base import Runner
from harness.runners.inprocess.isolated import Isolated, LlamaCppPython
from harness.runners.options import ConnectionOptions


def build(options: ConnectionOptions) -> Runner:
    """The engine in a child process, which a crash of it does not take along."""
    return Isolated(LlamaCppPython(), answer_limit_s=options.answer_limit_s)
