"""Read a streamed answer: counts as the server states them, times by our clock.

Tokens are counted by the server's usage and never by chunks: one chunk may hold several. The
client's decode time runs from the first chunk with content to the last one, the one that says why
the answer ended included. It is exact when the first chunk holds one token, as the step after the
prompt yields; where a server holds tokens back and sends several at first, it is too short.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness.runners.http.client import one_line, parsed
from harness.runners.http.values import BadAnswerError, count, margins, milliseconds, whole_numbers
from schemas.codec import Json

# Where a chunk or its delta may hold what the model wrote; reasoning has had two names.
_THOUGHTS = ("reasoning_content", "reasoning")
_CONTENT = ("content", "reasoning_content", "reasoning", "tool_calls", "text")
# What servers add to an answer about its times and its drafts.
_EXTRAS = ("metrics", "timings", "stats", "meta_info", "sglext")
_END = b"[DONE]"
_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer. Seconds are of the client's clock, from any beginning.

    `tokens` and `prompt` are ids, `None` where the server gives none. `chunk_tokens` holds the
    number of ids of each chunk that had any. `extras` is what the server added, by name; `usage`
    is as it came.
    """

    began_s: float
    first_s: float
    last_s: float
    prompt_tokens: int
    output_tokens: int
    finish: Literal["length", "stop"]
    tokens: tuple[int, ...] | None = None
    prompt: tuple[int, ...] | None = None
    chunk_tokens: tuple[int, ...] = ()
    extras: Mapping[str, Json] = field(default_factory=dict)
    usage: Mapping[str, Json] = field(default_factory=dict)
    reasoned: bool = False

    @property
    def cached_tokens(self) -> int | None:
        """Prompt tokens that the server did not process again; `None` if it does not say."""
        details = self.usage.get("prompt_tokens_details")
        return count(details, "cached_tokens") if isinstance(details, dict) else None


