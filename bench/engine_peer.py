"""The peer of the in-process engine: a stock llama.cpp server from a Python wheel."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self
from urllib.request import Request, urlopen

from harness.campaign.model import RunSettings

REQUIREMENT = f"xllamacpp=={version('xllamacpp')}"
_SERVER = "harness.runners.llama_server.wheel_server"
_FIRST_WORDS = "listening on "
_ANSWER_LIMIT_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerAnswer:
    """The server's report on one completion; `tps` counts the tokens after the first."""

    tokens: tuple[int, ...]
    tps: float


class Peer:
    """One server, with or without a draft model; use it in a `with` block."""

    def __init__(self, model: Path, settings: RunSettings, draft: Sequence[str] = ()) -> None:
        """Start the server. `draft` contains the arguments of `llama-server` for a draft model."""
        shared = {"-t": settings.threads, "-tb": settings.threads, "-c": settings.context_tokens}
        shared |= {"-b": settings.batch_tokens, "-ub": settings.batch_tokens}
        shared |= {"--port": 0, "-np": 1, "-ngl": 0, "--cache-ram": 0}
        shared |= {"--host": "127.0.0.1", "-a": "peer"}
        words = [str(word) for pair in shared.items() for word in pair]
        self._process = subprocess.Popen(
            [sys.executable, "-m", _SERVER, "-m", model, *words, *draft],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._address = self._first_line().removeprefix(_FIRST_WORDS).strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()

    def complete(self, prompt: Sequence[int], tokens: int) -> PeerAnswer:
        """Complete a prompt greedily, without the prompt cache."""
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
        return PeerAnswer(
            tokens=tuple(answer["tokens"]),
            tps=(timings["predicted_n"] - 1) / timings["predicted_ms"] * 1000,
        )

    def _first_line(self) -> str:
        for line in self._process.stdout or ():
            if line.startswith(_FIRST_WORDS):
                return line
        raise RuntimeError(f"the peer's server ended with code {self._process.wait()}")
