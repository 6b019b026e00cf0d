"""The session of all server runners; a subclass starts a server and sends its requests.

Servers cache prompts and, with some n-gram methods, all earlier answers. The cache of one arm or
block must not help the next arm or block, so the harness starts a new server for each arm in each
block.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from harness.campaign.model import ArmPlan, Campaign
from harness.runners.base import (
    FailedError,
    Failure,
    FinishedRequest,
    Generation,
    PreparedArm,
    TrialRequest,
    returns_failure,
)
from harness.runners.failures import reason_in
from harness.runners.http.client import (
    Client,
    ServerError,
    ServerRefusedError,
    ServerSilentError,
    without_key,
)
from harness.runners.http.process import ServerProcess
from schemas.submission import Probes

KEY_VARIABLE = "DRAFTMAP_API_KEY"
_NO_KEY = (401, 403)
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_ERROR = 500
WARM_UP_OUTPUT_TOKENS = 24
# The warm-up prompt belongs to no suite: a method with a cache must not see a suite's prompts
# before they are timed.
WARM_UP_TEXT = "Name the seven days of the week, then the twelve months, one per line."


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that is ready to answer.

    Fields other than `client` are set if the harness started the server.
    """

    client: Client
    process: ServerProcess | None = None
    load_s: float | None = None
    argv: tuple[str, ...] | None = None

    def log(self) -> str:
        return self.process.log() if self.process else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    temperature: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """One prompt to be answered for an arm. `alone` means that no other request is in flight."""

    arm: ArmPlan
    text: str
    limit: int
    draft: str | None = None
    alone: bool = True
    warm_up: bool = False
    thinking: bool = False
    sampling: Sampling | None = None


ServerT = TypeVar("ServerT", bound=Server)


class ServerSession(ABC, Generic[ServerT]):
    """A session with at most one running server, for the current arm.

    Its private methods raise `FailedError`; `prepare` and `generate` return the failure.
    """

    def __init__(self, campaign: Campaign) -> None:
        """Store the settings without starting a server."""
        self._campaign = campaign
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._texts = {prompt.id: prompt.text for prompt in campaign.suite.prompts}
        self._references: set[str] = set()
        self._started: ServerT | None = None
        self._turn: tuple[str, int] | None = None
        self._warm: tuple[str, int] | None = None

    @abstractmethod
    def _start(self, arm: ArmPlan) -> ServerT:
        """Start a server for an arm; on a failure no process is left."""

    @abstractmethod
    def _ask(self, server: ServerT, prompt: ServerRequest) -> Generation:
        """Get one answer. Raises the client's errors, or `BadAnswerError`."""

    @abstractmethod
    def _margins(
        self, server: ServerT, prompt: ServerRequest, known: Generation
    ) -> tuple[float, ...] | None:
        """Return the baseline's margin for each token, from a second, untimed answer.

        Probabilities cost time on the server, so the timed answer has none. Returns `None` if the
        second answer differs, because the model is then not deterministic. Raises the errors of
        `_ask`.
        """

    def _check(self, server: ServerT, arm: ArmPlan) -> None:
        """Raise `FailedError` if an arm cannot be measured on a server."""

    def _offers(self, server: ServerT) -> str:  # noqa: ARG002 - a hook
        """Return advice for a 404 answer: the models that the server offers, if known."""
        return ""

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Connect to the arm's server, starting it if necessary; discard a warm-up generation."""
        try:
            return self._prepared(self._arms[arm])
        except FailedError as error:
            self.rest()
            return error.failure

    def _prepared(self, arm: ArmPlan) -> PreparedArm:
        server = self._server_of(arm, 0)
        self._check(server, arm)
        warm_up = self._warm_up(server, arm)
        return PreparedArm(load_s=server.load_s, warm_up=warm_up, argv=server.argv)

    @returns_failure
    def generate(self, request: TrialRequest) -> Generation:
        return self._answer(self._ready(request), request, alone=True)

    def generate_concurrently(
        self, requests: Sequence[TrialRequest], concurrency: int
    ) -> Iterator[FinishedRequest]:
        """Run generations of one arm in one block; a failed generation does not end the rest."""
        ready = returns_failure(self._ready)(requests[0])

        @returns_failure
        def answer(request: TrialRequest) -> Generation:
            if isinstance(ready, Failure):
                raise FailedError(ready)
            return self._answer(ready, request, alone=concurrency == 1)

        return run_concurrently(requests, concurrency, answer)

    def probe(self) -> Probes | None:
        """Return `None`: server runners do not measure the cost of a drafted token."""
        return None

    def rest(self) -> None:
        """End an arm's server, because a different engine's server may need the memory."""
        self.close()

    def close(self) -> None:
        server = self._started
        self._started = self._turn = self._warm = None
        if server is not None and server.process is not None:
            server.process.end()

    def _server_of(self, arm: ArmPlan, block: int) -> ServerT:
        """Return the server for an arm in a block: the running one, or a new one."""
        turn = (arm.id, block)
        if self._started is not None and self._turn == turn:
            return self._started
        self.close()
        self._started = self._start(arm)
        self._turn = turn
        return self._started

    def _ready(self, request: TrialRequest) -> ServerT:
        """Return the server for a request; a fresh server is warmed up first."""
        arm = self._arms[request.arm]
        server = self._server_of(arm, request.block)
        if server.process is not None and self._warm != self._turn:
            self._warm_up(server, arm)
        return server

    def _warm_up(self, server: ServerT, arm: ArmPlan) -> Generation:
        """Warm up a server with one generation; if that fails, end the server."""
        try:
            request = self._request(arm, WARM_UP_TEXT, WARM_UP_OUTPUT_TOKENS)
            generation = self._asked(server, replace(request, warm_up=True))
        except FailedError:
            self.rest()
            raise
        self._warm = self._turn
        return generation

    def _asked(self, server: ServerT, prompt: ServerRequest) -> Generation:
        try:
            return self._ask(server, prompt)
        except ServerError as error:
            raise FailedError(self._failure(server, error)) from error

    def _answer(self, server: ServerT, request: TrialRequest, *, alone: bool) -> Generation:
        arm = self._arms[request.arm]
        text, limit = self._texts[request.prompt], request.max_output_tokens
        settings = self._campaign.settings
        drawn: Sampling | None = None
        if settings.temperature is not None:
            seed = settings.sampling_seed + request.block
            drawn = Sampling(temperature=settings.temperature, seed=seed)
        prompt = replace(self._request(arm, text, limit), alone=alone, sampling=drawn)
        try:
            generation = self._asked(server, prompt)
        except FailedError as error:
            raise FailedError(error.failure.given_up_after(server.client.limit_s)) from error
        if drawn is not None:  # sampled texts are not compared
            return generation
        if arm.role == "baseline" and alone and request.prompt not in self._references:
            self._references.add(request.prompt)
            with suppress(ServerError):
                margins = self._margins(server, prompt, generation)
                return replace(generation, margins=margins)
        return generation

    def _request(self, arm: ArmPlan, text: str, limit: int) -> ServerRequest:
        thinking = self._campaign.settings.thinking
        draft = self._draft(arm)
        return ServerRequest(arm=arm, text=text, limit=limit, draft=draft, thinking=thinking)

    def _draft(self, arm: ArmPlan) -> str | None:
        draft = arm.method.draft
        return next((d.model.name for d in self._campaign.drafts if d.model.id == draft), None)

    def _failure(self, server: ServerT, error: ServerError) -> Failure:
        """Return the failure behind an error; if the server died, its log tells the reason.

        The next request gets a fresh server, unless the current server only refused a request.
        """
        failure = failure_of(error, server.client, offers=self._offers(server))
        if server.process and isinstance(error, ServerSilentError) and not error.late:
            failure = server.process.death_soon() or failure
        if not isinstance(error, ServerRefusedError) or error.status >= _SERVER_ERROR:
            self._turn = None
        return replace(failure, detail=without_key(failure.detail, server.client.key))


