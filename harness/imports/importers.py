"""The formats by name; if a file cannot be read, the error names the format it seems to have."""

from collections.abc import Sequence

from harness.errors import BadInputError
from harness.imports import llama_bench, llama_server, vllm
from harness.imports.json_values import rows
from harness.imports.printed import logged
from harness.imports.records import Format, ParsedFiles
from harness.imports.source_files import Given, wrong
from schemas.vocabulary.documents import document

IMPORTERS: dict[str, Format] = {
    "llama-bench": llama_bench.FORMAT,
    "vllm": vllm.FORMAT,
    "llama-server": llama_server.FORMAT,
}
_OWN = {"format", "version", "trials", "arms"}
_SIGNS: dict[str, dict[str, str]] = document("foreign_files", "harness.imports")


def read(form: str, files: Sequence[Given]) -> ParsedFiles:
    """Read the files. Raises `BadInputError`, naming the format that they seem to have instead."""
    seen: dict[bytes, str] = {}
    for file in files:
        if file.data in seen:  # a run would be compared with itself, or counted twice
            fault = f"this file has the same records as {seen[file.data]}"
            raise wrong(file.name, fault, "give each run once")
        seen[file.data] = file.name
    try:
        parsed = IMPORTERS[form].read(files)
        for part in parsed.parts:
            part.check()
    except BadInputError as error:
        for file in files:
            guess = _looks_like(file)
            if guess is not None and guess != form and not str(error).endswith(guess):
                option = f"a {guess} file: --from {guess}" if guess in IMPORTERS else guess
                raise BadInputError(f"{error}. {file.name} looks like {option}") from error
        raise
    return parsed


def _looks_like(file: Given) -> str | None:
    """Return the format that a file seems to have, else a description of the file, else `None`."""
    try:
        start, log = file.text.lstrip(), logged(file)
        found = log.found if log else []
        reason = llama_server.lacking(found)
        if reason is None:
            return "llama-server"
        # An engine's messages may precede a table.
        for sign, meaning in _SIGNS["starts"].items():
            if f"\n{sign}" in f"\n{start}":
                return meaning
        known = next((meaning for sign, meaning in _SIGNS["words"].items() if sign in start), None)
        row = None if known or found else next(rows(file), None)
    except BadInputError:
        return None
    keys = row.keys if row else set()
    if keys >= _OWN:
        return "a result of this project, which needs no import"
    forms = [name for name, each in IMPORTERS.items() if any(s <= keys for s in each.signs)]
    meanings = [meaning for key, meaning in _SIGNS["keys"].items() if key in keys]
    return known or (reason if found else next(iter((*meanings, *forms)), None))
