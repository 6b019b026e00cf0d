"""What does one exchange with a running server give? A generation, timed by the server itself."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.runners.base import Generation
from harness.runners.server.answer import read_completion
from harness.runners.server.counters import read_counters
from harness.runners.server.requests import completion_request, margins_in, rendered, tokenized
from harness.runners.server.totals import totals
from harness.tokens import token_digest

if TYPE_CHECKING:
    from harness.runners.server.client import Client
    from harness.runners.server.counters import Counters


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Questions to one server. Every method raises what the client raises, or `BadAnswerError`.

    `counts` says whether the server has a metrics page.
    """

    client: Client
    counts: bool

    def tokens(self, text: str) -> tuple[int, ...]:
        """The token ids of a text as the user's turn under the model's chat template."""
        return tokenized(self.client, rendered(self.client, text))

    def generate(
        self, prompt: tuple[int, ...], limit: int, *, speculates: bool, alone: bool = True
    ) -> Generation:
        """One generation. Only one that is `alone` can be checked with the metrics page."""
        before = self._counters() if alone and speculates else None
        began = time.perf_counter()
        answer = self.client.post("/completion", completion_request(prompt, limit))
        wall_ms = (time.perf_counter() - began) * 1000
        done = read_completion(answer)
        after = self._counters() if before is not None else None
        counted = after.since(before) if before is not None and after is not None else None
        return Generation(
            tokens=done.tokens,
            counted_tokens=done.output_tokens,
            margins=None,
            prompt_tokens=len(prompt),
            prompt_sha256=token_digest(prompt),
            prompt_ms=done.prompt_ms,
            wall_ms=wall_ms,
            rounds=totals(done, speculates=speculates, counted=counted),
            finish=done.finish,
        )

    def with_margins(self, prompt: tuple[int, ...], known: Generation) -> Generation:
        """The generation with how sure the model was of each token, from a second, untimed answer.

        Probabilities cost time on the server, so the timed answer goes without them. There are
        none when the second answer differs: then the baseline does not repeat itself.
        """
        request = completion_request(prompt, known.output_tokens, probabilities=2)
        answer = self.client.post("/completion", request)
        same = read_completion(answer).tokens == known.tokens
        return replace(known, margins=margins_in(answer) if same else None)

    def _counters(self) -> Counters | None:
        """What the page counted so far; `None` without a page that counts speculation."""
        if not self.counts:
            return None
        return read_counters(self.client.get("/metrics"))
