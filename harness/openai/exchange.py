"""Request one generation from a server with OpenAI's API; count and time its tokens."""

import time
import uuid
from dataclasses import dataclass, replace

from harness.campaign.conversation import messages
from harness.machine.lenient_json import part
from harness.models.thinking import arguments
from harness.openai import streamed_answer as answers
from harness.openai.clock import check_tokens, decode_time
from harness.openai.connection import Connection
from harness.openai.listed_models import other_model
from harness.openai.server_identity import EngineName
from harness.openai.streamed_answer import ServerTimes, StreamedAnswer, events, server_times
from harness.runners.base import Generation, Totals
from harness.runners.http.counted_rounds import Counted, Counters, totals
from harness.runners.http.session import ServerRequest
from harness.runners.http.values import BadAnswerError, count, require_plain
from schemas.codec import Json, token_digest
from schemas.method import limit

# LM Studio drafts if a request names a draft model; any other server drafts as its start command
# decides.
DRAFTS_BY_REQUEST: frozenset[EngineName] = frozenset({"LM Studio"})
# vLLM and SGLang put the salt into the keys of their prefix caches, so that requests share nothing.
SALTED: frozenset[EngineName] = frozenset({"vLLM", "SGLang"})
# Engines that pass arguments to the model's chat template, which can switch thinking on and off.
SWITCHES_THINKING: frozenset[EngineName] = frozenset({"vLLM", "SGLang", "llama.cpp", "mlx-lm"})
# SGLang refuses requests for token ids and meta information in a stream.
_OPTIONS: dict[EngineName, dict[str, Json]] = {
    "vLLM": {"return_token_ids": True},
    "SGLang": {"return_spec_tokens_details": True},
    "llama.cpp": {"cache_prompt": False},
}
# A metrics page may briefly lag behind the answer; a real difference persists after this delay.
_PAGE_LAG_S = 0.1
# The tolerance between two clocks, which never agree to the last digit.
_TOLERANCE = 1.001
_SLACK_MS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedAnswer:
    """A generation, and the server's answer from which it was read.

    `states_times`: the server reports times of its own; `proven`: the client's clock confirms them.
    """

    generation: Generation
    answer: StreamedAnswer
    states_times: bool
    proven: bool


def exchange(
    connection: Connection,
    prompt: ServerRequest,
    *,
    server_clock: bool,
    baseline: StreamedAnswer | None,
) -> TimedAnswer:
    """Request one generation. Raises the errors of `Client`, and `BadAnswerError`.

    With `server_clock`, which requires that every arm's server reports times, those times are used.
    `baseline` is the baseline's answer to the same prompt, if known.
    """
    before = connection.counters() if prompt.alone else None
    answer, times = _checked_answer(connection, prompt, baseline)
    deepest = limit(prompt.arm.method)
    depth, sums = _counted(connection, prompt, answer, before)
    timed = decode_time(
        answer, times, longest=1 + (deepest or 0), server_clock=server_clock, alone=prompt.alone
    )
    generation = Generation(
        tokens=answer.tokens,
        counted_tokens=answer.output_tokens,
        text=answer.text or None,
        margins=None,
        prompt_tokens=answer.prompt_tokens,
        prompt_sha256=token_digest(answer.prompt) if answer.prompt else None,
        prompt_ids=answer.prompt or None,
        prompt_ms=times.prompt_ms if times else None,
        wall_ms=answer.wall_ms,
        ttft_ms=answer.wall_ms - timed.decode_ms if _read_whole(connection, answer) else None,
        grain_ms=timed.grain_ms or None,
        reasoning_tokens=answer.reasoning_tokens or None,
        rounds=replace(sums, decode_ms=timed.decode_ms),
        finish=answer.finish,
    )
    check_depth(generation, stated=depth, asked=deepest)
    return TimedAnswer(
        generation=generation, answer=answer, states_times=times is not None, proven=timed.proven
    )


def _checked_answer(
    connection: Connection, prompt: ServerRequest, baseline: StreamedAnswer | None
) -> tuple[StreamedAnswer, ServerTimes | None]:
    """Return an answer that does not contradict the request, and the times that it reports."""
    answer = _ask(connection, prompt)
    check_model(connection, prompt, answer)
    check_cache(connection.identity.name, prompt, answer)
    if baseline is not None:
        check_tokens(answer, baseline)
    times = server_times(answer, salted=connection.identity.name in SALTED)
    check_answer(answer, times, limit=prompt.limit)
    return answer, times


def _counted(
    connection: Connection, prompt: ServerRequest, answer: StreamedAnswer, before: Counters | None
) -> tuple[int | None, Totals]:
    """Return the draft depth that a server reports, and an answer's totals with `decode_ms=0`."""
    stated = answers.counted_drafts(answer)
    page = None if before is None else _page_since(connection, before, stated)
    if connection.drafts_nothing:
        page = Counted(drafted=0, accepted=0)
    method = prompt.arm.method
    if method.nodes and method.n_max:
        stated, page = (each and each.in_levels(method.n_max) for each in (stated, page))
    counts = stated or page or answers.without_drafts(connection.identity.name, answer)
    sums = totals(
        decode_ms=0.0,
        output_tokens=answer.output_tokens,
        counted=counts,
        page=page if stated is not None else None,
        chunk_tokens=answer.chunk_tokens if answer.tokens else (),
        depth=limit(method),
    )
    if not prompt.arm.drafts:
        require_plain(sums.drafted)
    return counts.depth if counts else None, sums


