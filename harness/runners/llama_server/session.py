"""How does a llama-server answer a campaign's requests? A fresh one for every arm in every block.

Servers remember: prompts, and with some n-gram methods all earlier answers. What one arm or one
block has seen must not help the next, and only one target fits into most memories, so each arm
has the machine to itself for one pass over the prompts.
"""

import time
from collections.abc import Iterator, Sequence

from harness.campaign.model import ArmPlan, Campaign, layers_of
from harness.errors import BadInputError
from harness.runners.base import (
    EngineReport,
    Failure,
    Finished,
    Generation,
    PreparedArm,
    Request,
    Session,
    together,
)
from harness.runners.http.client import Client, ServerRefusedError, ServerSilentError
from harness.runners.http.process import HOST, ServerProcess
from harness.runners.llama_server import log
from harness.runners.llama_server.binary import Binary, find
from harness.runners.llama_server.exchange import BadAnswerError, Exchange
from harness.runners.llama_server.launch import Launcher
from harness.runners.llama_server.log import in_use
from schemas.submission import Placement, Probes

WARM_UP_OUTPUT_TOKENS = 24
# No prompt of a suite: a method that remembers must not have seen one before its turn.
WARM_UP_TEXT = "Name the seven days of the week, then the twelve months, one per line."


class LlamaServerSession:
    """The server of the arm that has its turn. Everything that fails is a value."""

    def __init__(
        self, campaign: Campaign, binary: Binary, launcher: Launcher, *, answer_limit_s: float
    ) -> None:
        self._campaign = campaign
        self._binary = binary
        self._launcher = launcher
        self._answer_limit_s = answer_limit_s
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._texts = {prompt.id: prompt.text for prompt in campaign.suite.prompts}
        self._prompts: dict[str, tuple[int, ...]] = {}
        self._references: set[str] = set()
        self._server: ServerProcess | None = None
        self._turn: tuple[str, int] | None = None

    def report(self) -> EngineReport:
        """What the binary says about itself."""
        return self._binary.report(self._campaign)

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Start the arm's server once, and discard one generation with speculation on."""
        plan = self._arms[arm]
        self.rest()
        free_mib = self._binary.free_mib()
        began = time.perf_counter()
        failure = self._start(plan)
        if failure is not None or self._server is None:
            return failure or Failure(reason="load-failed", detail="the server did not start")
        load_s = time.perf_counter() - began
        warm_up = self._warm_up(plan)
        if isinstance(warm_up, Failure):
            self.rest()
            return warm_up
        self._turn = (arm, 0)
        text = self._server.log()
        return PreparedArm(
            load_s=load_s,
            warm_up=warm_up,
            placement=self._placement(plan, text),
            peak_memory=in_use(text, before_mib=free_mib, after_mib=self._binary.free_mib()),
            argv=self._launcher.shown(plan),
        )

    def generate(self, request: Request) -> Generation | Failure:
        """Run one generation on the server of this arm and block."""
        return self._ready(request) or self._answer(request)

    def generate_together(
        self, requests: Sequence[Request], concurrency: int
    ) -> Iterator[Finished]:
        """Run generations of one arm and block, so many in flight; one that fails fails alone."""

        def answer(request: Request) -> Generation | Failure:
            return failure or self._answer(request, alone=False)

        failure = self._ready(requests[0])
        yield from together(requests, concurrency, answer)

    def probe(self) -> Probes | None:
        """A server does not time single steps."""
        return None

    def rest(self) -> None:
        """End the server that had its turn: the memory is needed for somebody else's."""
        self._turn = None
        if self._server is not None:
            self._server.end()
            self._server = None

    def close(self) -> None:
        """End the server that has its turn."""
        self.rest()

    def _ready(self, request: Request) -> Failure | None:
        """Let the request's arm have its turn, if it has not; why it cannot."""
        if self._turn == (request.arm, request.block):
            return None
        arm = self._arms[request.arm]
        failure = self._start(arm)
        if failure is None:
            warm_up = self._warm_up(arm)
            failure = warm_up if isinstance(warm_up, Failure) else None
        if failure is not None:
            self.rest()
            return failure
        self._turn = (request.arm, request.block)
        return None

    def _start(self, arm: ArmPlan) -> Failure | None:
        self.rest()
        started = self._launcher.start(arm)
        if isinstance(started, Failure):
            return started
        self._server = started
        return self._speaks(arm)

    def _speaks(self, arm: ArmPlan) -> Failure | None:
        """Whether the draft was taken; one that does not fit is a line in the log and no more."""
        if arm.role != "speculation" or self._server is None:
            return None
        text = self._server.log()
        if log.reason_in(text) == "vocabulary-mismatch":
            return log.failure(text, otherwise="vocabulary-mismatch", what="the draft does not fit")
        return None

    def _warm_up(self, arm: ArmPlan) -> Generation | Failure:
        try:
            exchange = self._exchange()
            prompt = exchange.tokens(WARM_UP_TEXT)
            return exchange.generate(prompt, WARM_UP_OUTPUT_TOKENS, speculates=_speculates(arm))
        except (ServerSilentError, ServerRefusedError, BadAnswerError) as error:
            return self._failure(error)

    def _answer(self, request: Request, *, alone: bool = True) -> Generation | Failure:
        arm = self._arms[request.arm]
        try:
            exchange = self._exchange()
            prompt = self._prompt(exchange, request.prompt)
            generation = exchange.generate(
                prompt, request.max_output_tokens, speculates=_speculates(arm), alone=alone
            )
            if arm.role == "baseline" and alone and request.prompt not in self._references:
                generation = exchange.with_margins(prompt, generation)
                self._references.add(request.prompt)
        except (ServerSilentError, ServerRefusedError, BadAnswerError) as error:
            return self._failure(error)
        return generation

    def _exchange(self) -> Exchange:
        """Questions to the server that has its turn. Raises `ServerSilentError` without one."""
        if self._server is None:
            message = "no server runs"
            raise ServerSilentError(message)
        client = Client(host=HOST, port=self._server.port, limit_s=self._answer_limit_s)
        return Exchange(client=client, counts="--metrics" in self._binary.abilities.flags)

    def _prompt(self, exchange: Exchange, name: str) -> tuple[int, ...]:
        """The prompt's token ids, rendered once; every arm gets the same."""
        if name not in self._prompts:
            self._prompts[name] = exchange.tokens(self._texts[name])
        return self._prompts[name]

    def _failure(self, error: Exception) -> Failure:
        """What an exchange that went wrong means; a dead server says it itself."""
        server, self._turn = self._server, None
        match error:
            case ServerSilentError(late=True):
                return Failure(reason="timed-out", detail=str(error))
            case ServerSilentError() if server is not None:
                return server.death_soon() or Failure(reason="bad-answer", detail=str(error))
            case _:
                return Failure(reason="bad-answer", detail=str(error))

    def _placement(self, arm: ArmPlan, text: str) -> Placement:
        settings, resident = self._campaign.settings, log.resident_layers(text)
        drafts = getattr(arm.method, "draft", None) is not None
        return Placement(
            target_gpu_layers_requested=layers_of(arm, settings),
            target_gpu_layers_resident=resident.target,
            draft_gpu_layers_requested=settings.draft_gpu_layers if drafts else None,
            draft_gpu_layers_resident=resident.draft if drafts else None,
        )


def _speculates(arm: ArmPlan) -> bool:
    return arm.role == "speculation"


STARTUP_LIMIT_S = 300.0
ANSWER_LIMIT_S = 900.0


class LlamaServer:
    """Measures through any llama-server binary: one fresh server for each arm and block."""

    def __init__(
        self,
        *,
        binary: str | None = None,
        startup_limit_s: float = STARTUP_LIMIT_S,
        answer_limit_s: float = ANSWER_LIMIT_S,
    ) -> None:
        self._binary = binary
        self._startup_limit_s = startup_limit_s
        self._answer_limit_s = answer_limit_s

    def open(self, campaign: Campaign) -> Session:
        """Ask the binary what it can do. Raises `HarnessError` when there is none."""
        if campaign.settings.teacher_forced:
            message = "a server cannot be fed the baseline's text; leave out --teacher-forced"
            raise BadInputError(message)
        binary = find(self._binary)
        launcher = Launcher(campaign=campaign, binary=binary, startup_limit_s=self._startup_limit_s)
        return LlamaServerSession(campaign, binary, launcher, answer_limit_s=self._answer_limit_s)
