"""Write a recommended setting to the file from which an engine reads it."""

from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from harness import files
from harness.errors import BadInputError, MachineError
from harness.machine.command_line import quoted
from harness.machine.engines import SERVER_PROGRAM
from harness.options import option
from planner.engine_commands import ServeLine
from planner.engine_files import heading, model_name, settings_text
from planner.engine_table import ENGINES, engine_of_file

_PANEL = "Settings file"
_NAMES = ", ".join(f"`{x.settings.example}` ({x.label})" for x in ENGINES.values() if x.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFileOptions:
    """Options to write the recommended setting to a file that the engine reads."""

    write: Path | None = option(
        f"Write the recommended setting to a file that the engine reads: {_NAMES}. A preset of "
        "llama.cpp keeps the other models that it has.",
        metavar="FILE",
        panel=_PANEL,
    )
    force: bool = option(
        "Replace the file, or the model in a preset of llama.cpp, if it exists.",
        panel=_PANEL,
        default=False,
    )

    def engine(self, asked: str | None) -> str | None:
        """Return the engine whose file this is: the one asked for, else by the file's name.

        Raises `BadInputError` if the engine reads no such file, or if the file exists.
        """
        if self.write is None:
            return asked
        engine = ENGINES.get(asked or engine_of_file(self.write.name) or "")
        if engine is None:
            raise BadInputError(f"--write {self.write}: name a file such as {_NAMES}")
        label, settings = engine.label, engine.settings
        if settings is None:
            raise BadInputError(f"--write: {label} reads no settings file; use the printed command")
        if not fnmatch(self.write.name, settings.files):
            raise BadInputError(
                f"--write {self.write}: for {label}, name a file such as {settings.example}"
            )
        if settings.form != "ini" and self.write.exists() and not self.force:
            raise BadInputError(f"{self.write} exists already; add --force to replace it")
        return engine.id

    def preset(self, model: str) -> str:
        """Return the text of a preset of llama.cpp to which a model is added; empty if new.

        Raises `BadInputError` if it has the model, without `force`, or cannot be read.
        """
        if self.write is None or not self.write.exists():
            return ""
        try:
            text = self.write.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInputError(f"{self.write} cannot be read: {error}") from error
        if heading(model) in text.splitlines() and not self.force:
            raise BadInputError(f"{self.write} has {model} already; add --force to replace it")
        return text

    def save(self, line: ServeLine, server: str | None) -> str:
        """Write the file and return how to start the engine with it.

        `server` is this machine's llama-server. Raises `BadInputError` for a model that the preset
        has already, without `force`, and `MachineError` if the file cannot be written.
        """
        path, settings = self.write, ENGINES[self.engine(line.engine) or ""].settings
        if path is None or settings is None:
            raise AssertionError("called without --write")
        absolute = tuple(str(Path(w).resolve()) if Path(w).is_file() else w for w in line.words)
        line, start = replace(line, words=absolute), settings.start.format(file=quoted(str(path)))
        before = ""
        if settings.form == "ini":
            before = self.preset(model_name(line))
            start = start.replace(SERVER_PROGRAM, server or SERVER_PROGRAM, 1)
            start += f" (requests name the model {model_name(line)})"
        try:
            with files.written(path) as part:
                part.write_text(settings_text(line, before), encoding="utf-8")
        except OSError as error:
            raise MachineError(f"{path} cannot be written: {error.strerror}") from error
        return f"Written: {path}. {start}"