def events(lines: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """The JSON objects of a stream, each when its line is there.

    Raises `BadAnswerError` for a line that is not a JSON object, for an error that the server
    reports midway, and for a stream without its end mark.
    """
    for line in lines:
        name, _, data = line.strip().partition(b":")
        if name != b"data":
            continue  # blank lines separate events, others are comments or names of events
        data = data.strip()
        if data == _END:
            return
        yield _event(data)
    message = "the stream was cut off before its end"
    raise BadAnswerError(message)


def _event(data: bytes) -> dict[str, Json]:
    try:
        value = parsed(data.decode("utf-8", "replace"))
    except ValueError as error:
        shown = data[:_SHOWN].decode("utf-8", "replace")
        message = f"a line of the stream is not JSON: {shown}"
        raise BadAnswerError(message) from error
    if not isinstance(value, dict):
        message = "a line of the stream is not a JSON object"
        raise BadAnswerError(message)
    if value.get("error"):
        message = f"the server broke off: {one_line(data.decode('utf-8', 'replace'))}"
        raise BadAnswerError(message)
    return value


def read(
    chunks: Iterable[Mapping[str, Json]], *, began_s: float, clock: Callable[[], float]
) -> Answer:
    """The answer that the chunks of a stream make. Raises `BadAnswerError` for what is missing."""
    reading = _Reading(began_s=began_s)
    for chunk in chunks:
        reading.take(chunk, clock())
    return reading.done()


@dataclass(slots=True, kw_only=True)
class _Reading:
    began_s: float
    first_s: float | None = None
    last_s: float | None = None
    finish: str | None = None
    ids: list[int] = field(default_factory=list)
    chunk_tokens: list[int] = field(default_factory=list)
    prompt: tuple[int, ...] | None = None
    usage: Mapping[str, Json] | None = None
    extras: dict[str, Json] = field(default_factory=dict)
    reasoned: bool = False

    def take(self, chunk: Mapping[str, Json], at_s: float) -> None:
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.usage = usage
        self.prompt = self.prompt or whole_numbers(chunk.get("prompt_token_ids"))
        choice = choice_of(chunk)
        for part in (chunk, choice):
            self.extras |= {name: part[name] for name in _EXTRAS if part.get(name)}
        self._take_choice(choice, at_s)

    def _take_choice(self, choice: Mapping[str, Json], at_s: float) -> None:
        delta = choice.get("delta")
        ids = whole_numbers(choice.get("token_ids")) or ()
        self.reasoned |= isinstance(delta, dict) and any(delta.get(name) for name in _THOUGHTS)
        reason = choice.get("finish_reason")
        if ids:
            self.ids += ids
            self.chunk_tokens.append(len(ids))
        written = bool(ids) or _has_content(choice) or _has_content(delta)
        if written and self.first_s is None:
            self.first_s = at_s
        if isinstance(reason, str):
            self.finish = reason
        if written or isinstance(reason, str):
            self.last_s = at_s

    def done(self) -> Answer:
        if self.first_s is None or self.last_s is None:
            message = "the server wrote nothing"
            raise BadAnswerError(message)
        if self.finish is None:
            message = "the answer does not say why it ended (finish_reason)"
            raise BadAnswerError(message)
        prompt_tokens, output_tokens = _counted(self.usage)
        return Answer(
            began_s=self.began_s,
            first_s=self.first_s,
            last_s=self.last_s,
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
            finish="length" if self.finish == "length" else "stop",
            # Ids that are not as many as the server counted are not the output.
            tokens=tuple(self.ids) if len(self.ids) == output_tokens else None,
            prompt=self.prompt,
            chunk_tokens=tuple(self.chunk_tokens),
            extras=self.extras,
            usage=self.usage or {},
            reasoned=self.reasoned,
        )


def _counted(usage: Mapping[str, Json] | None) -> tuple[int, int]:
    prompt = count(usage, "prompt_tokens") if usage else None
    output = count(usage, "completion_tokens") if usage else None
    if prompt is None or not output:
        message = (
            "the answer has no usage: the server does not count its tokens "
            "(stream_options.include_usage), and chunks are not tokens"
        )
        raise BadAnswerError(message)
    return prompt, output


def choice_of(chunk: Mapping[str, Json]) -> Mapping[str, Json]:
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _has_content(part: object) -> bool:
    return isinstance(part, dict) and any(part.get(name) for name in _CONTENT)


def margins_in(answer: Json, *, tokens: tuple[int, ...]) -> tuple[float, ...] | None:
    """How sure the model was of each token.

    `None` when the answer is not the one with these tokens: then the model does not repeat itself.
    """
    choice = choice_of(answer) if isinstance(answer, dict) else {}
    if choice.get("token_ids") != list(tokens):
        return None
    logprobs = choice.get("logprobs")
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    return margins(listed, tokens=len(tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTimes:
    """A server's own times of one answer, in milliseconds.

    `prompt_ms` is `None` where a part of the prompt came from a cache, or may have.
    """

    decode_ms: float
    prompt_ms: float | None


def server_times(answer: Answer, *, salted: bool) -> ServerTimes | None:
    """The server's times in an answer: `timings` of llama.cpp, `metrics` of vLLM; else `None`.

    `salted` says that this request could not use the prompt cache.
    """
    timings, metrics = answer.extras.get("timings"), answer.extras.get("metrics")
    if isinstance(timings, dict):
        return _times(timings, "predicted_ms", "prompt_ms", whole=timings.get("cache_n") == 0)
    if isinstance(metrics, dict):
        whole = salted or answer.cached_tokens == 0
        return _times(metrics, "generation_time_ms", "time_to_first_token_ms", whole=whole)
    return None


def _times(
    values: Mapping[str, Json], decode: str, prompt: str, *, whole: bool
) -> ServerTimes | None:
    decode_ms = milliseconds(values, decode)
    if decode_ms is None:
        return None
    return ServerTimes(
        decode_ms=decode_ms, prompt_ms=milliseconds(values, prompt) if whole else None
    )
