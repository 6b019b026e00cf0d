"""Measure speculative decoding on this machine and write one submission file."""

from pathlib import Path

__version__ = "0.2.0"

_PARENT = Path(__file__).parents[1]
# In a wheel our packages are inside the package `draftmap`, in a checkout side by side.
INSTALLED = (_PARENT / "__init__.py").is_file()
# The command that starts this program here.
IN_A_CHECKOUT = "python -m harness"
PROGRAM = "draftmap" if INSTALLED else IN_A_CHECKOUT
# The name for pip here: in a checkout the folder, since no index has the package.
_PACKAGE = "draftmap" if INSTALLED else "."


def install(extra: str) -> str:
    """The command that installs an engine or another part."""
    return f"pip install '{_PACKAGE}[{extra}]'"
