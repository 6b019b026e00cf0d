"""Servers that accept a draft depth per request, and a check that they use that depth.

`mlx_lm.server` does not count drafts, but sends the tokens of a round together. The arrival times
of an answer's tokens therefore show whether rounds were drafted.
"""

from collections.abc import Callable, Iterable, Mapping

from harness.openai.clock import at_once
from harness.openai.server_identity import EngineName
from harness.openai.streamed_answer import StreamedAnswer
from harness.runners.http.session import ServerRequest
from harness.runners.http.values import BadAnswerError

# The field with the maximum number of tokens to draft in a round; 0 turns drafting off.
FIELDS: Mapping[EngineName, str] = {"mlx-lm": "num_draft_tokens"}
# A token that arrived with the previous token was written in the same round, or was delayed by a
# busy machine. Plain answers have few such tokens; answers with mostly accepted drafts have many.
_FEW, _MANY = 0.1, 0.25
# If this many answers are all slower than the same number of others, that happens by chance in one
# of 6,435 cases.
_ANSWERS = 8


def check_cache(engine: EngineName, prompt: ServerRequest, answer: StreamedAnswer) -> None:
    """Raise `BadAnswerError` if a drafting arm's prompt was cached, as this changes answers."""
    if engine in FIELDS and prompt.arm.drafts and answer.cached_tokens:
        raise BadAnswerError(
            f"the server took {answer.cached_tokens} tokens of the prompt from its cache, which "
            "changes the answers of a run with a draft; start the server with "
            "--prompt-cache-size 0"
        )


def obeys(
    plain: StreamedAnswer, drafting: StreamedAnswer, again: Callable[[], Iterable[StreamedAnswer]]
) -> bool:
    """Return whether the server drafted for the answer `drafting` and not for the answer `plain`.

    If the two are inconclusive, more pairs are requested. Then every answer of one kind (plain or
    drafting) must be slower, or arrive in more pieces, than every answer of the other kind.
    """
    if at_once(plain) <= _FEW and at_once(drafting) >= _MANY:
        return True
    pairs = [tuple(again()) for _ in range(_ANSWERS)]
    for figure in (at_once, _token_s):
        without, with_draft = zip(*(map(figure, pair) for pair in pairs), strict=True)
        if max(without) < min(with_draft) or max(with_draft) < min(without):
            return True
    return False


def _token_s(answer: StreamedAnswer) -> float:
    return (answer.last_s - answer.first_s) / answer.output_tokens
