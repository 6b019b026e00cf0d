"""Format the command to use after a measurement, or the setting if the server is unknown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap

from harness.machine.command_line import WINDOWS, pasted, quoted
from harness.machine.engines import SERVER_PROGRAM
from planner.engine_commands import ServeLine, serve_nearest
from planner.engine_table import ENGINES
from schemas.method import NO_SPECULATION
from schemas.rig import IK_LLAMA_CPP, LLAMA_CPP
from schemas.submission import Arm, Model, Submission
from schemas.vocabulary import METHODS

COLUMNS = 80
INDENT = "  "
_OTHERS = tuple(each.label for each in ENGINES.values() if each.program)  # load models by name
SERVERS = (LLAMA_CPP, IK_LLAMA_CPP, *_OTHERS)  # engines whose words are known


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFiles:
    """The paths of model files on this machine, by model id, and the llama-server to start."""

    files: Mapping[str, Path] = field(default_factory=dict)
    server: str | None = None


def serve_line(
    submission: Submission, arm: Arm | None, local_files: LocalFiles
) -> ServeLine | None:
    """Return the words that serve the target, with an arm's method if an arm is given.

    `None` if the engine's words are unknown.
    """
    engine = submission.engine.name if submission.engine.name in SERVERS else LLAMA_CPP
    served = serve_nearest(
        engine,
        _named(submission.target, submission, local_files.files),
        _draft_file(submission, arm, local_files.files) if arm else None,
        arm.method if arm else NO_SPECULATION,
        known=(arm.argv or ()) if arm else (),
    )
    if served is None or "\n" in served.text:
        return served
    program = served.words[0]
    if program == SERVER_PROGRAM and local_files.server:
        program = local_files.server
    # On a CPU the figures are valid for this number of threads; an engine's default may differ.
    threads = submission.settings.threads if submission.engine.backend == "cpu" else None
    known = threads is not None and engine in (LLAMA_CPP, IK_LLAMA_CPP)
    words = (program, *served.words[1:], *(("-t", str(threads)) if known else ()))
    return replace(served, words=words)


def command(submission: Submission, arm: Arm | None, local_files: LocalFiles) -> list[str]:
    """Return how to serve the target, with an arm's method if an arm is given, as lines."""
    served = serve_line(submission, arm, local_files)
    if served is None:
        return elsewhere(arm, "the server that was measured")
    lines = "\n" in served.text
    shown = [INDENT + line for line in served.words] if lines else _broken(served.words)
    return [*shown, *folded(served.note or "")]


def _options(words: Sequence[str]) -> Iterator[str]:
    """Yield the parts of a command: the program with the model, then each flag with its value."""
    shown: list[str] = []
    for word in map(quoted, words):
        if word.startswith("-") and len(shown) > 1:
            yield " ".join(shown)
            shown = []
        shown.append(word)
    yield " ".join(shown)


def elsewhere(arm: Arm | None, server: str) -> list[str]:
    """Return how to start a server whose command line we do not know."""
    if arm is None:
        return [f"{INDENT}{server}, started without speculation"]
    how = " ".join(arm.argv) if arm.argv else f"the setting measured as {arm.id}"
    return folded(f"{server} with {how}", first=INDENT, rest=INDENT)


def folded(text: str, columns: int = COLUMNS, *, first: str = "", rest: str = "") -> list[str]:
    """Return a paragraph, broken into lines that fit; `first` and `rest` are the indentations."""
    return wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _named(model: Model, submission: Submission, files: Mapping[str, Path]) -> str:
    """Return the model's file or a stand-in; its name on the hub for engines that load by name."""
    if submission.engine.name in _OTHERS:
        return model.repository or model.name
    stand_in = f"{model.name} {model.quantisation}".replace(" ", "-") + ".gguf"
    return str(files.get(model.id, stand_in))


def _draft_file(submission: Submission, arm: Arm, files: Mapping[str, Path]) -> str | None:
    """Return an arm's draft file; for a chain with a drafter, the submission's first draft."""
    chained = any(METHODS[kind].draft != "none" for kind in arm.method.chain or ())
    for draft in submission.drafts:
        if chained or draft.id == arm.method.draft:
            return _named(draft, submission, files)
    return None


def _broken(words: Sequence[str]) -> list[str]:
    """Return a command as lines: several for POSIX shells, a single one for PowerShell."""
    if WINDOWS:
        return [INDENT + pasted(words)]
    lines, line = [], INDENT
    for option in _options(words):
        if line.strip() and len(line) + len(option) + 3 > COLUMNS:
            lines.append(f"{line}\\")
            line = 2 * INDENT
        line += f"{option} "
    return [*lines, line.rstrip()]
