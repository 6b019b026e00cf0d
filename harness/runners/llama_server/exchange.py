"""What does one exchange with a running server give? A generation, timed by the server itself."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harness.runners.base import Generation, Totals
from harness.runners.http.client import Client
from harness.runners.http.counters import Counters, read_counters
from schemas.canonical import token_digest
from schemas.codec import Json


class BadAnswerError(Exception):
    """An answer that lacks what it must have, or contradicts itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer: token ids, and the engine's own counters and times.

    Builds of early 2026 leave the last tokens out of `tokens` when a round ends at the limit, but
    count them and their time: `output_tokens` is how many there were. `drafted` and `accepted` are
    `None` where the answer does not speak of drafts: nothing was drafted.
    """

    tokens: tuple[int, ...]
    output_tokens: int
    prompt_tokens: int
    prompt_ms: float
    decode_ms: float
    drafted: int | None
    accepted: int | None
    finish: Literal["length", "stop"]


def read_completion(answer: Json) -> Completion:
    """The completion in an answer. Raises `BadAnswerError` saying what is missing or wrong."""
    if not isinstance(answer, dict):
        message = "the answer is no JSON object"
        raise BadAnswerError(message)
    timings = answer.get("timings")
    if not isinstance(timings, dict):
        message = "the answer has no timings"
        raise BadAnswerError(message)
    tokens = _tokens(answer)
    accepted = _count(timings, "draft_n_accepted") if "draft_n_accepted" in timings else None
    return Completion(
        tokens=tokens,
        output_tokens=_stated(timings, tokens, accepted or 0),
        prompt_tokens=_count(answer, "tokens_evaluated"),
        prompt_ms=_ms(timings, "prompt_ms"),
        decode_ms=_ms(timings, "predicted_ms"),
        drafted=_count(timings, "draft_n") if "draft_n" in timings else None,
        accepted=accepted,
        finish="length" if _stopped_by_length(answer) else "stop",
    )


def _tokens(answer: dict[str, Json]) -> tuple[int, ...]:
    found = answer.get("tokens")
    if not isinstance(found, list) or not found:
        message = "the answer has no tokens; this server may not know return_tokens"
        raise BadAnswerError(message)
    return tuple(item for item in found if isinstance(item, int))


def _stated(timings: dict[str, Json], tokens: tuple[int, ...], accepted: int) -> int:
    """How many tokens there were: as many as are listed, or more by some that were accepted."""
    stated = _count(timings, "predicted_n")
    if not len(tokens) <= stated <= len(tokens) + accepted:
        message = f"the answer has {len(tokens)} tokens, but its timings speak of {stated}"
        raise BadAnswerError(message)
    return stated


def _stopped_by_length(answer: dict[str, Json]) -> bool:
    """Whether the limit ended it; builds before 2025 said so in a field of its own."""
    return answer.get("stop_type") == "limit" or answer.get("stopped_limit") is True


def _count(values: dict[str, Json], name: str) -> int:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{name} is {value!r}, not a count"
        raise BadAnswerError(message)
    return value


def _ms(values: dict[str, Json], name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        message = f"{name} is {value!r}, not a time"
        raise BadAnswerError(message)
    return float(value)


def rendered(client: Client, user_text: str) -> str:
    """A conversation with one user message under the model's chat template."""
    answer = client.post("/apply-template", {"messages": [{"role": "user", "content": user_text}]})
    prompt = answer.get("prompt") if isinstance(answer, dict) else None
    if not isinstance(prompt, str):
        message = "the server rendered no prompt"
        raise BadAnswerError(message)
    return prompt


def tokenized(client: Client, text: str) -> tuple[int, ...]:
    """Token ids of a text with its special tokens."""
    answer = client.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})
    tokens = answer.get("tokens") if isinstance(answer, dict) else None
    if not isinstance(tokens, list) or not tokens:
        message = "the server made no tokens of the prompt"
        raise BadAnswerError(message)
    return tuple(item for item in tokens if isinstance(item, int))


def completion_request(
    prompt: Sequence[int], max_output_tokens: int, *, probabilities: int = 0
) -> Json:
    """The body of a greedy request whose tokens come back as ids."""
    body: dict[str, Json] = {
        "prompt": list(prompt),
        "n_predict": max_output_tokens,
        "temperature": 0,
        "top_k": 1,
        "samplers": ["top_k"],
        "cache_prompt": False,
        "return_tokens": True,
    }
    if probabilities:
        body["n_probs"] = probabilities
    return body


def margins_in(answer: Json) -> tuple[float, ...] | None:
    """Log probability of each token minus the runner-up's, which is the difference of logits.

    `None` where the answer does not have two candidates for every token.
    """
    listed = answer.get("completion_probabilities") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    margins = [_margin(item) for item in listed]
    known = tuple(margin for margin in margins if margin is not None)
    return known if len(known) == len(margins) else None


def _margin(item: Json) -> float | None:
    top = item.get("top_logprobs") if isinstance(item, dict) else None
    if not isinstance(top, list):
        return None
    said = [entry.get("logprob") for entry in top[:2] if isinstance(entry, dict)]
    values = [float(value) for value in said if isinstance(value, int | float)]
    return values[0] - values[1] if len(values) == len(said) == _TWO else None


_TWO = 2


def totals(done: Completion, *, speculates: bool, counted: Counters | None) -> Totals:
    """The rounds of an answer; the histogram from `counted`, the server's metrics meanwhile.

    An answer that does not speak of drafts drafted nothing. Each pass of the target yields one
    token beside the accepted ones, and the first token came from the prompt. Where the page counted
    something else than the answer, the answer holds, and what the page counted is kept beside it.
    """
    drafted = (done.drafted or 0) if speculates else 0
    accepted = (done.accepted or 0) if speculates else 0
    rounds = done.output_tokens - 1 - accepted
    told = Totals(
        decode_ms=done.decode_ms,
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        accepted_histogram=None if accepted else (rounds,),
    )
    if not speculates or counted is None:
        return told
    if (counted.drafted, counted.accepted) != (drafted, accepted):
        return replace(told, metrics_drafted=counted.drafted, metrics_accepted=counted.accepted)
    return replace(told, accepted_histogram=counted.accepted_histogram(rounds - counted.rounds))


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
