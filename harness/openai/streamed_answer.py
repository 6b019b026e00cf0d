"""Read a streamed answer: counts and times by the server, arrival times by our clock.

Token counts are read from the server's usage, never from chunks: a chunk may contain several
tokens. The decode time runs from the first chunk with content to the chunk with the finish reason.

Each engine has its own names for the counts of drafted and accepted tokens. Response metrics (vLLM)
take precedence, then timings (llama.cpp and its forks), stats (LM Studio) and meta information
(SGLang). A missing count is unknown, never zero, except for llama.cpp and mlx-vlm.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from harness.machine.lenient_json import part
from harness.openai.server_identity import EngineName
from harness.runners.http.client import one_line, parsed
from harness.runners.http.counted_rounds import Counted, without_zeros
from harness.runners.http.values import BadAnswerError, count, margins, milliseconds, whole_numbers
from schemas.codec import Json
from schemas.vocabulary.documents import document

# Fields with the model's text in a chunk or its delta; reasoning has two field names.
_THOUGHTS = ("reasoning_content", "reasoning")
_CONTENT = ("content", "reasoning_content", "reasoning", "tool_calls", "text")
# Fields that servers add to an answer for times and drafts.
_EXTRAS = ("metrics", "timings", "stats", "meta_info", "sglext")
_TEXTS = ("content", *_THOUGHTS, "text")
# The path and the names of each engine's draft counters; an empty name is a missing counter.
_SOURCES: list[Mapping[str, str]] = [
    defaultdict(str, each) for each in document("draft_counts", "harness.openai")["sources"]
]
_END = b"[DONE]"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedAnswer:
    """A streamed answer. Seconds are by the client's clock, from an arbitrary start.

    `tokens` and `prompt` are token ids, or `None` if the server sends no ids. `chunk_tokens` is the
    number of ids in each chunk that has ids. `chunk_characters` is the length of each chunk with
    content, and `chunk_s` is the time of its arrival. `text` includes the `thoughts` in the stream;
    `models` are the model names in the chunks. `extras` has the server's additional fields, by
    name; `usage` is the server's usage object, unchanged.
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
    chunk_characters: tuple[int, ...] = ()
    chunk_s: tuple[float, ...] = ()
    text: str = ""
    thoughts: str = ""
    models: frozenset[str] = frozenset()
    extras: Mapping[str, Json] = field(default_factory=dict)
    usage: Mapping[str, Json] = field(default_factory=dict)

    @property
    def wall_ms(self) -> float:
        """Milliseconds from the request to the end of the answer."""
        return (self.last_s - self.began_s) * 1000

    @property
    def reasoning_tokens(self) -> int:
        """Number of reasoning tokens, from the server or estimated from their share of the text."""
        stated = count(part(self.usage, "completion_tokens_details"), "reasoning_tokens")
        if stated or not self.thoughts:
            return stated or 0
        return max(1, round(self.output_tokens * len(self.thoughts) / len(self.text)))

    @property
    def cached_tokens(self) -> int | None:
        """Prompt tokens that the server took from its cache; `None` if unknown."""
        return count(part(self.usage, "prompt_tokens_details"), "cached_tokens")


