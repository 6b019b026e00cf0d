"""Measure through servers with OpenAI's API: a server without speculation and one per method.

A running server is used unchanged: its cache from earlier blocks cannot be cleared. From commands,
the harness starts a new server for every arm in every block.
"""

import os
from dataclasses import replace
from functools import partial

from harness.campaign.axis_options import recorded
from harness.campaign.context_padding import filled
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import MachineError
from harness.openai import comparable, exchange
from harness.openai import endpoints as reading
from harness.openai.connection import Connection, connect
from harness.openai.listed_models import offer
from harness.openai.reported_device import computed_on
from harness.openai.streamed_answer import StreamedAnswer
from harness.runners.base import EngineReport, FailedError, Generation, PreparedArm
from harness.runners.http.client import ServerAddress, ServerError
from harness.runners.http.session import ServerRequest, ServerSession
from harness.runners.options import ConnectionOptions
from harness.runners.variables import variables
from schemas.submission import Engine

# A text with more characters per token is not sent to be counted: it may exceed the server's
# context.
_MOST_CHARACTERS, _USUAL_CHARACTERS = 6, 4


class OpenAiSession(ServerSession[Connection]):
    """A session that measures a campaign's arms through servers with OpenAI's API."""

    def __init__(self, options: ConnectionOptions, campaign: Campaign) -> None:
        """Check the servers. Raises `BadInputError` unless they match the arms."""
        super().__init__(campaign)
        self._endpoints = reading.endpoints(options)
        reading.check(self._endpoints, campaign)
        self._options = options
        self._key = reading.api_key()
        self._running: dict[tuple[ServerAddress, str | None], Connection] = {}
        self._base: Connection | None = None
        self._tells_times: dict[str, bool] = {}
        self._proven = True
        self._of_baseline: dict[str, StreamedAnswer] = {}
        self._filled: dict[str, str] = {}

    def report(self) -> EngineReport:
        """Describe the baseline's server. Raises `MachineError` if that server does not answer.

        A server that the harness starts is reused to prepare the baseline.
        """
        baseline = next(arm for arm in self._campaign.arms if arm.role == "baseline")
        try:
            self._base = server = self._server_of(baseline, 0)
        except FailedError as error:
            raise MachineError(f"the baseline's server: {error}") from error
        endpoint = self._endpoint(baseline)
        identity, settings = server.identity, self._campaign.settings
        backend, devices = computed_on(identity, self._options, endpoint, log=server.log())
        number, commit = identity.build
        switches = identity.name in exchange.SWITCHES_THINKING
        return EngineReport(
            engine=Engine(
                runner="openai",
                name=identity.shown_name,
                version=identity.shown_version,  # a measured result must have a version
                commit=commit,
                build_number=number,
                backend=backend,
                devices=devices,
                variables=variables(os.environ) or None if server.process else None,
            ),
            settings=replace(
                recorded(settings, "openai"),
                context_tokens=server.served.context_tokens,
                thinking=settings.thinking if switches else None,
            ),
        )

    def _prepared(self, arm: ArmPlan) -> PreparedArm:
        """Connect to the arm's server and warm up; for the first arm, also pad all prompts."""
        prepared = super()._prepared(arm)
        server = self._server_of(arm, 0)
        depth = self._campaign.settings.context_depth_tokens
        if depth is None or self._filled:
            return prepared
        size_of = partial(self._size, server, arm, depth)
        try:
            self._filled = {
                text: filled(text, depth=depth, size_of=size_of) for text in self._texts.values()
            }
        except ServerError as error:
            raise FailedError(self._failure(server, error)) from error
        self._turn = None  # this server has cached the prompts: ours is started again
        return prepared

    def _size(self, server: Connection, arm: ArmPlan, depth: int, text: str) -> int:
        """Return a prompt's token count from the server; estimate it for a far too long prompt."""
        if len(text) > _MOST_CHARACTERS * depth:
            return len(text) // _USUAL_CHARACTERS
        asked = self._request(arm, text, 1)
        known = exchange.exchange(server, asked, server_clock=False, baseline=None)
        return known.answer.prompt_tokens

    def _whole(self, prompt: ServerRequest) -> ServerRequest:
        """Return the request with its prompt padded to the context depth, if a depth is set."""
        return replace(prompt, text=self._filled.get(prompt.text, prompt.text))

    def _server_of(self, arm: ArmPlan, block: int) -> Connection:
        endpoint = self._endpoint(arm)
        if not isinstance(endpoint, ServerAddress):
            return super()._server_of(arm, block)
        place = endpoint, self._options_of(arm).model
        found = self._running.get(place)
        if found is None:
            found = self._running[place] = self._start(arm)
        return found

    def _start(self, arm: ArmPlan) -> Connection:
        return connect(self._endpoint(arm), self._options_of(arm), key=self._key)

    def _options_of(self, arm: ArmPlan) -> ConnectionOptions:
        """Return the connection options, with the arm's own model if the user named one per arm."""
        if not arm.drafts or not self._options.spec_models:
            return self._options
        index = reading.speculation(self._campaign).index(arm.method)
        return replace(self._options, model=self._options.spec_models[index])

    def _endpoint(self, arm: ArmPlan) -> reading.Endpoint:
        return reading.endpoint_of(arm, self._endpoints, self._campaign)

    def _ask(self, server: Connection, prompt: ServerRequest) -> Generation:
        server_clock = not prompt.warm_up and all(self._tells_times.values())
        known = self._of_baseline.get(prompt.text)
        asked = self._whole(prompt)
        found = exchange.exchange(server, asked, server_clock=server_clock, baseline=known)
        if prompt.arm.role == "baseline":
            self._of_baseline.setdefault(prompt.text, found.answer)
        if prompt.warm_up:
            self._tells_times.setdefault(prompt.arm.id, found.states_times)
        else:
            self._proven = self._proven and found.proven
        return found.generation

    def compares_requests(self) -> bool:
        """Whether decode times need confirmation by the times of whole requests."""
        return not self._proven

    def _margins(
        self, server: Connection, prompt: ServerRequest, known: Generation
    ) -> tuple[float, ...] | None:
        return exchange.margins(server, self._whole(prompt), known)

    def _check(self, server: Connection, arm: ArmPlan) -> None:
        """Raise `FailedError` if a server cannot run an arm, or differs from the baseline's."""
        comparable.require_method(server, arm.method)
        if arm.role == "baseline":
            self._base = self._base or server
        if arm.drafts and self._base is not None:
            named = bool(self._options.spec_models)
            comparable.require_comparable(server, self._base, draft=self._draft(arm), named=named)

    def _offers(self, server: Connection) -> str:
        return offer(server.identity.models)