def _read_whole(connection: Connection, answer: StreamedAnswer) -> bool:
    """Return whether the server read the whole prompt, with no part of it taken from a cache.

    A server that the harness starts has not seen the prompt; one that was running may have.
    """
    cached = count(part(answer.extras, "timings"), "cache_n")
    cached = answer.cached_tokens if cached is None else cached
    if cached is not None:
        return cached == 0
    name = connection.identity.name
    return name in SALTED or name == "llama.cpp" or connection.process is not None


def margins(
    connection: Connection, prompt: ServerRequest, known: Generation
) -> tuple[float, ...] | None:
    """Request an answer again and return its margins; `None` if token ids are missing or differ."""
    if known.tokens is None:
        return None
    body = {**_question(connection, prompt), "logprobs": True, "top_logprobs": 2}
    return answers.margins_in(_post(connection, body), tokens=known.tokens)


def _ask(connection: Connection, prompt: ServerRequest) -> StreamedAnswer:
    client = connection.client
    # The answer arrives token by token, followed by the counts.
    streamed: dict[str, Json] = {"stream": True, "stream_options": {"include_usage": True}}
    body = {**_question(connection, prompt), **streamed}
    began = time.perf_counter()
    lines = client.lines(f"{client.address.api}/chat/completions", body)
    return answers.read(events(lines), began_s=began, clock=time.perf_counter)


def _question(connection: Connection, prompt: ServerRequest) -> dict[str, Json]:
    engine, drawn = connection.identity.name, prompt.sampling
    body: dict[str, Json] = {
        "messages": [{**message} for message in messages(prompt.text)],
        "max_tokens": prompt.limit,
        "temperature": drawn.temperature if drawn else 0,
        **_OPTIONS.get(engine, {}),
    }
    if connection.served.id:
        body["model"] = connection.served.id
    if drawn:
        body |= {"seed": drawn.seed, "top_p": 1}
    if engine in DRAFTS_BY_REQUEST and prompt.draft is not None:
        body["draft_model"] = prompt.draft
    if engine in SWITCHES_THINKING:
        body["chat_template_kwargs"] = {**arguments(thinking=prompt.thinking)}
    if engine in SALTED:
        body["cache_salt"] = uuid.uuid4().hex
    return body


def check_model(connection: Connection, prompt: ServerRequest, answer: StreamedAnswer) -> None:
    """Raise `BadAnswerError` if a different model answered, or for unwanted or hidden reasoning.

    Reasoning is unwanted if thinking was switched off, and hidden if the stream does not show it.
    """
    hidden = answer.reasoning_tokens
    if other := other_model(answer.models, connection.served):
        message = f"the model {other} answered, but {connection.served.id} was requested"
    elif hidden and not prompt.thinking and connection.identity.name in SWITCHES_THINKING:
        message = "the model thinks although thinking was switched off; measure with --thinking"
    elif hidden and not answer.thoughts:
        message = (
            f"the server counted {hidden} tokens of reasoning that its stream does not show; "
            "make the server stream them, or switch thinking off"
        )
    else:
        return
    raise BadAnswerError(message)


def check_cache(engine: EngineName, prompt: ServerRequest, answer: StreamedAnswer) -> None:
    """Raise `BadAnswerError` if a drafting arm's prompt was cached, as this changes answers."""
    if engine == "mlx-lm" and prompt.arm.drafts and answer.cached_tokens:
        raise BadAnswerError(
            f"the server took {answer.cached_tokens} tokens of the prompt from its cache, which "
            "changes the answers of a run with a draft; start the server with "
            "--prompt-cache-size 0"
        )


def _post(connection: Connection, body: dict[str, Json]) -> Json:
    client = connection.client
    return client.post(f"{client.address.api}/chat/completions", body)


def _page_since(connection: Connection, before: Counters, stated: Counted | None) -> Counted | None:
    """Return the metrics page's counts for one answer; read the page again if it seems to lag."""
    after = connection.counters()
    page = None if after is None else after.since(before)
    if after is None or page is None or stated is None or page.drafted == stated.drafted:
        return page
    time.sleep(_PAGE_LAG_S)
    after = connection.counters()
    return None if after is None else after.since(before)


def check_answer(answer: StreamedAnswer, times: ServerTimes | None, *, limit: int) -> None:
    """Raise `BadAnswerError` if the server reports too many tokens, or more time than passed."""
    if answer.output_tokens > limit:
        raise BadAnswerError(
            f"the server counted {answer.output_tokens} tokens, but {limit} were requested"
        )
    stated_ms = times.worked_ms if times else 0.0
    if stated_ms > answer.wall_ms * _TOLERANCE + _SLACK_MS:
        raise BadAnswerError(
            f"the server states {stated_ms:.0f} ms of work, but its answer took only "
            f"{answer.wall_ms:.0f} ms"
        )


def check_depth(generation: Generation, *, stated: int | None, asked: int | None) -> None:
    """Raise `BadAnswerError` if the reported draft depth is not `asked`, or drafts were longer."""
    sums = generation.rounds
    if asked is None or not isinstance(sums, Totals):
        return
    found = None
    if stated is not None and stated != asked:
        found = f"drafts up to {stated} tokens"
    elif sums.rounds is not None and (sums.drafted or 0) > sums.rounds * asked:
        found = f"drafted {sums.drafted} tokens in {sums.rounds} rounds"
    if found is not None:
        raise BadAnswerError(
            f"the server {found}, but the method has n_max={asked}; give --method the "
            "server's depth"
        )