def events(lines: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """Yield the JSON objects of a stream, each as soon as its last line arrives.

    Raises `BadAnswerError` for an event that is not a JSON object, for an error that the server
    reports midway, and for a stream without its end mark.
    """
    held: list[bytes] = []
    for line in chain(lines, (b"",)):
        text = line.strip().removeprefix(_BYTE_ORDER_MARK)
        name, _, data = text.partition(b":")
        if name == b"data":
            held.append(data.strip())
        if held == [_END]:
            return
        # Blank lines end events, but not every server sends blank lines; other lines are comments
        # or names.
        if not held or (text and (name != b"data" or len(held) > 1)):
            continue
        try:
            value = parsed(b"\n".join(held).decode("utf-8", "replace"))
        except ValueError as error:
            if text:
                continue  # the event has further lines
            shown = held[0][:_SHOWN].decode("utf-8", "replace")
            raise BadAnswerError(f"a line of the stream is not JSON: {shown}") from error
        held.clear()
        yield _event(value)
    raise BadAnswerError("the stream was cut off before its end")


def _event(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise BadAnswerError("a line of the stream is not a JSON object")
    if value.get("error"):
        raise BadAnswerError(f"the server reported an error: {one_line(json.dumps(value))}")
    return value


def read(
    chunks: Iterable[Mapping[str, Json]], *, began_s: float, clock: Callable[[], float]
) -> StreamedAnswer:
    """Assemble the answer from a stream's chunks. Raises `BadAnswerError` if data is missing."""
    timed = [(chunk, choice_of(chunk), clock()) for chunk in chunks]
    written = [(choice, at_s) for _, choice, at_s in timed if _says_something(choice)]
    usages = [usage for chunk, _, _ in timed if isinstance(usage := chunk.get("usage"), dict)]
    prompt_tokens, output_tokens = _counted(usages[-1] if usages else {})
    if not written and output_tokens > 1:  # a single token may be only part of a character
        raise BadAnswerError("the server returned no text")
    ends = [(choice.get("finish_reason"), at_s) for _, choice, at_s in timed]
    finish, ended_s = next((end for end in reversed(ends) if isinstance(end[0], str)), (None, 0.0))
    if finish is None:
        raise BadAnswerError("the answer does not state why it ended (finish_reason)")
    seen_s = [at_s for _, at_s in written] or [ended_s]
    prompts = (whole_numbers(chunk.get("prompt_token_ids")) for chunk, _, _ in timed)
    ids = [each for _, choice, _ in timed if (each := whole_numbers(choice.get("token_ids")))]
    tokens = tuple(chain.from_iterable(ids))
    places = [place for chunk, choice, _ in timed for place in (chunk, choice)]
    return StreamedAnswer(
        began_s=began_s,
        first_s=seen_s[0],
        last_s=max(seen_s[-1], ended_s),
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        finish="length" if finish == "length" else "stop",
        # Ids are the output only if their number equals the server's count.
        tokens=tokens if len(tokens) == output_tokens else None,
        prompt=next(filter(None, prompts), None),
        chunk_tokens=tuple(map(len, ids)),
        chunk_characters=tuple(len(_text(choice)) for choice, _ in written),
        chunk_s=tuple(at_s for _, at_s in written),
        text="".join(_text(choice) for choice, _ in written),
        thoughts="".join(_text(choice, _THOUGHTS) for choice, _ in written),
        models=frozenset(n for chunk, _, _ in timed if isinstance(n := chunk.get("model"), str)),
        extras={name: each[name] for each in places for name in _EXTRAS if each.get(name)},
        usage=usages[-1],
    )


def _text(choice: Mapping[str, Json], names: Sequence[str] = _TEXTS) -> str:
    """Return the text in a chunk, including thoughts."""
    found = (each.get(name) for each in (choice, part(choice, "delta")) for name in names)
    return "".join(each for each in found if isinstance(each, str))


def _counted(usage: Mapping[str, Json]) -> tuple[int, int]:
    prompt, output = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    if prompt is None or not output:
        raise BadAnswerError(
            "the answer has no usage: the server does not report its number of tokens "
            "(stream_options.include_usage), and chunks are not tokens"
        )
    return prompt, output


def choice_of(chunk: object) -> Mapping[str, Json]:
    choices = part(chunk).get("choices")
    return part(choices[0]) if isinstance(choices, list) and choices else {}


def _says_something(choice: Mapping[str, Json]) -> bool:
    content = (each.get(n) for each in (choice, part(choice, "delta")) for n in _CONTENT)
    return bool(whole_numbers(choice.get("token_ids"))) or any(content)


def margins_in(answer: Json, *, tokens: tuple[int, ...]) -> tuple[float, ...] | None:
    """Return the margin of each token: its log probability minus the runner-up's."""
    choice = choice_of(answer)
    if choice.get("token_ids") != list(tokens):
        return None
    return margins(part(choice, "logprobs").get("content"), tokens=len(tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTimes:
    """The times that a server reports for one answer, in milliseconds.

    `prompt_ms` is `None` if a part of the prompt was, or may have been, cached; `worked_ms` is the
    total reported time, including the uncached part of the prompt.
    """

    decode_ms: float
    prompt_ms: float | None
    worked_ms: float


def server_times(answer: StreamedAnswer, *, salted: bool) -> ServerTimes | None:
    """Return the times that the server reports in an answer; `None` if it reports none.

    They are in `timings` (llama.cpp and its forks), `metrics` (vLLM), or `usage` (TabbyAPI, in
    seconds).

    `salted` means that the request could not use the prompt cache.
    """
    timings, metrics = part(answer.extras, "timings"), part(answer.extras, "metrics")
    if timings:
        whole = timings.get("cache_n") == 0
        # mlx-vlm's time includes the first token, at the mean time of all other tokens.
        share = 1 - 1 / answer.output_tokens if "draft_kind" in timings else 1.0
        return _times(timings, "predicted_ms", "prompt_ms", whole=whole, share=share)
    if metrics:
        whole = salted or answer.cached_tokens == 0
        return _times(metrics, "generation_time_ms", "time_to_first_token_ms", whole=whole)
    in_seconds = ("completion_time", "prompt_time")
    times = {name: milliseconds(answer.usage, name) for name in in_seconds}
    tabby: dict[str, Json] = {name: 1000 * s for name, s in times.items() if s is not None}
    return _times(tabby, *in_seconds, whole=answer.cached_tokens == 0)


def _times(
    values: Mapping[str, Json], decode: str, prompt: str, *, whole: bool, share: float = 1.0
) -> ServerTimes | None:
    decode_ms = milliseconds(values, decode)
    if decode_ms is None:
        return None
    decode_ms *= share
    prompt_ms = milliseconds(values, prompt)
    return ServerTimes(
        decode_ms=decode_ms,
        prompt_ms=prompt_ms if whole else None,
        worked_ms=decode_ms + (prompt_ms or 0.0),
    )


def counted_drafts(answer: StreamedAnswer) -> Counted | None:
    """Return the draft counts in an answer, from the first source that has them, or `None`."""
    stated: dict[str, Json] = {**answer.extras, "usage": dict(answer.usage)}
    found = (_counted_in(part(stated, *each["path"].split(".")), each) for each in _SOURCES)
    return next(filter(None, found), None)


def without_drafts(engine: EngineName, answer: StreamedAnswer) -> Counted | None:
    """Return zero counts for an engine that omits counters if nothing was drafted; else `None`."""
    timings = part(answer.extras, "timings")
    if engine not in ("llama.cpp", "mlx-vlm") or not timings:
        return None
    return Counted(drafted=0, accepted=0) if timings.get("draft_n") is None else None


def _counted_in(values: Mapping[str, Json], names: Mapping[str, str]) -> Counted | None:
    drafted, accepted = count(values, names["drafted"]), count(values, names["accepted"])
    if drafted is None or accepted is None or accepted > drafted:
        return None  # more accepted than drafted: the names mean something else
    counts, steps = whole_numbers(values.get(names["histogram"])), count(values, names["steps"])
    window = values.get(names["window"])  # what a step verified on average, with its own token
    if isinstance(window, float) and window > 1 and steps:
        drafted = max(accepted, min(drafted, round(steps * (window - 1))))
    return Counted(
        drafted=drafted,
        accepted=accepted,
        steps=steps,
        histogram=None if counts is None or min(counts) < 0 else without_zeros(counts),
        lengths=whole_numbers(values.get(names["lengths"])),
        depth=count(values, names["depth"]),
    )
