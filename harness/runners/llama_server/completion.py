"""Request one generation from a llama-server, which times and counts the generation itself."""

import time
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from harness.campaign.conversation import messages
from harness.campaign.model import ArmPlan
from harness.machine.lenient_json import part
from harness.models.thinking import arguments
from harness.runners.base import Generation
from harness.runners.http import values
from harness.runners.http.client import Client
from harness.runners.http.counted_rounds import (
    Counted,
    Counters,
    agree,
    by_length,
    read_counters,
    totals,
)
from harness.runners.http.session import Sampling, ServerRequest
from schemas.codec import Json, token_digest
from schemas.method import limit

_GREEDY: dict[str, Json] = {"temperature": 0, "top_k": 1, "samplers": ["top_k"]}


class ByDepth(Struct, frozen=True, kw_only=True):
    """The numbers of rounds that drafted, and that accepted, at least `depth` tokens."""

    depth: int
    draft_n: values.Count
    draft_n_accepted: values.Count


class Timings(Struct, frozen=True, kw_only=True):
    """The engine's counts and times; draft counts are omitted if nothing was drafted."""

    prompt_ms: values.Milliseconds
    predicted_ms: values.Milliseconds
    predicted_n: values.Count
    draft_n: values.Count = 0
    draft_n_accepted: values.Count = 0
    draft_by_depth: tuple[ByDepth, ...] = ()


class Completion(Struct, frozen=True, kw_only=True):
    """One answer: token ids, and the engine's counters and times.

    If a round ends at the limit, builds of early 2026 omit the last tokens from `tokens`, but count
    them and their time: `timings.predicted_n` is the full number. Builds before 2025 have
    `stopped_limit` instead of `stop_type`. ik_llama.cpp sends only text.
    """

    timings: Timings
    tokens: tuple[values.TokenId, ...] = ()
    content: str = ""
    stop_type: str | None = None
    stopped_limit: bool = False


def read_completion(answer: Json) -> Completion:
    """Read the completion in an answer. Raises `BadAnswerError` naming missing or wrong data."""
    done = values.read_as(Completion, answer, what="the answer is not a completion")
    listed, stated = len(done.tokens), done.timings.predicted_n
    if not listed and not done.content:
        raise values.BadAnswerError(
            "the answer has no tokens and no text; this server may not support return_tokens"
        )
    if listed and not listed <= stated <= listed + done.timings.draft_n_accepted:
        raise values.BadAnswerError(
            f"the answer has {listed} tokens, but its timings state {stated}"
        )
    return done


class _Rendered(Struct, frozen=True):
    prompt: str


class _Tokenized(Struct, frozen=True):
    tokens: Annotated[tuple[values.TokenId, ...], Meta(min_length=1)]


def rendered(client: Client, text: str, *, thinking: bool = False) -> str:
    """Return a prompt as a conversation, rendered with the model's chat template."""
    body: Json = {
        "messages": [{**each} for each in messages(text)],
        "chat_template_kwargs": {**arguments(thinking=thinking)},
    }
    answer = client.post("/apply-template", body)
    return values.read_as(_Rendered, answer, what="the server did not render the prompt").prompt


def tokenized(client: Client, text: str) -> tuple[int, ...]:
    """Return a text's token ids; special tokens in the text are parsed, and BOS is added."""
    answer = client.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})
    return values.read_as(_Tokenized, answer, what="the server did not tokenize the prompt").tokens


def completion_request(
    prompt: Sequence[int],
    max_output_tokens: int,
    *,
    probabilities: int = 0,
    sampling: Sampling | None = None,
    reread: bool = True,
) -> Json:
    """Return the body of a completion request; decoding is greedy without `sampling`.

    Without `reread` the server may reuse its cached state of the prompt.
    """
    body: dict[str, Json] = {
        "prompt": list(prompt),
        "n_predict": max_output_tokens,
        **_GREEDY,
        "cache_prompt": not reread,
        "return_tokens": True,
    }
    if sampling is not None:  # only by temperature: no other sampler may cut off probabilities
        drawn: dict[str, Json] = {"temperature": sampling.temperature, "seed": sampling.seed}
        body |= {**drawn, "top_k": 0, "samplers": ["temperature"]}
    if probabilities:
        body["n_probs"] = probabilities
    return body


def margins_in(answer: Json) -> tuple[float, ...] | None:
    """Return the margin of each token; `None` if any token has no runner-up."""
    listed = part(answer).get("completion_probabilities")
    return values.margins(listed, tokens=len(listed)) if isinstance(listed, list) else None


def counted_in(done: Completion, arm: ArmPlan, page: Counted | None) -> Counted:
    """Return the draft counters of an answer; if they are missing, nothing was drafted.

    Raises `BadAnswerError` if an arm without speculation drafted.
    """
    drafted, accepted = done.timings.draft_n, done.timings.draft_n_accepted
    if not arm.drafts:
        values.require_plain(drafted)
        return Counted(drafted=0, accepted=0)
    stated = Counted(drafted=drafted, accepted=accepted, depth=limit(arm.method))
    if done.timings.draft_by_depth:
        return counted_by_depth(done.timings.draft_by_depth, stated)
    return page if page is not None and agree(page, stated) else stated


