"""How does a llama-server answer a campaign's requests? A fresh one for every arm in every block.

Servers remember: prompts, and with some n-gram methods all earlier answers. What one arm or one
block has seen must not help the next, and only one target fits into most memories, so each arm
has the machine to itself for one pass over the prompts.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.model import layers_of
from harness.runners.base import EngineReport, Failure, Generation, PreparedArm, Totals
from harness.runners.server import log, process
from harness.runners.server.answer import BadAnswerError, read_completion
from harness.runners.server.arguments import arguments
from harness.runners.server.client import Client, ServerRefusedError, ServerSilentError
from harness.runners.server.counters import Counters, read_counters
from harness.runners.server.requests import completion_request, margins_in, rendered, tokenized
from harness.tokens import token_digest
from schemas.submission import DeviceMemory, Placement

if TYPE_CHECKING:
    from harness.model import ArmPlan, Campaign
    from harness.runners.base import Request
    from harness.runners.server.answer import Completion
    from harness.runners.server.binary import Binary
    from harness.runners.server.process import ServerProcess
    from schemas.submission import Probes

WARM_UP_OUTPUT_TOKENS = 24
# No prompt of a suite: a method that remembers must not have seen one before its turn.
WARM_UP_TEXT = "Name the seven days of the week, then the twelve months, one per line."


class LlamaServerSession:
    """The server of the arm that has its turn. Everything that fails is a value."""

    def __init__(
        self, campaign: Campaign, binary: Binary, *, startup_limit_s: float, answer_limit_s: float
    ) -> None:
        self._campaign = campaign
        self._binary = binary
        self._startup_limit_s = startup_limit_s
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
        began = time.perf_counter()
        failure = self._start(self._arms[arm])
        if failure is not None or self._server is None:
            return failure or Failure(reason="load-failed", detail="the server did not start")
        load_s = time.perf_counter() - began
        warm_up = self._warm_up(self._arms[arm])
        if isinstance(warm_up, Failure):
            self._end()
            return warm_up
        self._turn = (arm, 0)
        text = self._server.log()
        return PreparedArm(
            load_s=load_s,
            warm_up=warm_up,
            placement=self._placement(self._arms[arm], text),
            peak_memory=device_memory(text),
            argv=self._binary.shown_arguments,
        )

    def generate(self, request: Request) -> Generation | Failure:
        """Run one generation on the server of this arm and block."""
        arm = self._arms[request.arm]
        if self._turn != (request.arm, request.block):
            failure = self._start(arm) or self._failed_warm_up(arm)
            if failure is not None:
                self._end()
                return failure
            self._turn = (request.arm, request.block)
        return self._answer(arm, request)

    def probe(self) -> Probes | None:
        """A server does not time single steps."""
        return None

    def close(self) -> None:
        """End the server that has its turn."""
        self._end()

    def _start(self, arm: ArmPlan) -> Failure | None:
        self._end()
        port = process.free_port()
        argv = arguments(
            arm,
            self._campaign,
            abilities=self._binary.abilities,
            port=port,
            threads=self._binary.threads(self._campaign),
        )
        if isinstance(argv, Failure):
            return argv
        self._binary.remember(argv)
        try:
            self._server = process.start(self._binary.path, argv, port=port)
        except OSError as error:
            return Failure(reason="load-failed", detail=f"{self._binary.path.name}: {error}")
        return self._server.wait_until_ready(self._startup_limit_s) or self._speaks(arm)

    def _speaks(self, arm: ArmPlan) -> Failure | None:
        """Whether the draft was taken; one that does not fit is a line in the log and no more."""
        if arm.role != "speculation" or self._server is None:
            return None
        text = self._server.log()
        if log.reason_in(text) == "vocabulary-mismatch":
            return log.failure(text, otherwise="vocabulary-mismatch", what="the draft was refused")
        return None

    def _end(self) -> None:
        self._turn = None
        if self._server is not None:
            self._server.end()
            self._server = None

    def _failed_warm_up(self, arm: ArmPlan) -> Failure | None:
        done = self._warm_up(arm)
        return done if isinstance(done, Failure) else None

    def _warm_up(self, arm: ArmPlan) -> Generation | Failure:
        try:
            prompt = self._tokens(WARM_UP_TEXT)
            return self._timed(arm, prompt, WARM_UP_OUTPUT_TOKENS)
        except (ServerSilentError, ServerRefusedError, BadAnswerError) as error:
            return self._failure(error)

    def _answer(self, arm: ArmPlan, request: Request) -> Generation | Failure:
        limit = request.max_output_tokens
        try:
            prompt = self._prompt(request.prompt)
            generation = self._timed(arm, prompt, limit)
            if arm.role == "baseline" and request.prompt not in self._references:
                generation = replace(generation, margins=self._margins(prompt, generation))
                self._references.add(request.prompt)
        except (ServerSilentError, ServerRefusedError, BadAnswerError) as error:
            return self._failure(error)
        return generation

    def _timed(self, arm: ArmPlan, prompt: tuple[int, ...], limit: int) -> Generation:
        before = self._counters()
        began = time.perf_counter()
        answer = self._client().post("/completion", completion_request(prompt, limit))
        wall_ms = (time.perf_counter() - began) * 1000
        done = read_completion(answer)
        after = self._counters()
        return Generation(
            tokens=done.tokens,
            margins=None,
            prompt_tokens=len(prompt),
            prompt_sha256=token_digest(prompt),
            prompt_ms=done.prompt_ms,
            wall_ms=wall_ms,
            rounds=totals(
                done,
                speculates=arm.role == "speculation",
                counted=after.since(before) if before and after else None,
            ),
            finish=done.finish,
        )

    def _margins(self, prompt: tuple[int, ...], known: Generation) -> tuple[float, ...] | None:
        """How sure the plain model was of each token, from a second, untimed answer.

        Probabilities cost time on the server, so the timed answer goes without them. `None` when
        the second answer differs: then the baseline does not repeat itself.
        """
        request = completion_request(prompt, known.output_tokens, probabilities=2)
        answer = self._client().post("/completion", request)
        return margins_in(answer) if read_completion(answer).tokens == known.tokens else None

    def _counters(self) -> Counters | None:
        if "--metrics" not in self._binary.abilities.flags:
            return None
        return read_counters(self._client().get("/metrics"))

    def _prompt(self, name: str) -> tuple[int, ...]:
        """The prompt's token ids, rendered once; every arm gets the same."""
        if name not in self._prompts:
            self._prompts[name] = self._tokens(self._texts[name])
        return self._prompts[name]

    def _tokens(self, text: str) -> tuple[int, ...]:
        client = self._client()
        return tokenized(client, rendered(client, text))

    def _client(self) -> Client:
        if self._server is None:
            message = "no server runs"
            raise ServerSilentError(message)
        return Client(host=process.HOST, port=self._server.port, limit_s=self._answer_limit_s)

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


def totals(done: Completion, *, speculates: bool, counted: Counters | None) -> Totals:
    """The rounds of an answer, from its own counters; the histogram from the server's metrics.

    An answer that does not speak of drafts drafted nothing. Each pass of the target yields one
    token beside the accepted ones, and the first token came from the prompt.
    """
    accepted = (done.accepted or 0) if speculates else 0
    rounds = len(done.tokens) - 1 - accepted
    histogram: tuple[int, ...] | None = None if accepted else (rounds,)
    if speculates and counted is not None and counted.accepted == accepted:
        histogram = counted.accepted_histogram(rounds - counted.rounds)
    return Totals(
        decode_ms=done.decode_ms,
        rounds=rounds,
        drafted=(done.drafted or 0) if speculates else 0,
        accepted=accepted,
        accepted_histogram=histogram,
    )


def device_memory(text: str) -> tuple[DeviceMemory, ...] | None:
    """Memory that the server reserved on each device, from its log; `None` if it does not say."""
    found = log.buffers_mib(text)
    return (
        tuple(
            DeviceMemory(device=name, peak_mib=round(size)) for name, size in sorted(found.items())
        )
        or None
    )
