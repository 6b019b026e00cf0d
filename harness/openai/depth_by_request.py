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
# A token that came with the last one was written with it, or was held back by a busy machine: in
# plain answers that are few tokens, and where most drafts are accepted many.
_FEW, _MANY = 0.1, 0.25
# That so many answers are all slower than as many others is chance in one of 6,435 cases.
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


def obeys(plain: Answer, drafting: Answer, ask: Callable[[bool], Answer]) -> bool:
    """Whether answers to one text show that one was drafted and the other was not.

    If these two do not, others are asked in turns, without a draft and with one: then all of one
    kind must be slower, or come in more pieces, than all of the other.
    """
    if at_once(plain) <= _FEW and at_once(drafting) >= _MANY:
        return True
    pairs = [(ask(False), ask(True)) for _ in range(_ANSWERS)]  # noqa: FBT003
    for figure in (at_once, _token_s):
        figures = [(figure(one), figure(other)) for one, other in pairs]
        without, with_draft = zip(*figures, strict=True)
        if max(without) < min(with_draft) or max(with_draft) < min(without):
            return True
    return False


def _token_s(answer: Answer) -> float:
    return (answer.last_s - answer.first_s) / answer.output_tokens
