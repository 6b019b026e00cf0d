"""The peer of the in-process engine: a stock llama.cpp server in its own environment.

The wheel `xllamacpp` embeds llama.cpp's server. It is no dependency of the project: the bench
installs it into `build/bench-engine/venv` with pip, once.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUIREMENT = "xllamacpp==2026.10.11549"
ENVIRONMENT = Path("build/bench-engine/venv")
_SERVER = Path(__file__).with_name("engine_server.py")
_ANSWER_LIMIT_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server says of one completion; `tps` is over the tokens after the first."""

    tokens: tuple[int, ...]
    tps: float


def environment() -> Path:
    """The Python of the peer's environment, which is made if it is not there."""
    python = ENVIRONMENT / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
    return python.absolute()


class Peer:
    """One server; use it in a `with` block."""

    def __init__(self, **settings: object) -> None:
        """Start it. `settings` are those of `engine_server.py`."""
        self._process = subprocess.Popen(
            [environment(), _SERVER, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._address, self.system_info = json.loads(self._first_line())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("")

    def complete(self, prompt: Sequence[int], tokens: int) -> Answer:
        """A greedy completion of a prompt that is processed again."""
        body = {
            "prompt": list(prompt),
            "n_predict": tokens,
            "temperature": 0,
            "top_k": 1,
            "samplers": ["top_k"],
            "cache_prompt": False,
            "return_tokens": True,
        }
        request = Request(  # noqa: S310 - the address of our own server
            f"{self._address}/completion",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=_ANSWER_LIMIT_S) as response:  # noqa: S310 - as above
            answer = json.load(response)
        timings = answer["timings"]
        return Answer(
            tokens=tuple(answer["tokens"]),
            tps=(timings["predicted_n"] - 1) / timings["predicted_ms"] * 1000,
        )

    def _first_line(self) -> str:
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        while line and not line.startswith("["):
            line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            message = f"the peer's server ended with code {self._process.wait()}"
            raise RuntimeError(message)
        return line