def run_concurrently(
    requests: Sequence[TrialRequest],
    concurrency: int,
    answer: Callable[[TrialRequest], Generation | Failure],
) -> Iterator[FinishedRequest]:
    """Yield each request with its answer, as soon as the answer ends.

    `answer` is called in threads, at most `concurrency` at a time and in the order of `requests`.
    If the caller stops early, no more requests start, and requests in flight are not awaited.
    """
    began = time.perf_counter()

    def run(request: TrialRequest) -> FinishedRequest:
        started_ms = (time.perf_counter() - began) * 1000
        return FinishedRequest(request=request, started_ms=started_ms, result=answer(request))

    pool = ThreadPoolExecutor(max_workers=concurrency)
    try:
        running = {pool.submit(run, request) for request in requests}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def failure_of(error: ServerError, client: Client, *, offers: str) -> Failure:
    """Turn a client's error into a failure of the server or of the request, or a timeout."""
    match error:
        case ServerSilentError(late=True):
            return Failure(reason="timed-out", detail=str(error))
        case ServerSilentError() if isinstance(error.__cause__, ConnectionRefusedError):
            detail = f"nothing listens at {client.address}; start the server, or correct its URL"
            return Failure(reason="crashed", detail=detail)
        case ServerSilentError() if not client.listens():
            return Failure(reason="crashed", detail=f"the server ended: {error}; start it again")
        case ServerRefusedError():
            detail = str(error) + _advice(error.status, client, offers)
            return Failure(reason=reason_in(str(error), "answers") or "bad-answer", detail=detail)
        case _:
            return Failure(reason="bad-answer", detail=str(error))


def _advice(status: int, client: Client, offers: str) -> str:
    if status in _NO_KEY:
        if client.key is None:
            return f"; the server requires a key: set {KEY_VARIABLE} (no other variable is sent)"
        return f"; the server refused the key in {KEY_VARIABLE}"
    if status == _NOT_FOUND:
        return offers
    if status == _TOO_MANY:
        return "; the server limits the rate of requests: raise its limit, or lower --concurrency"
    return "; see the server's log for details" if status >= _SERVER_ERROR else ""
