"""A fake llama-server that waits for scripted times and reports them.

`write(path, build=…, token_ms=…)` makes the program. The speed of each server start and of each
answer varies a little. `write_ik(path)` makes a program that parses arguments and answers like
ik_llama.cpp 8337e4cd, according to its source.
"""

import json
import os
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

HELP = """\
--version                               print the version
-m, --model FNAME                       model path
--port PORT                             port to listen on
--spec-type none,ngram-simple           types of speculation
--spec-ngram-simple-size-n N            size of the n-gram
--spec-ngram-simple-size-m N            size of the draft
"""


def write(
    path: Path,
    *,
    build: int,
    token_ms: float = 1.0,
    prompt_ms: float = 1.0,
    crashes_with: str = "-",
    devices: str | None = None,
) -> Path:
    """Write a program of this build; it ends at once if an argument is `crashes_with`.

    With `devices`, it has the option that prints them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    said = f"{build} {token_ms} {prompt_ms} {crashes_with}"
    command = f'"{sys.executable}" -I -S "{Path(__file__)}" {said}'
    lists = f"""case "$1" in
    --help) echo "--list-devices    print the devices" ;;
    --list-devices) echo "{devices}"; exit 0 ;;
    esac
    """
    lists = "" if devices is None else lists
    path.write_text(f'#!/bin/sh\n{lists}exec {command} "$@"\n', "utf-8")
    path.chmod(0o755)
    return path


IK_HELP = Path(__file__).parents[3] / "captures/llama-server/help-ik_llama.cpp-8337e4cd.txt"
IK_TYPES = (
    "none", "draft", "dflash", "dspark", "mtp", "eagle3", "ngram_simple", "ngram_map_k",
    "ngram_map_k4v", "ngram_mod", "ngram_cache", "suffix",
)  # fmt: skip
IK_KEYS = (
    "n_max", "n_min", "p_min", "heads", "cross_ctx", "ngram_size_n", "ngram_size_m",
    "ngram_min_hits", "suffix_min_match_len", "suffix_max_depth", "suffix_corpus",
)  # fmt: skip
# Rounds of a speculative answer that tried and accepted the tokens at depths 1, 2 and 3: two of
# three drafts had three tokens, the last one had one.
IK_DEPTHS = ((3, 2), (2, 1), (2, 1))


def write_ik(path: Path, *, depths: tuple[tuple[int, int], ...] = IK_DEPTHS) -> Path:
    """Write a program that answers like ik_llama.cpp, with these counts by depth."""
    script = f'"{sys.executable}" -I -S "{Path(__file__)}" ik \'{json.dumps(depths)}\' 1 -'
    path.write_text(f'#!/bin/sh\nexec {script} "$@"\n', "utf-8")
    path.chmod(0o755)
    return path


class _ScriptedHandler(BaseHTTPRequestHandler):
    """Eight tokens for every prompt; with speculation two of three rounds yield two tokens."""

    alias = ""
    token_ms = 1.0
    prompt_ms = 1.0
    speculates = False
    noise = random.Random()  # noqa: S311 - noise, not a secret

    def do_GET(self) -> None:
        self._send({"status": "ok", "data": [{"id": self.alias}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/apply-template":
            self._send({"prompt": body["messages"][0]["content"]})
        elif self.path == "/tokenize":
            self._send({"tokens": [len(word) for word in body["content"].split()] or [1]})
        else:
            self._send(self._completion(body))

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        count = min(9, body["n_predict"])
        token_ms = self.token_ms * self.noise.gauss(1, 0.002)
        timings: dict[str, Any] = {
            "prompt_n": len(body["prompt"]),
            "prompt_ms": self.prompt_ms,
            "predicted_n": count,
            "predicted_ms": (count - 1) * token_ms,
        }
        time.sleep((timings["prompt_ms"] + timings["predicted_ms"]) / 1000)
        if self.speculates:
            timings |= {"draft_n": 6, "draft_n_accepted": 3}
        return {
            "tokens": list(range(count)),
            "tokens_evaluated": len(body["prompt"]),
            "stop_type": "limit",
            "timings": timings,
        }

    def _send(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _IkHandler(_ScriptedHandler):
    """Answers with text in place of tokens, and counts for the depths that a draft reached."""

    depths: tuple[tuple[int, int], ...] = ()

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = super()._completion(body)
        del answer["tokens"], answer["stop_type"]
        for name in ("draft_n", "draft_n_accepted"):
            answer["timings"].pop(name, None)
        if self.speculates:
            answer["timings"] |= {
                "draft_n": sum(tried for tried, _ in self.depths),
                "draft_n_accepted": sum(accepted for _, accepted in self.depths),
                "draft_by_depth": [
                    {"depth": depth, "draft_n": tried, "draft_n_accepted": accepted}
                    for depth, (tried, accepted) in enumerate(self.depths, start=1)
                    if tried
                ],
            }
        return {**answer, "content": "one two three", "stopped_limit": True}


def read_ik(given: list[str]) -> bool:
    """Check whether the arguments switch speculation on; exit on errors as the fork does."""
    stages = [value for flag, value in pairwise(given) if flag == "--spec-type"]
    for flag in given:
        if flag.startswith(("--draft-", "--spec-ngram", "--spec-draft", "--suffix", "-mtp")):
            sys.exit(f"legacy speculative option '{flag}' is disabled")
    for kind, _, values in (stage.partition(":") for stage in stages):
        if kind.replace("-", "_") not in IK_TYPES:
            sys.exit(f"unknown speculative stage type: {kind}")
        for key in (each.partition("=")[0] for each in values.split(",") if values):
            if key not in IK_KEYS:
                sys.exit(f"unknown speculative stage parameter: {key}")
    if "--fit" in given and given[given.index("--fit") + 1][:1] != "-":
        sys.exit("error: unknown argument: off")
    return stages not in ([], ["none"])


def main() -> None:
    """Serve with the options of the command line until the process is stopped."""
    build, token_ms, prompt_ms, crashes_with, *given = sys.argv[1:]
    if "--port" not in given:
        text = IK_HELP.read_text("utf-8") if build == "ik" else HELP
        build = "4321" if build == "ik" else build
        says = {"--help": text, "--version": f"version: {build} (0123abc)\n"}
        sys.stdout.write(says.get(given[0], ""))
        return
    if crashes_with in given:
        sys.exit("cannot do that")
    if build == "ik":
        _IkHandler.depths, token_ms = json.loads(token_ms), "1.0"
    _ScriptedHandler.noise.seed(os.getpid())
    _ScriptedHandler.alias = given[given.index("-a") + 1]
    _ScriptedHandler.speculates = read_ik(given) if build == "ik" else "ngram-simple" in given
    _ScriptedHandler.prompt_ms = float(prompt_ms)
    _ScriptedHandler.token_ms = float(token_ms) * _ScriptedHandler.noise.gauss(1, 0.002)
    _ScriptedHandler.token_ms *= 0.7 if _ScriptedHandler.speculates else 1.0
    handler = _IkHandler if build == "ik" else _ScriptedHandler
    ThreadingHTTPServer(
        ("127.0.0.1", int(given[given.index("--port") + 1])), handler
    ).serve_forever()


if __name__ == "__main__":
    main()
