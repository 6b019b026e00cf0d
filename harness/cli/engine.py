"""Which engine runs a campaign, and what does it ask of one? The runner that was chosen by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.campaign.build import CONTROLS, Options
from harness.campaign.methods import method_type
from harness.campaign.model import Campaign
from harness.campaign.parts import gather
from harness.campaign.suitability import require_suited
from harness.cli import console
from harness.errors import UsageError, suggestion
from harness.run import result_file as results
from harness.runners import OFFERED, RUNNERS, RunnerKind
from harness.runners.base import ConnectionOptions, Runner
from harness.runners.openai.served import ServedModels

# What other runners would not look at; ignored silently, the wrong engine would be measured.
_SERVER_OPTIONS: dict[str, Callable[[ConnectionOptions], object]] = {
    "--base-url": lambda reach: reach.base_url,
    "--spec-base-url": lambda reach: reach.spec_base_urls,
    "--server-command": lambda reach: reach.server_command,
    "--spec-server-command": lambda reach: reach.spec_server_commands,
    "--served-model": lambda reach: reach.model,
    "--backend": lambda reach: reach.backend,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenEngine:
    """A runner by its name, and how its engine is reached."""

    name: str
    reach: ConnectionOptions

    @property
    def kind(self) -> RunnerKind:
        """What the runner can do. Raises `UsageError` for a name that is none."""
        if self.name not in RUNNERS:
            message = f"unknown runner {self.name!r}.{suggestion(self.name, OFFERED)}"
            raise UsageError(message)
        return RUNNERS[self.name]

    def require_suited(self, options: Options) -> None:
        """Raise `UsageError` when this runner cannot run what the options ask for."""
        require_suited(options, self.name, self.kind)
        for option, value in _SERVER_OPTIONS.items():
            if value(self.reach) and not self.kind.behind_servers:
                message = f"{option} is for --runner openai, not for {self.name}"
                raise UsageError(message)

    def runner(self) -> Runner:
        """The runner. Raises `UsageError` when it is not said how to reach its engine."""
        return self.kind.build(self.reach)

    def campaign(self, options: Options, *, fetch: bool) -> Campaign:
        """The campaign as this runner can run it."""
        kind = self.kind
        made = gather(
            options,
            say=console.say,
            fetch=fetch,
            defaults=kind.default_methods,
            controls=tuple(each for each in CONTROLS if method_type(each) in kind.methods),
            served=self._served(),
        )
        if kind.check is not None:
            kind.check(self.reach, made)
        return self.on(replace(made, interleaved=kind.interleaved))

    def on(self, campaign: Campaign) -> Campaign:
        """A campaign of this runner on this engine. Raises `UsageError` if it cannot run it."""
        self.commands(campaign)
        return replace(campaign, engine=self._shown())

    def commands(self, campaign: Campaign) -> tuple[str, ...]:
        """The command lines that the engine would be started with; none where none would be.

        Raises `UsageError` when the engine cannot run an arm of the campaign.
        """
        preview = self.kind.preview
        return preview(campaign, self.reach) if preview else ()

    def _served(self) -> ServedModels | None:
        if not self.kind.behind_servers:
            return None
        from harness.runners.openai.served import ServedModels  # noqa: PLC0415 - only where servers are

        return ServedModels(options=self.reach, say=console.say)

    def _shown(self) -> str:
        """The runner and its engine; a journal goes on with the same ones only."""
        if self.kind.identify is not None:
            return self.kind.identify(self.reach)
        reach = self.reach
        urls = (reach.base_url, *reach.spec_base_urls)
        commands = (reach.server_command, *reach.spec_server_commands)
        return " ".join(part for part in (self.name, *urls, *commands) if part)


_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=(?P<path>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """An engine of the command; it has no name where it is the only one."""

    name: str
    engine: ChosenEngine


def legs(engine: ChosenEngine, binaries: Sequence[str]) -> tuple[Leg, ...]:
    """One leg for each binary, one alone where none is named. Raises `UsageError`."""
    if binaries and engine.name != "llama-server":
        message = f"--server-binary is for --runner llama-server, not for {engine.name}"
        raise UsageError(message)
    named = [_named(text) for text in binaries]
    if len(named) > 1:
        _require_names([name for name, _ in named])
    if not named:
        return (Leg(name="", engine=engine),)
    return tuple(
        Leg(
            name=name if len(named) > 1 else "",
            engine=replace(engine, reach=replace(engine.reach, binary=path)),
        )
        for name, path in named
    )


def _named(text: str) -> tuple[str, str]:
    """The name and the path in `name=PATH`; a path alone may hold an equals sign, too."""
    match = _NAMED.fullmatch(text)
    if match is None or Path(text).exists():
        return "", text
    return match["name"], match["path"]


def _require_names(names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if "" in names:
        message = (
            "several binaries need names: --server-binary cuda=PATH --server-binary vulkan=PATH"
        )
        raise UsageError(message)
    if twice:
        message = f"two binaries are called {twice[0]}; give each --server-binary a name of its own"
        raise UsageError(message)


# The format's patterns of these two fields; checked before an hour of measuring, not after it.
_CONTRIBUTOR = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
_NOTES = re.compile(r"[^\x00-\x1f<>]{1,280}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What the contributor says about themselves and the machine."""

    contributor: str | None = None
    notes: str | None = None

    def check(self) -> None:
        """Raise `UsageError` when the format would not take it."""
        if self.contributor is not None and not _CONTRIBUTOR.fullmatch(self.contributor):
            message = f"--contributor {self.contributor!r}: letters, digits and inner hyphens only"
            raise UsageError(message)
        if self.notes is not None and not _NOTES.fullmatch(self.notes):
            message = "--notes takes one line of at most 280 characters, without < and >"
            raise UsageError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line asks for: a campaign, and the engines that run it."""

    options: Options
    about: Contribution
    legs: tuple[Leg, ...]
    output: Path | None = None
    as_json: bool = False

    def check(self) -> None:
        """Raise `HarnessError` for what can be told before any model is looked at."""
        self.about.check()
        self.legs[0].engine.require_suited(self.options)
        if len(self.legs) > 1:
            results.require_directory(self.output)
        results.require_writable(self.output)

    def campaigns(self, *, fetch: bool) -> dict[str, Campaign]:
        """The campaign on each of the engines. Raises `HarnessError` when one cannot run it."""
        first = self.legs[0].engine.campaign(self.options, fetch=fetch)
        return {leg.name: leg.engine.on(first) for leg in self.legs}
