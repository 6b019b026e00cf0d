"""Measure a build's cost per file, and how the cost grows: `make bench-scale`.

Synthetic corpora of several sizes are each built in a separate process, cold and then warm with one
new file. Each stage is timed in processor seconds, including child processes. The exponent is the
slope of log cost over log size, and the last column extrapolates to 10,000 files. The exit code is
1 if a limit is exceeded.
"""

import argparse
import importlib
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from statistics import linear_regression
from typing import TypeAlias, TypeVar

from bench.synthetic import write_corpus

T = TypeVar("T")

COMMAND = "python -m bench.scale"
SEED, FAR = 2, 10_000
MOST_CPU_MS, MOST_EXPONENT, MOST_SITE_KB, MOST_FILE_MB = 200.0, 1.05, 60.0, 25.0
# Seconds of CPU time with one new file: up to 300 files, and above.
MOST_WARM_S, MOST_WARM_FAR_S = 15.0, 20.0
MOST_MEMORY_MB, MOST_SITE_MB = 3000.0, 1000.0  # GitHub Pages publishes no more than 1 GB
FULL_SITE = 300  # above this many files, submissions have short pages
Builds: TypeAlias = "dict[str, dict[str, float]]"  # seconds by kind of build and stage
KINDS = ("cold", "warm")
# The functions of each stage. A nested stage's time counts for the inner stage only.
STAGES = {
    "single files": ("pipeline.data.database:entries_of",),
    "corpus flags": ("pipeline.data.database:flags_within",),
    "load": ("pipeline.data.database:load",),
    "tables": ("pipeline.data.database:aggregate",),
    "exports": ("pipeline.site.build:export",),
    "submissions": ("pipeline.site.pages.submissions:submission_pages",),
    "answers": ("pipeline.site.pages.answer_pages:answers",),
    "other pages": ("pipeline.site.build:pages",),
    "raw files": ("pipeline.site.build:raw_files",),
    "MkDocs": ("pipeline.site.build:_run_mkdocs",),
    "finished pages": tuple(
        f"pipeline.site.build:{name}" for name in ("insert_parts", "shorten_index", "write_policy")
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Build corpora of all sizes and print their cost."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--folder", type=Path, default=None, help="folder for corpora and sites")
    parser.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.once:
        return _once(*chosen.once)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        found = [_measured(folder, files) for files in chosen.files]
        sys.stdout.write(table(found))
        excess = list(_excess(found))
    sys.stdout.writelines(f"{line}\n" for line in excess)
    return 1 if excess else 0


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float | None:
    """Least-squares slope of log cost over log size; `None` if a cost is zero."""
    if len(sizes) < 2 or min(costs) <= 0:
        return None
    return linear_regression([*map(math.log, sizes)], [*map(math.log, costs)]).slope


def table(found: Sequence[Builds]) -> str:
    """Format one line per stage and build: milliseconds per file, exponent, extrapolation."""
    lines = []
    for kind in KINDS:
        sizes = [each[kind]["files"] for each in found]
        header = "".join(f"{size:>9.0f}" for size in sizes)
        lines.append(f"{kind + ', ms of CPU per file':28}{header}   exponent {FAR:>8} files, s")
        for name in dict.fromkeys(name for each in found for name in each[kind]):
            costs = [each[kind].get(name, 0.0) for each in found]
            if name != "files" and max(costs) > 0:
                lines.append(_line(name, sizes, costs))
    return "\n".join(lines) + "\n"


def _line(name: str, sizes: Sequence[float], costs: Sequence[float]) -> str:
    slope = exponent(sizes, costs)
    if "MB" in name:
        shown = "".join(f"{cost:9.1f}" for cost in costs)
        return f"{name:28}{shown}   " + ("" if slope is None else f"{slope:8.2f}")
    shown = "".join(f"{cost / size * 1000:9.2f}" for size, cost in zip(sizes, costs, strict=True))
    far = "" if slope is None else f"{costs[-1] * (FAR / sizes[-1]) ** slope:17.1f}"
    return f"{name:28}{shown}   " + ("" if slope is None else f"{slope:8.2f}") + far


def _excess(found: Sequence[Builds]) -> Iterator[str]:
    last, warm = found[-1]["cold"], found[-1]["warm"]
    own = last["all"] / last["files"] * 1000
    if own > MOST_CPU_MS:
        yield f"a file costs {own:.0f} ms of CPU, more than {MOST_CPU_MS:g}"
    most_s = MOST_WARM_S if last["files"] <= FULL_SITE else MOST_WARM_FAR_S
    if warm["all"] > most_s:
        yield f"one new file costs {warm['all']:.0f} s of CPU, more than {most_s:g}"
    if last["memory MB"] > MOST_MEMORY_MB:
        yield f"{last['memory MB']:.0f} MB of memory, more than {MOST_MEMORY_MB:g}"
    yield from _too_heavy(last, [each["cold"] for each in found[:-1]])
    if last["largest file MB"] > MOST_FILE_MB:
        yield f"a file of the site has {last['largest file MB']:.0f} MB, more than {MOST_FILE_MB:g}"
    slope = exponent([e["cold"]["files"] for e in found], [e["cold"]["all"] for e in found])
    if slope is not None and slope > MOST_EXPONENT:
        yield f"the exponent is {slope:.2f}, more than {MOST_EXPONENT:g}"


def _measured(folder: Path, files: int) -> Builds:
    """Measure a cold build without the newest file, then a warm build with it."""
    results = folder / f"corpus-{files}"
    newest = _corpus(results, files)
    held = results / newest.name
    newest.rename(held)
    shutil.rmtree(folder / f"cache-{files}", ignore_errors=True)
    cold = _apart(folder, files, results)
    held.rename(newest)
    return {"cold": cold, "warm": _apart(folder, files, results)}


def _corpus(results: Path, files: int) -> Path:
    community = results / "community"
    if not community.is_dir():
        write_corpus(results, rigs=files, seed=SEED, most=files)
    return max(community.iterdir())


def _too_heavy(last: dict[str, float], others: Sequence[dict[str, float]]) -> Iterator[str]:
    """Yield a message for each limit that the site exceeds: its size, and its growth per file."""
    for first in (each for each in others if each["files"] >= FULL_SITE):
        added = (last["site MB"] - first["site MB"]) * 1000 / (last["files"] - first["files"])
        if added > MOST_SITE_KB:
            yield f"one more file takes {added:.0f} KB, more than {MOST_SITE_KB:g}"
    if last["site MB"] > MOST_SITE_MB:
        yield f"the site has {last['site MB']:.0f} MB, more than {MOST_SITE_MB:g}"


def _apart(folder: Path, files: int, results: Path) -> dict[str, float]:
    """Run one build in a separate process, so that the build's memory can be measured."""
    words = (str(results), str(folder / f"site-{files}"), str(folder / f"cache-{files}"))
    command = (sys.executable, "-m", "bench.scale", "--once", *words)
    known = os.environ | {"DRAFTMAP_REPOSITORY": "https://github.com/draftmap/draftmap"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=known)
    line = done.stdout.splitlines()[-1]
    sys.stderr.write(f"{line}\n")  # keeps the figures if the bench is killed
    found: dict[str, float] = json.loads(line)
    return found


def _once(results: str, output: str, cache: str) -> int:
    """Build one site, time the stages, and print their seconds as JSON."""
    spent: dict[str, float] = {}
    began = _cpu()
    build = importlib.import_module("pipeline.site.build")
    for stage, functions in STAGES.items():
        for function in functions:
            _clock(spent, stage, *function.split(":"))
    site: Path = build.build(results=Path(results), output=Path(output), cache=Path(cache))
    files = [each for each in site.rglob("*") if each.is_file()]
    sizes = [each.stat().st_size for each in files]
    figures = {
        "files": float(len(list((Path(results) / "community").glob("*.json")))),
        **spent,
        "all": _cpu() - began,
        "memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "site MB": sum(sizes) / 1e6,
        "largest file MB": max(sizes) / 1e6,
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


def _clock(spent: dict[str, float], stage: str, module: str, name: str) -> None:
    owner = importlib.import_module(module)
    function: Callable[..., object] = getattr(owner, name)

    def clocked(step: Callable[[], T]) -> T:
        before, inner = _cpu(), sum(spent.values())
        try:
            return step()
        finally:
            own = _cpu() - before - (sum(spent.values()) - inner)
            spent[stage] = spent.get(stage, 0.0) + own

    def parts(made: Iterator[object]) -> Iterator[object]:
        """Yield parts lazily: a list of the parts would count towards the build's memory."""
        end = object()
        while (part := clocked(lambda: next(made, end))) is not end:
            yield part

    @wraps(function)
    def timed(*given: object, **options: object) -> object:
        result = clocked(lambda: function(*given, **options))
        return parts(result) if isinstance(result, Iterator) else result

    setattr(owner, name, timed)


def _cpu() -> float:
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
