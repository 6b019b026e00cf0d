"""Measure speculative decoding on this machine and write one submission file."""

from pathlib import Path

__version__ = "0.2.0"

_PARENT = Path(__file__).parents[1]
# A wheel contains our packages inside the package `draftmap`; a checkout has them side by side.
INSTALLED = (_PARENT / "__init__.py").is_file()
# The command that starts this program: shorter if it is installed from a wheel.
IN_A_CHECKOUT = "python -m harness"
PROGRAM = "draftmap" if INSTALLED else IN_A_CHECKOUT
# What `pip install` gets: in a checkout the folder, since no index has the package.
_PACKAGE = "draftmap" if INSTALLED else "."


def install(extra: str) -> str:
    """Return the pip command that installs an optional extra, such as an engine."""
    return f"pip install '{_PACKAGE}[{extra}]'"
