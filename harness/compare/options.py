"""The options of `draftmap compare`: the builds, and the slowdown that counts as a failure."""

from dataclasses import dataclass, replace
from pathlib import Path

from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.options import option
from harness.run.chosen_engine import ChosenEngine
from harness.run.result_file import require_writable
from harness.runners.llama_server.binary import find
from harness.runners.options import ConnectionOptions
from harness.runners.server_command import command_words

# Many short blocks: on a shared machine, one comparison in four is unclear after eight blocks, and
# one in a hundred after sixteen (`python -m bench.builds`).
BLOCKS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """The two builds or the commands that start them, and the slowdown that counts as a failure."""

    base: str | None = option(
        "The llama-server binary before the change.", metavar="BINARY", usual=True
    )
    head: str | None = option(
        "The llama-server binary with the change.", metavar="BINARY", usual=True
    )
    base_commands: tuple[str, ...] = option(
        "Instead of --base, for any OpenAI-compatible server: the command that starts it without "
        "speculation, '… --port {port}'. Repeat the option for each --method, with the command "
        "that starts the server with speculation.",
        name="base-command",
        metavar="COMMAND",
        default=(),
    )
    head_commands: tuple[str, ...] = option(
        "Instead of --head: the corresponding commands for the server with the change.",
        name="head-command",
        metavar="COMMAND",
        default=(),
    )
    reference: Path | None = option(
        "Instead of a base build: a file with the tokens per round of each task. If the file "
        "exists, head is checked against it; otherwise the file is written. This check also "
        "works on a busy machine.",
        metavar="FILE",
        usual=True,
    )
    fail_below: float | None = option(
        "Fail if head is below this fraction of base's speed (decoding, prompt processing or "
        "whole requests) with 98 % confidence. Default: 0.99; 0.95 for the tokens per round of a "
        "--reference.",
        metavar="FRACTION",
        such="0.99 or 99%",
        least=0.1,
        most=1,
    )
    markdown: Path | None = option(
        "Also write the comparison as a comment for a pull request.", metavar="FILE"
    )

    def engines(self, options: Options, connection: ConnectionOptions) -> tuple[ChosenEngine, ...]:
        """Return the engines to compare, by build. Raises `HarnessError` if one cannot be used."""
        binaries, commands = self.base or self.head, self.base_commands or self.head_commands
        message = None
        if binaries and commands:
            message = "give binaries (--base, --head) or commands, not both"
        elif self.reference and (self.base or self.base_commands):
            message = "--reference replaces the base build; give only --head or --head-command"
        if message:
            raise BadInputError(message)
        names = ("head",) if self.reference else ("base", "head")
        given = {"base": (self.base, self.base_commands), "head": (self.head, self.head_commands)}
        return tuple(
            self._commanded(name, given[name][1], options, connection)
            if commands
            else self._started(name, given[name][0], connection)
            for name in names
        )

    def check(self) -> None:
        """Raise `BadInputError` if the Markdown table cannot be written where the user wants it."""
        if self.markdown is None:
            return
        if self.markdown.is_dir():
            raise BadInputError(
                f"{self.markdown} is a folder; name a file in this folder with --markdown"
            )
        require_writable(self.markdown.parent)

    def _started(self, name: str, path: str | None, connection: ConnectionOptions) -> ChosenEngine:
        if path is None:
            raise BadInputError(f"name the build: --{name} BINARY, or --{name}-command COMMAND")
        if given := connection.given_for_servers():
            raise BadInputError(f"{given[0]} works only with --base-command and --head-command")
        find(path, option=f"--{name}")
        engine = replace(connection, binary=path)
        return ChosenEngine(runner="llama-server", name=name, connection=engine)

    def _commanded(
        self, name: str, commands: tuple[str, ...], options: Options, connection: ConnectionOptions
    ) -> ChosenEngine:
        flag, needed = f"--{name}-command", 1 + len(options.methods)
        if len(commands) != needed:
            raise BadInputError(
                f"{flag} is given {len(commands)} times, but is needed {needed} times: first for "
                "the server without speculation, then for each --method in order"
            )
        for command in commands:
            command_words(command, option=flag)
        plain, *speculating = commands
        engine = replace(
            connection,
            server_command=plain,
            spec_server_commands=tuple(speculating),
            plain_alone=not speculating,
        )
        return ChosenEngine(runner="openai", name=name, connection=engine)
