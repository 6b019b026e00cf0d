"""Write a recommended setting to the file from which an engine reads it."""

from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from answers.engine_commands import ServeLine
from answers.engine_files import has_model, model_name, settings_text
from answers.engine_table import ENGINES, engine_of_file
from harness import files
from harness.errors import BadInputError, MachineError
from harness.machine.command_line import quoted
from harness.machine.engines import SERVER_PROGRAM
from harness.options import option

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

        Raises `BadInputError` if the engine reads no such file.
        """
        if self.write is None:
            return asked
        named = engine_of_file(self.write.name)
        if asked is None and named is None:
            raise BadInputError(f"--write {self.write}: name a file such as {_NAMES}")
        settings = ENGINES[asked or named or ""].settings
        if settings is None:
            label = ENGINES[asked or ""].label
            raise BadInputError(f"--write: {label} reads no settings file; use the printed command")
        if not fnmatch(self.write.name, settings.files):
            label = ENGINES[asked or ""].label
            raise BadInputError(
                f"--write {self.write}: for {label}, name a file such as {settings.example}"
            )
        return asked or named

    def save(self, line: ServeLine, server: str | None) -> str:
        """Write the file and return how to start the engine with it.

        `server` is this machine's llama-server. Raises `BadInputError` for an existing file without
        `force`, `MachineError` if the file cannot be written.
        """
        path, engine = self.write, ENGINES[self.engine(line.engine) or ""]
        if path is None or engine.settings is None:
            raise AssertionError("called without --write")
        absolute = tuple(str(Path(w).resolve()) if Path(w).is_file() else w for w in line.words)
        line, several = replace(line, words=absolute), engine.settings.form == "ini"
        try:
            before = path.read_text("utf-8") if path.is_file() else ""
            if not self.force and path.exists() and not (several and not has_model(line, before)):
                what = f"has {model_name(line)}" if several else "exists"
                raise BadInputError(f"{path} {what} already; add --force to replace it")
            with files.written(path) as part:
                part.write_text(settings_text(line, before if several else ""), encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MachineError(f"{path} cannot be written: {error}") from error
        start = engine.settings.start.format(file=quoted(str(path)))
        start = start.replace(SERVER_PROGRAM, server or SERVER_PROGRAM, 1) if several else start
        name = f" (requests name the model {model_name(line)})" if several else ""
        return f"Written: {path}. {start}{name}"
