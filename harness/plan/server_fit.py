"""Answer a planning question, if possible with the sizes that a llama-server would allocate.

With `-fit on`, a server computes the sizes before it loads a model, and is stopped then. No weights
are needed: a sparse file with only the header is enough.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import TypeAlias

from msgspec.structs import replace

from answers.answer import Answer, Question, answer
from answers.answer_details import with_details
from answers.engine_commands import default_method, drafting, load_words
from answers.memory import Placed
from answers.model import Buffers, LayerPlacement
from answers.placement import largest_context, merge_placements, placed
from harness.machine.engines import server_environment
from harness.models.gguf_file import opened, part_paths, sparse_copy

_TIMEOUT_S = 60
_REASON_LENGTH = 160
# A row of llama-server's table: MiB of weights, of caches and states, and of compute buffers.
_PLACE = re.compile(
    r"memory_breakdown_print: \|\s+- (\S+).{0,200}?=\s+(\d+) \+\s+(\d+) \+\s+(\d+)\s*[|)]"
)
_HOST = "Host"
_ENDED_EARLY = ("-lv", "5", "--no-warmup", "--host", "127.0.0.1", "--port", "0")
_FITTED = "fitting params to free memory took"
_STAMP = re.compile(r"^[\d.]+ [EW] ")
# MiB of weights, of caches and states, and of compute buffers that a server would allocate for one
# model, as whole numbers, by device in the server's order.
Allocated: TypeAlias = Mapping[str, tuple[int, int, int]]


def _replace(planned: Placed, sizes: Allocated) -> None:
    """Overwrite the planned buffer sizes of the same model with the server's sizes."""
    devices, host = planned
    on_devices = (each for name, each in sizes.items() if name != _HOST)
    for buffers, each in zip(devices, on_devices, strict=False):
        _take(buffers, *each)
    if _HOST in sizes:
        _take(host, *sizes[_HOST])


def _take(buffers: Buffers, weights: int, context: int, compute: int) -> None:
    """Use the server's sizes, in whole MiB, unless they are the planned sizes rounded down."""
    if int(buffers.model) != weights:
        buffers.model = float(weights)
    if int(buffers.compute) != compute:
        buffers.compute = float(compute)
    state = buffers.recurrent + buffers.output
    if int(buffers.kv + state) != context:
        buffers.kv = max(0.0, context - state)


def plan(question: Question, server: Path | None = None) -> Answer:
    """Answer a question about a model, using the sizes that a local llama-server would allocate."""
    found = answer(question)
    sizes = _allocated(found, server)
    if isinstance(sizes, str):
        note = (
            f"the engine could not simulate the allocation ({sizes}), so these sizes are "
            "computed from formulas"
        )
        question = replace(question, notes=(*question.notes, note))
        return with_details(replace(found, question=question))
    return with_details(_exact(found, sizes) if sizes else found)


def _exact(found: Answer, sizes: tuple[Allocated, ...]) -> Answer:
    case, placement = found.asked.case, found.asked.found.placement
    models = placed(case, placement)
    for planned, each in zip(models, sizes, strict=True):
        _replace(planned, each)
    exact = merge_placements(case, placement, models, exact=True)
    return replace(
        found,
        asked=replace(found.asked, found=exact),
        context_max=largest_context(case, placement),
        exact=True,
    )


def _allocated(found: Answer, server: Path | None) -> tuple[Allocated, ...] | str | None:
    """Return the sizes that the server would allocate, or the reason why it reports none.

    Returns `None` without a server, or if a model's header is not on this disk.
    """
    asked = found.asked
    sources = [asked.target, *([asked.draft] if asked.draft else [])]
    paths = [source.path for source in sources if source.path is not None]
    if server is None or len(paths) < len(sources):
        return None
    case = asked.case
    words = load_words(case.setting, asked.found.placement, fit="on")
    if case.uses_head and asked.way:
        words += drafting(default_method(asked.way.method, asked.depth)) or ()
    alone = LayerPlacement(layers=case.draft_layers)
    draft_words = load_words(case.draft_setting, alone, fit="on")
    return allocated_sizes(server, list(zip(paths, (words, draft_words), strict=False)))


def allocated_sizes(
    program: Path, loads: Sequence[tuple[Path, Sequence[str]]]
) -> tuple[Allocated, ...] | str:
    """Return the sizes that a server reports for each model, or the reason why it reports none."""
    found = []
    with TemporaryDirectory(prefix="draftmap-plan-") as folder:
        for number, (model, words) in enumerate(loads):
            path = _header_only(model, Path(folder) / str(number))
            log = _log_until_fitted(program, ["-m", str(path), *words, *_ENDED_EARLY])
            sizes = parsed(log)
            if not sizes:
                return _refusal(log)
            found.append(sizes)
    return tuple(found)


def _header_only(path: Path, folder: Path) -> Path:
    """Make sparse copies of a model's files, with only their headers; return the path to load.

    If a server goes on to load them, it reads no weights.
    """
    folder.mkdir()
    for part in part_paths(path):
        header = opened(part)
        sparse_copy(header.data[: header.end], part.stat().st_size, folder / part.name)
    return folder / path.name


def _log_until_fitted(program: Path, arguments: Sequence[str]) -> str:
    """Start a server and return its log up to the sizes; stop it before it loads the model."""
    process = subprocess.Popen(  # noqa: S603 - the program that the user named or installed
        [str(program), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=server_environment(program),
    )
    limit = Timer(_TIMEOUT_S, process.kill)
    limit.start()
    lines = []
    with process:
        for line in process.stdout or ():
            if _FITTED in line:
                break
            lines.append(line)
        limit.cancel()
        process.kill()
    return "".join(lines)


def _refusal(log: str) -> str:
    """Return the log line in which a server reports why it cannot simulate loading."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line.lower() or "invalid" in line.lower()]
    reason = _STAMP.sub("", (wrong or lines or ["it logged nothing"])[0])
    return reason.rpartition(": error ")[2][:_REASON_LENGTH]


def parsed(log: str) -> Allocated:
    """Parse the table in the engine's log for one model; empty if there is none."""
    return {name: (int(a), int(b), int(c)) for name, a, b, c in _PLACE.findall(log)}
