"""Measure through any llama-server binary: a fresh server for every arm in every block.

Most machines have room for only one target, so each arm runs alone for one pass over the prompts.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from harness.campaign.context_padding import rendered
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import MachineError
from harness.runners.base import EngineReport, FailedError, Generation, PreparedArm, StepTimes
from harness.runners.device_placement import placement_of
from harness.runners.failures import failure_in_log, reason_in
from harness.runners.http.client import Client, ServerAddress, ServerError
from harness.runners.http.process import HOST
from harness.runners.http.session import Server, ServerRequest, ServerSession
from harness.runners.llama_server import completion
from harness.runners.llama_server.binary import find
from harness.runners.llama_server.launch import start, without_places
from harness.runners.llama_server.server_log import in_use, resident_layers
from harness.runners.options import ConnectionOptions
from harness.runners.probes import INSTEAD


class LlamaServerSession(ServerSession[Server]):
    """One server at a time, started with the arguments of the current arm."""

    def __init__(self, options: ConnectionOptions, campaign: Campaign) -> None:
        """Find the binary. Raises `HarnessError` if no binary is found."""
        super().__init__(campaign)
        self._binary = find(options.binary)
        self._options = options
        self._prompts: dict[str, tuple[int, ...]] = {}

    def report(self) -> EngineReport:
        return self._binary.report(self._campaign, self._options.backend)

    def _prepared(self, arm: ArmPlan) -> PreparedArm:
        """Prepare the arm's server, and read the placement of layers and the memory use."""
        prepared = super()._prepared(arm)
        log = self._server_of(arm, 0).log()
        target, draft = resident_layers(log)
        return replace(
            prepared,
            placement=placement_of(arm, self._campaign, target_layers=target, draft_layers=draft),
            peak_memory=in_use(log),
        )

    def step_times(self, widths: Sequence[int]) -> StepTimes:
        """Time a step of each width after the first prompt, without speculation."""
        arm = next(each for each in self._campaign.arms if each.role == "baseline")
        request = self._request(arm, self._campaign.suite.prompts[0].text, 1)
        try:
            server = self._server_of(arm, 0)
            prompt = self._tokens(server, request)
            return StepTimes(
                context_tokens=len(prompt), ms=completion.step_times(server.client, prompt, widths)
            )
        except FailedError as error:
            raise MachineError(f"the server did not start: {error}") from error
        except ServerError as error:
            raise MachineError(f"single steps cannot be timed: {error}; {INSTEAD}") from error

    def _start(self, arm: ArmPlan) -> Server:
        began = time.perf_counter()
        limit_s = self._options.answer_limit_s
        process = start(arm, self._campaign, self._binary, limit_s=limit_s)
        log = process.log()
        # Only the log shows that a draft is incompatible: it is loaded but never used.
        if arm.drafts and reason_in(log) == "vocabulary-mismatch":
            process.end()
            what = "the draft does not fit"
            raise FailedError(failure_in_log(log, otherwise="vocabulary-mismatch", what=what))
        address = ServerAddress(host=HOST, port=process.port)
        return Server(
            client=Client(address=address, limit_s=limit_s),
            process=process,
            load_s=time.perf_counter() - began,
            argv=without_places(process.arguments),
        )

    def _ask(self, server: Server, prompt: ServerRequest) -> Generation:
        return completion.generate(
            server.client,
            self._tokens(server, prompt),
            prompt,
            counts=prompt.alone and "--metrics" in self._binary.abilities.flags,
        )

    def _margins(
        self, server: Server, prompt: ServerRequest, known: Generation
    ) -> tuple[float, ...] | None:
        return completion.margins_of(server.client, self._tokens(server, prompt), known)

    def _tokens(self, server: Server, prompt: ServerRequest) -> tuple[int, ...]:
        """Return the prompt's token ids, rendered once; every arm gets the same ids."""
        text = prompt.text
        if text not in self._prompts:

            def tokens_of(each: str) -> tuple[int, ...]:
                whole = completion.rendered(server.client, each, thinking=prompt.thinking)
                return completion.tokenized(server.client, whole)

            depth = None if prompt.warm_up else self._campaign.settings.context_depth_tokens
            self._prompts[text] = rendered(text, tokens_of, depth=depth)
        return self._prompts[text]
