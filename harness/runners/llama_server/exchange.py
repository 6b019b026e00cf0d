"""Ask a llama-server for one generation, which it times and counts itself."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.campaign.conversation import messages
from harness.models.thinking import arguments
from harness.runners.base import Generation
from harness.runners.http.client import Client
from harness.runners.http.counters import Counted, Counters, agree, read_counters, totals
from harness.runners.http.session import Sampling, ServerRequest
from harness.runners.http.values import BadAnswerError, count, margins, milliseconds, whole_numbers
from schemas.codec import Json, token_digest

_GREEDY: dict[str, Json] = {"temperature": 0, "top_k": 1, "samplers": ["top_k"]}


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
        message = "the answer is not a JSON object"
        raise BadAnswerError(message)
    timings = answer.get("timings")
    if not isinstance(timings, dict):
        message = "the answer has no timings"
        raise BadAnswerError(message)
    tokens = _tokens(answer)
    accepted = _count(timings, "draft_n_accepted") if "draft_n_accepted" in timings else None
    # Builds before 2025 state this in a separate field.
    by_length = answer.get("stop_type") == "limit" or answer.get("stopped_limit") is True
    return Completion(
        tokens=tokens,
        output_tokens=_stated(timings, tokens, accepted or 0),
        prompt_tokens=_count(answer, "tokens_evaluated"),
        prompt_ms=_ms(timings, "prompt_ms"),
        decode_ms=_ms(timings, "predicted_ms"),
        drafted=_count(timings, "draft_n") if "draft_n" in timings else None,
        accepted=accepted,
        finish="length" if by_length else "stop",
    )


def _tokens(answer: dict[str, Json]) -> tuple[int, ...]:
    found = whole_numbers(answer.get("tokens"))
    if found is None:
        message = "the answer has no tokens; this server may not know return_tokens"
        raise BadAnswerError(message)
    return found


def _stated(timings: dict[str, Json], tokens: tuple[int, ...], accepted: int) -> int:
    """The number of output tokens: those that are listed, plus accepted ones that are not."""
    stated = _count(timings, "predicted_n")
    if not len(tokens) <= stated <= len(tokens) + accepted:
        message = f"the answer has {len(tokens)} tokens, but its timings speak of {stated}"
        raise BadAnswerError(message)
    return stated


def _count(values: dict[str, Json], name: str) -> int:
    found = count(values, name)
    if found is None:
        message = f"{name} is {values.get(name)!r}, not a count"
        raise BadAnswerError(message)
    return found


def _ms(values: dict[str, Json], name: str) -> float:
    found = milliseconds(values, name)
    if found is None:
        message = f"{name} is {values.get(name)!r}, not a time"
        raise BadAnswerError(message)
    return found


def rendered(client: Client, text: str, *, thinking: bool = False) -> str:
    """The conversation of a prompt under the model's chat template."""
    body: Json = {
        "messages": [{**each} for each in messages(text)],
        "chat_template_kwargs": {**arguments(thinking=thinking)},
    }
    answer = client.post("/apply-template", body)
    prompt = answer.get("prompt") if isinstance(answer, dict) else None
    if not isinstance(prompt, str):
        message = "the server rendered no prompt"
        raise BadAnswerError(message)
    return prompt


def require_switch(client: Client) -> None:
    """Raise `BadAnswerError` where the server ignores the template's switch for thinking.

    Builds before 2025 do not know `chat_template_kwargs`, and a model would always think.
    """
    with_thoughts, without = (rendered(client, "", thinking=each) for each in (True, False))
    if with_thoughts == without:
        message = (
            "this llama-server cannot switch the model's thinking off; take a newer build, or "
            "measure with --thinking"
        )
        raise BadAnswerError(message)


def tokenized(client: Client, text: str) -> tuple[int, ...]:
    """Token ids of a text with its special tokens."""
    answer = client.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})
    tokens = whole_numbers(answer.get("tokens")) if isinstance(answer, dict) else None
    if tokens is None:
        message = "the server made no tokens of the prompt"
        raise BadAnswerError(message)
    return tokens


def completion_request(
    prompt: Sequence[int],
    max_output_tokens: int,
    *,
    probabilities: int = 0,
    sampling: Sampling | None = None,
    reread: bool = True,
) -> Json:
    """The body of a request whose tokens come back as ids; a greedy one without `sampling`.

    Without `reread` the server may reuse its cached state of the prompt.
    """
    body: dict[str, Json] = {
        "prompt": list(prompt),
        "n_predict": max_output_tokens,
        **(_GREEDY if sampling is None else _drawn(sampling)),
        "cache_prompt": not reread,
        "return_tokens": True,
    }
    if probabilities:
        body["n_probs"] = probabilities
    return body


def _drawn(sampling: Sampling) -> dict[str, Json]:
    """Sampling by temperature alone, with everything switched off that cuts probabilities off."""
    values: dict[str, Json] = {"temperature": sampling.temperature, "seed": sampling.seed}
    return {**values, "top_k": 0, "samplers": ["temperature"]}


def margins_in(answer: Json) -> tuple[float, ...] | None:
    """How sure the model was of each token; `None` where a token has no runner-up."""
    listed = answer.get("completion_probabilities") if isinstance(answer, dict) else None
    return margins(listed, tokens=len(listed)) if isinstance(listed, list) else None


def counted_in(done: Completion, *, speculates: bool, page: Counters | None) -> Counted:
    """The drafts of an answer; one that does not speak of drafts drafted nothing.

    What the metrics page counted meanwhile adds the histogram, where it agrees with the answer.
    """
    if not speculates:
        return Counted(drafted=0, accepted=0)
    stated = Counted(drafted=done.drafted or 0, accepted=done.accepted or 0)
    return page.counted() if page is not None and agree(page, stated) else stated


def generate(
    client: Client, tokens: tuple[int, ...], prompt: ServerRequest, *, counts: bool
) -> Generation:
    """One generation. `counts` says whether the metrics page can be read for it.

    Raises what the client raises, or `BadAnswerError`.
    """
    before = _page(client) if prompt.speculates and counts else None
    began = time.perf_counter()
    body = completion_request(tokens, prompt.limit, sampling=prompt.sampling)
    answer = client.post("/completion", body)
    wall_ms = (time.perf_counter() - began) * 1000
    done = read_completion(answer)
    after = _page(client) if before is not None else None
    page = after.since(before) if before is not None and after is not None else None
    return Generation(
        tokens=done.tokens,
        counted_tokens=done.output_tokens,
        margins=None,
        prompt_tokens=len(tokens),
        prompt_sha256=token_digest(tokens),
        prompt_ms=done.prompt_ms,
        wall_ms=wall_ms,
        rounds=totals(
            decode_ms=done.decode_ms,
            output_tokens=done.output_tokens,
            counted=counted_in(done, speculates=prompt.speculates, page=page),
            page=page,
        ),
        finish=done.finish,
    )


def margins_of(
    client: Client, prompt: tuple[int, ...], known: Generation
) -> tuple[float, ...] | None:
    """The margins of a known generation, from a second answer with the same tokens.

    No clock runs, so the prompt is not read again: that would take as long as the first time.
    """
    request = completion_request(prompt, known.output_tokens, probabilities=2, reread=False)
    answer = client.post("/completion", request)
    return margins_in(answer) if read_completion(answer).tokens == known.tokens else None


def _page(client: Client) -> Counters | None:
    return read_counters(client.text("/metrics"))
