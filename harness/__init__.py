"""Measure speculative decoding on this machine and write one submission file."""

from pathlib import Path

__version__ = "0.2.0"

_PARENT = Path(__file__).parents[1]
# In a wheel the rooms are inside the package `draftmap`, in a checkout side by side.
INSTALLED = (_PARENT / "__init__.py").is_file()
# How a person starts this program, here.
IN_A_CHECKOUT = "python -m harness"
PROGRAM = "draftmap" if INSTALLED else IN_A_CHECKOUT
# What pip calls this program, here: no index has it, and in a checkout it is the folder.
_PACKAGE = "draftmap" if INSTALLED else "."


def install(extra: str) -> str:
    """The command that installs an engine or another part."""
    return f"pip install '{_PACKAGE}[{extra}]'"
