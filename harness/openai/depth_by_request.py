"""Servers that take the depth of a draft with each request, and whether one does as it is told.

`mlx_lm.server` counts no drafts, but it sends the tokens of a round together: the times at which
the tokens of an answer come show whether rounds were drafted.
"""

from collections.abc import Callable, Mapping

from harness.openai.clock import at_once
from harness.openai.server_identity import EngineName
from harness.openai.streamed_answer import Answer
from harness.runners.http.values import BadAnswerError
from schemas.codec import Json
from schemas.method import NO_SPECULATION, Method, limit

# The field with the most tokens to draft in a round; 0 drafts none.
FIELDS: Mapping[EngineName, str] = {"mlx-lm": "num_draft_tokens"}
# A busy machine may hold a token back until the next one is there, but not this share of them.
_BY_CHANCE = 0.1
# That as many answers are all slower than as many others is chance in one of 6,435 cases.
_ANSWERS = 8


def depth(engine: EngineName, method: Method) -> dict[str, Json]:
    """The part of a request that says how deep to draft; nothing where that is not known."""
    deepest = 0 if method == NO_SPECULATION else limit(method)
    return {} if deepest is None or engine not in FIELDS else {FIELDS[engine]: deepest}


def check_cache(engine: EngineName, method: Method, answer: Answer) -> None:
    """Raise `BadAnswerError` where a draft began with a cached prompt, after which texts differ."""
    if engine in FIELDS and method != NO_SPECULATION and answer.cached_tokens:
        message = (
            f"the server took {answer.cached_tokens} tokens of the prompt from its cache, and with "
            "a draft it then writes another text; start it with --prompt-cache-size 0"
        )
        raise BadAnswerError(message)


def disobeys(plain: Answer, drafting: Answer, ask: Callable[[bool], Answer]) -> str | None:
    """How answers to one text contradict the depths that were asked for; `None` if they do not.

    Where the second shows no round, since nothing may have been accepted, others are asked in
    turns, with a draft or without: those with it must all be slower, or all be faster.
    """
    if at_once(plain) > _BY_CHANCE:
        return "it drafts where the request says 0"
    if at_once(drafting) > _BY_CHANCE:
        return None
    times = [(_token_s(ask(False)), _token_s(ask(True))) for _ in range(_ANSWERS)]  # noqa: FBT003
    without, with_draft = zip(*times, strict=True)
    if max(without) < min(with_draft) or max(with_draft) < min(without):
        return None
    return "it answers alike with and without; was it started with a draft?"


def _token_s(answer: Answer) -> float:
    return (answer.last_s - answer.first_s) / answer.output_tokens
