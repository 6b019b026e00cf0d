"""Which engine runs a campaign, and what does it ask of one? The runner that was chosen by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.campaign import CONTROLS
from harness.cli import talk
from harness.errors import UsageError
from harness.gather import gather
from harness.methods import method_type
from harness.nearest import suggestion
from harness.runners import OFFERED, RUNNERS, Reach
from harness.suitability import require_suited

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.campaign import Options
    from harness.model import Campaign
    from harness.models.served import ServedModels
    from harness.runners import RunnerKind
    from harness.runners.base import Runner

# What other runners would not look at; ignored silently, the wrong engine would be measured.
_SERVER_OPTIONS: dict[str, Callable[[Reach], object]] = {
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
    reach: Reach

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
            say=talk.say,
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
        from harness.models.served import ServedModels  # noqa: PLC0415 - only where servers are

        return ServedModels(reach=self.reach, say=talk.say)

    def _shown(self) -> str:
        """The runner and its engine; a journal goes on with the same ones only."""
        if self.kind.identify is not None:
            return self.kind.identify(self.reach)
        reach = self.reach
        urls = (reach.base_url, *reach.spec_base_urls)
        commands = (reach.server_command, *reach.spec_server_commands)
        return " ".join(part for part in (self.name, *urls, *commands) if part)
