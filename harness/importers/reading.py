"""How are the given files read as one format? With a word about the right one if it is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.errors import BadInputError
from harness.importers import IMPORTERS
from harness.importers.entries import Entry, lines, unread
from harness.importers.model import Given, Reading, text

_MOST_NAMES, _LONGEST_NAME = 24, 40
_OWN = frozenset({"format", "version", "trials", "arms"})
_REPETITIONS = "which lacks the repetitions: run it with -o json"
_SERVE = "run vllm bench serve with --save-result --save-detailed"
# Begins a line of the file.
_STARTS = {
    "build_commit,": f"llama-bench's CSV, {_REPETITIONS}",
    "CREATE TABLE IF NOT EXISTS": f"llama-bench's SQL, {_REPETITIONS}",
    "| model": f"llama-bench's table, {_REPETITIONS}",
    "data: {": "a stream of chunks: ask for answers without streaming",
    "| task ": "llama-spec-bench",
    "|    PP |": "a sweep or batch bench, which measures without speculation only",
    "============ Serving Benchmark": f"a printed summary without the requests: {_SERVE}",
    "Generation: ": "the output of mlx_lm, which does not say what was drafted",
}
# Stands anywhere in it.
_SIGNS = {
    "SpecDecoding metrics:": f"a log of vLLM, which sums over all requests: {_SERVE}",
    "CtxLimit:": "a log of KoboldCpp, which does not say what was drafted",
    "Metrics (ID": "a log of TabbyAPI, which does not say what was drafted",
}
# Keys of an object that no format has.
_KEYS = {
    "eval_duration": "an answer of Ollama, which does not say what was drafted",
    "stats": "an answer of LM Studio: paste it into the page 'Why is it slower?' instead",
    "latencies": f"a result of vllm bench latency, whose times hold the prompt: {_SERVE}",
    "elapsed_time": f"a result of vllm bench throughput without the requests: {_SERVE}",
    "speed_tg": "a sweep or batch bench, which measures without speculation only",
}
_LOG_OF_LLAMA_SERVER = "prompt eval time ="


def looks_like(file: Given) -> str | None:
    """The name of a format, a description of what cannot be read, or `None`."""
    try:
        start = text(file).lstrip()
        if _LOG_OF_LLAMA_SERVER in start:
            return "llama-server"
        found = _of_lines(start)
        if found is not None:
            return found
        row = next(iter(lines(file)), None)
    except BadInputError:
        return None
    return None if row is None else _of_row(row)


def _of_lines(start: str) -> str | None:
    """By how the lines of a text begin; messages of an engine may stand before a table."""
    begins = (meaning for sign, meaning in _STARTS.items() if f"\n{sign}" in f"\n{start}")
    holds = (meaning for sign, meaning in _SIGNS.items() if sign in start)
    return next(begins, None) or next(holds, None)


def _of_row(row: Entry) -> str | None:
    keys = row.value.keys()
    if keys >= _OWN:
        return "a result of this project, which needs no import"
    known = next((meaning for key, meaning in _KEYS.items() if key in keys), None)
    if known is not None:
        return known
    found = (name for name, each in IMPORTERS.items() if any(s <= keys for s in each.signs))
    return next(found, None)


def read(form: str, files: Sequence[Given]) -> Reading:
    """What the files say. Raises `BadInputError`, with the format they seem to have instead."""
    _require_different(files)
    try:
        reading = IMPORTERS[form].read(files)
    except BadInputError as error:
        hint = next((found for file in files if (found := _other(form, file)) is not None), None)
        if hint is None:
            raise
        message = f"{error}. {hint}"
        raise BadInputError(message) from error
    return replace(reading, left_out=(*reading.left_out, *_unread(files)))


def _unread(files: Sequence[Given]) -> Iterator[str]:
    """What the files hold and nothing asked for, a line for each file."""
    for file in files:
        names = [name for name in unread(file) if name]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            shown = ", ".join(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES])
            yield f"{file.name}: fields that no result has: {shown}{more}"


def _other(form: str, file: Given) -> str | None:
    found = looks_like(file)
    if found is None or found == form:
        return None
    if found in IMPORTERS:
        return f"{file.name} looks like a file of {found}: --from {found}"
    return f"{file.name} looks like {found}"


def _require_different(files: Sequence[Given]) -> None:
    """The same bytes twice are a slip: a run compared with itself, or counted as two."""
    seen: dict[bytes, str] = {}
    for file in files:
        if file.data in seen:
            message = f"{file.name}: the same records as {seen[file.data]}; give each run once"
            raise BadInputError(message)
        seen[file.data] = file.name
