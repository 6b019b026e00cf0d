"""Says what to start after a measurement: the llama-server line, or the setting of another server.

A result names models, never paths: files are stand-ins unless the caller knows them.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from msgspec import structs

from schemas.submission import Arm, Method, Submission
from schemas.vocabulary import METHODS

COLUMNS = 80
INDENT = "  "
_LONGEST_PATH = 60


def command(submission: Submission, arm: Arm | None, files: Mapping[str, Path]) -> list[str]:
    """The line that serves the target with an arm's way of drafting, or alone without one."""
    target = submission.target
    line = serving(
        _file(files, target.id, f"{target.name} {target.quantisation}"),
        _draft_file(submission, arm, files) if arm else None,
        arm.method if arm else None,
    )
    known = arm is None or METHODS[arm.method.type].llama_cpp is not None
    return [*_broken(line), *([] if arm is None or known else folded(_nearest(arm)))]


def serving(target: str, draft: str | None, method: Method | None) -> list[str]:
    """The options that serve a target with the method of a measured arm, each with its value.

    A method that the server lacks is left to its nearest relative there; `None` is no drafting.
    """
    found = [f"llama-server -m {shlex.quote(target)}"]
    if draft is not None:
        found.append(f"-md {shlex.quote(draft)}")
    if method is None:
        return found
    entry = METHODS[method.type]
    of_method = structs.asdict(method)
    measured = {name: of_method[name] for name in ("n_max", *entry.optional)}
    if entry.llama_cpp is None:
        entry = METHODS[entry.nearest or method.type]
    sizes = {name: of_method[name] or value for name, value in entry.defaults.items()}
    given = {name: value for name, value in measured.items() if value is not None}
    words = entry.server_words({**sizes, **given})
    return [*found, *(" ".join(pair) for pair in zip(words[::2], words[1::2], strict=True))]


def elsewhere(arm: Arm | None, server: str) -> list[str]:
    """What to do with another server, whose command line is its own."""
    if arm is None:
        return folded(f"Leave it switched off in {server}: start it plain.")
    return folded(f"Keep it switched on in {server}: {_recorded(arm)}.")


def folded(text: str) -> list[str]:
    """A paragraph in lines that fit."""
    return wrap(text, COLUMNS, break_on_hyphens=False)


def _recorded(arm: Arm) -> str:
    return " ".join(arm.argv) if arm.argv else f"the setting that was measured as {arm.id}"


def _nearest(arm: Arm) -> str:
    nearest = METHODS[arm.method.type].nearest
    return (
        f"llama-server's nearest to {arm.method.type} is {nearest}: measure it, too "
        f"(--runner llama-server --method {nearest})."
    )


def _file(files: Mapping[str, Path], model: str, name: str) -> str:
    """The model's file where it is known and fits in a line, else a stand-in with its name."""
    path = str(files.get(model, ""))
    return path if path and len(path) <= _LONGEST_PATH else f"{name.replace(' ', '-')}.gguf"


def _draft_file(submission: Submission, arm: Arm, files: Mapping[str, Path]) -> str | None:
    for draft in submission.drafts:
        if draft.id == arm.method.draft:
            return _file(files, draft.id, f"{draft.name} {draft.quantisation}")
    return None


def _broken(options: Sequence[str]) -> list[str]:
    """A command over several lines, as shells that know a backslash read it."""
    lines, line = [], INDENT
    for option in options:
        if line.strip() and len(line) + len(option) + 3 > COLUMNS:
            lines.append(f"{line}\\")
            line = 2 * INDENT
        line += f"{option} "
    return [*lines, line.rstrip()]