def counted_by_depth(listed: Sequence[ByDepth], stated: Counted) -> Counted:
    """Return the stated counts, with histograms of drafted and accepted lengths.

    A round with k accepted tokens is counted at each depth from 1 to k. The number of rounds that
    accepted exactly k tokens is therefore the count at depth k minus the count at depth k + 1;
    drafted tokens are counted in the same way.

    Raises `BadAnswerError` if the counts increase with the depth, or do not add up.
    """
    drafted = [entry.draft_n for entry in listed]
    accepted = [entry.draft_n_accepted for entry in listed]
    histogram = by_length(drafted[0], accepted)
    exactly = by_length(drafted[0], drafted[1:])
    consecutive = [entry.depth for entry in listed] == list(range(1, len(listed) + 1))
    if histogram is None or exactly is None or not consecutive:
        raise values.BadAnswerError(
            f"draft_by_depth counts {drafted} drafted and {accepted} accepted from depth 1 on; "
            "that is impossible, because fewer rounds reach a deeper token"
        )
    if (sum(drafted), sum(accepted)) != (stated.drafted, stated.accepted):
        raise values.BadAnswerError(
            f"draft_by_depth adds up to {sum(drafted)} drafted and {sum(accepted)} accepted, "
            f"but the answer states {stated.drafted} and {stated.accepted}"
        )
    return Counted(
        drafted=stated.drafted,
        accepted=stated.accepted,
        steps=drafted[0],
        histogram=histogram,
        lengths=tuple(
            length for length, rounds in enumerate(exactly, start=1) for _ in range(rounds)
        ),
    )


def generate(
    client: Client, tokens: tuple[int, ...], prompt: ServerRequest, *, counts: bool
) -> Generation:
    """Run one generation. `counts` says whether the metrics page can be read for this generation.

    Raises the client's errors, or `BadAnswerError`.
    """
    before = _page(client) if prompt.arm.drafts and counts else None
    began = time.perf_counter()
    body = completion_request(tokens, prompt.limit, sampling=prompt.sampling)
    answer = client.post("/completion", body)
    wall_ms = (time.perf_counter() - began) * 1000
    done = read_completion(answer)
    after = _page(client) if before is not None else None
    page = after.since(before) if before is not None and after is not None else None
    return Generation(
        tokens=done.tokens or None,
        counted_tokens=done.timings.predicted_n,
        text=done.content or None,
        margins=None,
        prompt_tokens=len(tokens),
        prompt_sha256=token_digest(tokens),
        prompt_ids=tokens,
        prompt_ms=done.timings.prompt_ms,
        wall_ms=wall_ms,
        rounds=totals(
            decode_ms=done.timings.predicted_ms,
            output_tokens=done.timings.predicted_n,
            counted=counted_in(done, prompt.arm, page),
            page=page,
            depth=limit(prompt.arm.method),
        ),
        finish="length" if done.stop_type == "limit" or done.stopped_limit else "stop",
    )


class _Step(Struct, frozen=True, kw_only=True):
    """The number of prompt tokens that the server processed, and the time that this took."""

    prompt_n: values.Count
    prompt_ms: values.Milliseconds


class _Stepped(Struct, frozen=True, kw_only=True):
    timings: _Step


def step_times(client: Client, prompt: Sequence[int], widths: Sequence[int]) -> tuple[float, ...]:
    """Time steps of these widths (numbers of tokens) after a prompt whose state the server keeps.

    Only the last token's logits are computed, as in llama-bench. Each timed step follows a
    discarded step with a different first token, since the server would not process a common prefix
    again.

    Raises the client's errors, or `BadAnswerError` if the server reads a different number of
    tokens.
    """
    first, second, *_ = (*dict.fromkeys(reversed(prompt)), 0, 1)
    client.post("/completion", completion_request(prompt, 1, reread=False))
    found = []
    for width in widths:
        more = [prompt[index % len(prompt)] for index in range(width - 1)]
        _step_ms(client, prompt, (first, *more))
        found.append(_step_ms(client, prompt, (second, *more)))
    return tuple(found)


def _step_ms(client: Client, prompt: Sequence[int], step: Sequence[int]) -> float:
    began = time.perf_counter()
    answer = client.post("/completion", completion_request((*prompt, *step), 1, reread=False))
    wall_ms = (time.perf_counter() - began) * 1000
    read = values.read_as(_Stepped, answer, what="the answer states no times").timings
    if not 0 < read.prompt_ms <= wall_ms:
        raise values.BadAnswerError(
            f"the server states {read.prompt_ms:g} ms for a step that took {wall_ms:.3g} ms"
        )
    if read.prompt_n != len(step):
        raise values.BadAnswerError(
            f"the server read {read.prompt_n} tokens for a step of {len(step)}: the server does "
            "not keep this model's state after the prompt"
        )
    return read.prompt_ms


def margins_of(
    client: Client, prompt: tuple[int, ...], known: Generation
) -> tuple[float, ...] | None:
    """Return a generation's margins from a second answer; `None` if its tokens are different."""
    if known.tokens is None:
        return None
    request = completion_request(prompt, known.output_tokens, probabilities=2, reread=False)
    answer = client.post("/completion", request)
    return margins_in(answer) if read_completion(answer).tokens == known.tokens else None


def _page(client: Client) -> Counters | None:
    return read_counters(client.text("/metrics"))
