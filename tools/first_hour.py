"""Run the README's install commands for this system, then measure: `python -m tools.first_hour`.

The commands run in one shell, the one that the README names for the system, so that the environment
stays active. Ends with the exit code of the first command that fails.
"""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
MEASURE = ("draftmap probe", "draftmap run --quick --prompts 2")
# The words before a system's block in the README.
_SYSTEMS = {"linux": "**Linux**", "darwin": "**macOS**", "win32": "**Windows**"}
_BLOCK = re.compile(r"```(?:sh|powershell)\n(.*?)```", re.DOTALL)
_STOP = "if ($LASTEXITCODE) { exit $LASTEXITCODE }"


def commands(system: str, readme: str) -> list[str]:
    """Return the commands of the README's block for a system, one of `sys.platform`."""
    _, found, after = readme.partition(_SYSTEMS[system])
    block = _BLOCK.search(after)
    if not found or block is None:
        raise SystemExit(f"README.md has no block of commands after {_SYSTEMS[system]!r}")
    return block[1].splitlines()


def main() -> int:
    """Run the commands of this system, and return the exit code."""
    lines = [*commands(sys.platform, README.read_text("utf-8")), *MEASURE]
    if sys.platform == "win32":
        checked = [part for line in lines for part in (line, _STOP)]
        shell = ["pwsh", "-NoProfile", "-Command", "\n".join(checked)]
    else:
        shell = ["bash", "-e", "-x", "-c", "\n".join(lines)]
    return subprocess.run(shell, cwd=README.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
