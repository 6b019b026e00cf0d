"""Choose the engines of a run: a runner by name, with one or several binaries."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from harness import console, install
from harness.campaign.from_options import campaign_from, methods_named
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.errors import BadInputError, HarnessError, MachineError, suggestion
from harness.machine import engines as installed
from harness.options import option
from harness.run.check_runner_options import require_servers, require_suited
from harness.runners import CONNECT
from harness.runners.base import Adapter
from harness.runners.llama_server.binary import find
from harness.runners.options import ConnectionOptions
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS, RunnerEntry

_SETTINGS = "How it runs"
# The runner that needs only a program, without anything compiled for Python.
_SERVER = "llama-server"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions(ConnectionOptions):
    runner: str | None = option(
        "The engine that runs the models. "
        + " ".join(f"`{name}`: {kind.summary}." for name, kind in RUNNERS.items())
        + f" Default: {DEFAULT_RUNNER} if it is installed, otherwise {_SERVER}.",
        metavar="RUNNER",
        panel=_SETTINGS,
    )
    binary: str | None = option(
        "The llama-server to start. Default: the llama-server on PATH.",
        name="server-binary",
        metavar="PATH",
        panel=_SETTINGS,
        usual=True,
    )

    def engine(self, options: Options) -> "ChosenEngine":
        """Return the engine that the user named, else an installed one. Raises `HarnessError`."""
        runner = self.runner or (_SERVER if self.binary else None)
        if runner is None and self.names_servers:
            runner = "openai"
        if runner is None:
            runner = installed.default_runner(methods_named(options))
            if runner == _SERVER:
                console.say(f"Measuring with {installed.server_program()}.")
        if runner is None:
            program = installed.SERVER_PROGRAM
            raise MachineError(
                f"no engine is installed and no {program} is on PATH; {installed.INSTALL_ENGINE}"
            )
        if runner == DEFAULT_RUNNER and installed.package_version() is None:
            raise MachineError(f"{runner} is not installed; compile it: {install('inprocess')}")
        if self.binary and runner != _SERVER:
            raise BadInputError(
                f"--server-binary works with --runner llama-server, not with {runner}"
            )
        return ChosenEngine(runner=runner, connection=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenEngine:
    """A runner and the connection to its engine; of several engines, each has a name."""

    runner: str
    connection: ConnectionOptions
    name: str = ""

    @property
    def kind(self) -> RunnerEntry:
        """The runner's abilities. Raises `BadInputError` for an unknown name."""
        if self.runner not in RUNNERS:
            word = self.runner.lower()
            able = [name for name, kind in RUNNERS.items() if word in kind.summary.lower()]
            hint = f" --runner {able[0]} runs it." if able else suggestion(self.runner, RUNNERS)
            raise BadInputError(f"unknown runner {self.runner!r}.{hint}")
        return RUNNERS[self.runner]

    def require_suited(self, options: Options) -> None:
        """Raise `BadInputError` if the runner does not support the options."""
        require_suited(options, self.runner, self.kind)
        if self.kind.behind_servers:
            if self.connection.base_url:
                self.adapter()  # refuses an invalid address
            require_servers(options, self.connection)
            return
        ignored = self.connection.given_for_servers()
        if self.runner == _SERVER:  # in case the build lists no devices
            ignored = [flag for flag in ignored if flag != "--backend"]
        if ignored and self.connection.binary:
            raise BadInputError(f"give either {ignored[0]} (a running server) or --server-binary")
        if ignored:  # else the wrong engine would be measured
            raise BadInputError(f"{ignored[0]} works with --runner openai, not with {self.runner}")

    def adapter(self) -> Adapter:
        return CONNECT[self.kind.id](self.connection)

    def campaign(
        self, options: Options, *, fetch: bool, say: Callable[[str], None] = console.say
    ) -> Campaign:
        """Return the campaign for these options, adapted to the runner."""
        served = self.adapter().served(say)
        campaign = campaign_from(options, say=say, fetch=fetch, runner=self.kind, served=served)
        if not options.methods:
            campaign = self.known(campaign)
        return replace(self, name="").on(campaign)

    def known(self, campaign: Campaign) -> Campaign:
        """Return the campaign without those default arms that the engine does not support."""
        unknown: dict[str, HarnessError] = {}
        for arm in campaign.arms if self.runner == _SERVER else ():
            try:
                self.commands(replace(campaign, arms=(arm,)))
            except BadInputError as error:
                unknown[arm.id] = error
        left = tuple(arm for arm in campaign.arms if arm.id not in unknown)
        if not unknown or not any(arm.drafts for arm in left):
            return campaign
        for reason in unknown.values():
            console.say(f"Left out: {reason}")
        return replace(campaign, arms=left)

    def on(self, campaign: Campaign) -> Campaign:
        """Return the campaign for this engine, with a separate work file.

        Raises `HarnessError`, beginning with the engine's name, if the engine cannot run the
        campaign.
        """
        try:
            self.commands(campaign)
            program = self._program()
        except HarnessError as error:
            if not self.name:
                raise
            raise type(error)(f"{self.name}: {error}") from error
        # Only the same runner, engine and devices can resume a journal.
        identity = " ".join(
            filter(None, (self.name, program, installed.chosen_devices(os.environ)))
        )
        return replace(campaign, engine=identity)

    def commands(self, campaign: Campaign) -> tuple[str, ...]:
        """Return the command lines that start the engine.

        Raises `HarnessError` if the engine cannot run the campaign.
        """
        return self.adapter().commands(campaign)

    def server(self) -> str | None:
        """Return the llama-server that is measured, or else the installed one."""
        if self.runner == _SERVER:
            return str(find(self.connection.binary).path)
        return installed.server_program()

    def _program(self) -> str:
        connection = self.connection
        identity = self.adapter().identity()
        if identity is not None:
            return identity
        urls = (connection.base_url, *connection.spec_base_urls, *connection.spec_models)
        commands = (connection.server_command, *connection.spec_server_commands)
        return " ".join(part for part in (self.runner, *urls, *commands) if part)
