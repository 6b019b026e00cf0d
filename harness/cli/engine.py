"""Which engine runs a campaign, and what does it ask of one? The runner that was chosen by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.campaign import CONTROLS
from harness.cli import talk
from harness.errors import BadInputError
from harness.gather import gather
from harness.methods import method_type
from harness.nearest import suggestion
from harness.runners import RUNNERS, Reach
from harness.suitability import require_suited

if TYPE_CHECKING:
    from harness.campaign import Options
    from harness.model import Campaign
    from harness.models.served import ServedModels
    from harness.runners import RunnerKind
    from harness.runners.base import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenEngine:
    """A runner by its name, and how its engine is reached."""

    name: str
    reach: Reach

    @property
    def kind(self) -> RunnerKind:
        """What the runner can do. Raises `BadInputError` for a name that is none."""
        if self.name not in RUNNERS:
            message = f"unknown runner {self.name!r}.{suggestion(self.name, RUNNERS)}"
            raise BadInputError(message)
        return RUNNERS[self.name]

    def require_suited(self, options: Options) -> None:
        """Raise `BadInputError` when this runner cannot run what the options ask for."""
        require_suited(options, self.name, self.kind)

    def runner(self) -> Runner:
        """The runner. Raises `BadInputError` when it is not said how to reach its engine."""
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
        """A campaign of this runner on this engine. Raises `BadInputError` if it cannot run it."""
        self.commands(campaign)
        return replace(campaign, engine=self._shown())

    def commands(self, campaign: Campaign) -> tuple[str, ...]:
        """The command lines that the engine would be started with; none where none would be.

        Raises `BadInputError` when the engine cannot run an arm of the campaign.
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
