"""How does one question become one generation? Asked, read, counted and timed."""

import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.runners.base import Generation
from harness.runners.http.client import ServerRefusedError, ServerSilentError
from harness.runners.http.counters import Counters
from harness.runners.llama_server.exchange import BadAnswerError
from harness.runners.openai import rounds
from harness.runners.openai.answer import Answer, margins_in, read, server_times
from harness.runners.openai.client import events
from harness.runners.openai.connection import Connection
from harness.runners.openai.counters import counted, told
from harness.runners.openai.identity import EngineName
from harness.runners.openai.rounds import totals
from schemas.canonical import token_digest
from schemas.codec import Json

# LM Studio drafts when a request names a draft model; the others as they were started.
DRAFTS_BY_REQUEST: frozenset[EngineName] = frozenset({"LM Studio"})
# vLLM and SGLang put the salt into the keys of their prefix caches: no request finds another's.
SALTED: frozenset[EngineName] = frozenset({"vLLM", "SGLang"})
# SGLang refuses token ids and meta information in a stream, so it is asked for neither there.
_BESIDE: dict[EngineName, dict[str, Json]] = {
    "vLLM": {"return_token_ids": True},
    "SGLang": {"return_spec_tokens_details": True},
    "llama.cpp": {"cache_prompt": False},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One prompt for one engine. `draft` is a model that LM Studio is told to draft with."""

    text: str
    limit: int
    model: str
    engine: EngineName
    draft: str | None = None


def streamed(asked: Asked) -> dict[str, Json]:
    """The body of a timed request: the answer comes token by token, its counts at the end."""
    return {**_question(asked), "stream": True, "stream_options": {"include_usage": True}}


def with_margins(asked: Asked) -> dict[str, Json]:
    """The body of an untimed request: the two most probable tokens at every place."""
    return {**_question(asked), "logprobs": True, "top_logprobs": 2}


def with_meta_info(asked: Asked) -> dict[str, Json]:
    """The body of an untimed request to SGLang, whose older builds count in whole answers only."""
    return {**_question(asked), "return_meta_info": True}


def _question(asked: Asked) -> dict[str, Json]:
    salt: dict[str, Json] = {"cache_salt": uuid.uuid4().hex} if asked.engine in SALTED else {}
    drafts = asked.engine in DRAFTS_BY_REQUEST and asked.draft is not None
    return {
        "model": asked.model,
        "messages": [{"role": "user", "content": asked.text}],
        "temperature": 0,
        "max_tokens": asked.limit,
        **({"draft_model": asked.draft} if drafts else {}),
        **_BESIDE.get(asked.engine, {}),
        **salt,
    }


# A page of metrics may be a moment behind the answer; a real difference stays.
_PAGE_LAG_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One prompt to be answered. `alone` says that nothing else is asked meanwhile.

    `draft` and `depth` are those of the arm's method, where it has them.
    """

    text: str
    limit: int
    speculates: bool
    draft: str | None = None
    depth: int | None = None
    alone: bool = True
    server_clock: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """A generation, and whether its server tells its own times."""

    generation: Generation
    tells_times: bool


def exchange(connection: Connection, question: Question) -> Exchanged:
    """Ask one question. Raises as `Client` does, and `BadAnswerError`."""
    before = connection.counters() if question.alone else None
    answer = _ask(connection, question)
    said = told(answer)
    page = _page_since(connection, before, answer) if question.alone else None
    if page is None and connection.drafts_nothing:
        page = connection.counters()
    found = counted(answer, page)
    times = server_times(answer, salted=connection.identity.name in SALTED)
    rounds.check(answer, times, limit=question.limit)
    rounds.check_drafts(found, speculates=question.speculates)
    by_server = times if question.server_clock else None
    generation = Generation(
        tokens=answer.tokens,
        counted_tokens=answer.output_tokens,
        margins=None,
        prompt_tokens=answer.prompt_tokens,
        prompt_sha256=token_digest(answer.prompt) if answer.prompt else None,
        prompt_ms=times.prompt_ms if times else None,
        wall_ms=(answer.last_s - answer.began_s) * 1000,
        ttft_ms=(answer.first_s - answer.began_s) * 1000,
        rounds=totals(
            decode_ms=by_server.decode_ms if by_server else _client_ms(answer),
            output_tokens=answer.output_tokens,
            counted=found,
            page=page if said is not None else None,
            chunk_tokens=answer.chunk_tokens if answer.tokens else (),
        ),
        finish=answer.finish,
    )
    told_depth = found.depth if found else None
    rounds.check_depth(generation, told=told_depth, asked=question.depth)
    return Exchanged(generation=generation, tells_times=times is not None)


def margins(
    connection: Connection, question: Question, known: Generation
) -> tuple[float, ...] | None:
    """How sure the plain model was of each token, from a second, untimed answer.

    Probabilities cost time on the server, so the timed answer goes without them. `None` without
    token ids, where the server gives no probabilities, and when it answers differently.
    """
    if known.tokens is None:
        return None
    body = with_margins(_asked(connection, question))
    with suppress(ServerRefusedError, ServerSilentError):
        return margins_in(_post(connection, body), tokens=known.tokens)
    return None


def _ask(connection: Connection, question: Question) -> Answer:
    engine, client = connection.identity.name, connection.client
    body = streamed(_asked(connection, question))
    began = time.perf_counter()
    lines = client.lines(f"{client.address.api}/chat/completions", body)
    answer = read(events(lines), began_s=began, clock=time.perf_counter)
    wants_more = engine == "SGLang" and question.speculates and question.alone
    return _with_meta_info(connection, question, answer) if wants_more else answer


def _with_meta_info(connection: Connection, question: Question, answer: Answer) -> Answer:
    """The answer with the counters of the same question, asked once more in one piece."""
    if told(answer) is not None:
        return answer
    whole = _post(connection, with_meta_info(_asked(connection, question)))
    usage = whole.get("usage") if isinstance(whole, dict) else None
    choices = whole.get("choices") if isinstance(whole, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(usage, dict) or not isinstance(choice, dict):
        return answer
    if usage.get("completion_tokens") != answer.output_tokens:
        return answer  # another text than the one that was timed
    return replace(answer, beside={**answer.beside, "meta_info": choice.get("meta_info")})


def _asked(connection: Connection, question: Question) -> Asked:
    return Asked(
        text=question.text,
        limit=question.limit,
        model=connection.model,
        engine=connection.identity.name,
        draft=question.draft,
    )


def _post(connection: Connection, body: dict[str, Json]) -> Json:
    client = connection.client
    return client.post(f"{client.address.api}/chat/completions", body)


def _page_since(connection: Connection, before: Counters | None, answer: Answer) -> Counters | None:
    """What the metrics page counted for one answer, read again if it seems to be behind."""
    if before is None:
        return None
    said = told(answer)
    page = _difference(connection, before)
    if said is not None and page is not None and page.drafted != said.drafted:
        time.sleep(_PAGE_LAG_S)
        page = _difference(connection, before)
    return page


def _difference(connection: Connection, before: Counters) -> Counters | None:
    after = connection.counters()
    return None if after is None else after.since(before)


def _client_ms(answer: Answer) -> float:
    decode_ms = (answer.last_s - answer.first_s) * 1000
    if answer.output_tokens > 1 and decode_ms <= 0:
        message = (
            "the whole answer came in one piece, so nobody knows how long its tokens took; "
            "the server must stream"
        )
        raise BadAnswerError(message)
    return decode_ms
