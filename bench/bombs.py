"""What does a bomb cost the gate in time and memory? `python -m bench.bombs`.

Texts are judged by the contract; the peak is what Python allocated meanwhile. Pull requests go
through the command, and their peak is that of its process.
"""

import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schemas import contract
from schemas.strict import MAX_BYTES

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "bench" / "figures" / "bombs.json"
MIB = 1024 * 1024
MOST_MS, MOST_MIB, MOST_PROCESS_MIB = 1000.0, 64.0, 400.0
_HALF = MAX_BYTES // 2
# Each as large as the gate lets in, but the one that is too large for it.
TEXTS: dict[str, bytes] = {
    "lists in lists": b"[" * MAX_BYTES,
    "objects in objects": b'{"a":' * (MAX_BYTES // 5),
    "closed lists": b"[" * _HALF + b"]" * _HALF,
    "a number of half a million digits": b'{"a":' + b"9" * (MAX_BYTES - 6) + b"}",
    "an exponent of a hundred thousand digits": b'{"a":1e' + b"9" * 100_000 + b"}",
    "many numbers": b"[" + b"1," * (_HALF - 2) + b"1]",
    "many empty objects": b"[" + b"{}," * (MAX_BYTES // 3 - 1) + b"{}]",
    "many keys": b"{" + b",".join(b'"%x":1' % n for n in range(45_000)) + b"}",
    "one key many times": b"{" + b",".join([b'"a":1'] * (MAX_BYTES // 6 - 1)) + b"}",
    "a long string": b'{"a":"' + b"x" * (MAX_BYTES - 8) + b'"}',
    "a long string of escapes": b'{"a":"' + b"\\u0041" * (MAX_BYTES // 6 - 2) + b'"}',
    "a string of backslashes": b'{"a":"' + b"\\" * (MAX_BYTES - 8) + b'"}',
    "an open string": b'{"a":"' + b'\\"' * (_HALF - 8),
    "quotes": b'"' * MAX_BYTES,
    "ten times too large": b" " * (10 * MAX_BYTES),
}
BLOBS = {"one blob of 100 MiB": (1, 100 * MIB), "300 files of 1 MiB": (300, MIB)}


def main() -> int:
    """Write and print the figures; 1 if a bomb is accepted or costs too much."""
    figures = {
        "texts": {name: of_text(text) for name, text in TEXTS.items()},
        "pull_requests": {name: of_blobs(*blobs) for name, blobs in BLOBS.items()},
    }
    OUTPUT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command
    bearable = [_is_bearable(each) for each in figures["texts"].values()]
    bearable += [
        each["peak_mib"] <= MOST_PROCESS_MIB and each["exit_code"] == 1
        for each in figures["pull_requests"].values()
    ]
    return 0 if all(bearable) else 1


def of_text(text: bytes) -> dict[str, Any]:
    """Milliseconds of the processor, then the peak in a second pass: tracing takes time itself."""
    began = time.process_time()
    found = contract.findings(text)
    spent_ms = (time.process_time() - began) * 1000
    tracemalloc.start()
    contract.findings(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rules = sorted({finding.rule for finding in found})
    return {"ms": round(spent_ms, 1), "peak_mib": round(peak / MIB, 1), "rules": rules}


def of_blobs(count: int, size: int) -> dict[str, Any]:
    """The gate's command over a pull request that adds so many files of such a size."""
    with TemporaryDirectory() as folder:
        repository = Path(folder)
        _git(repository, "init", "-q", "-b", "main")
        _git(repository, "commit", "-q", "--allow-empty", "-m", "Base")
        community = repository / "results" / "community"
        community.mkdir(parents=True)
        for number in range(count):
            (community / f"bomb-{number}.json").write_bytes(b"%9d" % number + b" " * (size - 9))
        _git(repository, "add", "-A")
        _git(repository, "commit", "-q", "-m", "Bombs")
        return _of_command(repository)


def _of_command(repository: Path) -> dict[str, Any]:
    revisions = ("--base", "main~1", "--head", "main", "--repository", str(repository))
    outputs = ("--output", str(repository / "out"))
    gate = ("-m", "pipeline", "gate", *revisions, *outputs)
    began = time.perf_counter()
    # A process of its own starts it, so that its peak is not mixed with that of git above.
    code = (
        "import resource, subprocess, sys;"
        "done = subprocess.run([sys.executable, *sys.argv[1:]], capture_output=True);"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, *gate], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    exit_code, peak_kib = map(int, told.split())
    spent_s = round(time.perf_counter() - began, 2)
    return {"s": spent_s, "peak_mib": round(peak_kib / 1024), "exit_code": exit_code}


def _git(repository: Path, *arguments: str) -> None:
    roles = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{role}_{what}": "x" for role in roles for what in ("NAME", "EMAIL")}
    subprocess.run(
        ["git", "-C", str(repository), *arguments],  # noqa: S607 - git of the search path
        check=True,
        capture_output=True,
        env={**os.environ, **who},
    )


def _is_bearable(figures: dict[str, Any]) -> bool:
    return bool(figures["rules"]) and figures["ms"] <= MOST_MS and figures["peak_mib"] <= MOST_MIB


if __name__ == "__main__":
    sys.exit(main())
