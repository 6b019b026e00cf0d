"""How does one question become one generation? Asked, read, counted and timed."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.runners.base import Generation
from harness.runners.openai import plausible, requests
from harness.runners.openai.answer import Answer, read
from harness.runners.openai.counters import counted, told
from harness.runners.openai.events import events
from harness.runners.openai.margins import margins_in
from harness.runners.openai.rounds import totals
from harness.runners.openai.times import server_times
from harness.runners.server.answer import BadAnswerError
from harness.runners.server.client import ServerRefusedError, ServerSilentError
from harness.tokens import token_digest

if TYPE_CHECKING:
    from harness.runners.openai.connection import Connection
    from harness.runners.server.counters import Counters
    from schemas.codec import Json

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
    times = server_times(answer, salted=connection.identity.name in requests.SALTED)
    plausible.check(answer, times, limit=question.limit)
    plausible.check_drafts(found, speculates=question.speculates)
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
    plausible.check_depth(generation, told=told_depth, asked=question.depth)
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
    body = requests.with_margins(_asked(connection, question))
    with suppress(ServerRefusedError, ServerSilentError):
        return margins_in(_post(connection, body), tokens=known.tokens)
    return None


def _ask(connection: Connection, question: Question) -> Answer:
    engine, client = connection.identity.name, connection.client
    body = requests.streamed(_asked(connection, question))
    began = time.perf_counter()
    lines = client.lines(f"{client.address.api}/chat/completions", body)
    answer = read(events(lines), began_s=began, clock=time.perf_counter)
    wants_more = engine == "SGLang" and question.speculates and question.alone
    return _with_meta_info(connection, question, answer) if wants_more else answer


def _with_meta_info(connection: Connection, question: Question, answer: Answer) -> Answer:
    """The answer with the counters of the same question, asked once more in one piece."""
    if told(answer) is not None:
        return answer
    whole = _post(connection, requests.with_meta_info(_asked(connection, question)))
    usage = whole.get("usage") if isinstance(whole, dict) else None
    choices = whole.get("choices") if isinstance(whole, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(usage, dict) or not isinstance(choice, dict):
        return answer
    if usage.get("completion_tokens") != answer.output_tokens:
        return answer  # another text than the one that was timed
    return replace(answer, beside={**answer.beside, "meta_info": choice.get("meta_info")})


def _asked(connection: Connection, question: Question) -> requests.Asked:
    return requests.Asked(
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
