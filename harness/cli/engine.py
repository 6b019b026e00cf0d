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

    def runner(self, options: Options) -> Runner:
        """The runner. Raises `BadInputError` when it cannot run what the options ask for."""
        kind = self.kind
        wrong = next((m for m in options.methods if method_type(m) not in kind.methods), None)
        if wrong is not None:
            message = (
                f"the runner {self.name} has no method {method_type(wrong)}; "
                f"it has {', '.join(sorted(kind.methods))}"
            )
            raise BadInputError(message)
        if max(options.concurrency, default=1) > 1 and not kind.concurrent:
            several = ", ".join(name for name, each in RUNNERS.items() if each.concurrent)
            message = (
                f"{self.name} answers one request at a time; leave out --concurrency, "
                f"or choose a --runner that answers several: {several}"
            )
            raise BadInputError(message)
        return kind.build(self.reach)

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
        return replace(made, interleaved=kind.interleaved, engine=self._shown())

    def _served(self) -> ServedModels | None:
        if not self.kind.behind_servers:
            return None
        from harness.models.served import ServedModels  # noqa: PLC0415 - only where servers are

        return ServedModels(reach=self.reach, say=talk.say)

    def _shown(self) -> str:
        """The runner and its servers; a journal goes on with the same ones only."""
        reach = self.reach
        urls = (reach.base_url, *reach.spec_base_urls)
        commands = (reach.server_command, *reach.spec_server_commands)
        return " ".join(part for part in (self.name, *urls, *commands) if part)
