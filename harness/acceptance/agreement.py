"""Let a draft read its target's answer, to see which tokens the draft would have proposed.

This module loads the engine, so only the engine's process imports it.

As long as a round's draft agrees with the target, the draft model has read the target's own text.
The draft model's proposal is then its greedy choice after each token of that text (teacher
forcing). One pass in wide steps therefore shows which tokens the target would accept at any depth.
"""

import re
from collections.abc import Sequence

import llama_cpp

from harness.acceptance.reader import AgreedTokens
from harness.errors import BadInputError, MachineError
from harness.runners.base import Session
from harness.runners.inprocess.context import Context, DecodeError
from harness.runners.inprocess.session import LlamaSession

_UNSEEN = re.compile(r"\s|\N{REPLACEMENT CHARACTER}")  # characters that tools print differently


def agreement(
    session: Session,
    prompt: str | tuple[int, ...],
    tokens: tuple[int, ...] | None,
    text: str | None,
    *,
    rows: int,
    thinking: bool = False,
) -> AgreedTokens:
    """Compare a model's choices with an answer, read in steps of at most `rows` tokens.

    Raises `BadInputError` if prompt or answer are not for this model, or exceed its context, and
    `MachineError` if a step fails.
    """
    if not isinstance(session, LlamaSession):
        raise MachineError("this engine can only generate text, not read a given answer")
    model = session.cleared_target()
    if isinstance(prompt, str):
        prompt = _rendered(model, prompt, thinking=thinking)
    return _read(model, prompt, _answer_tokens(model, tokens, text), rows=rows)


def _read(
    model: Context, prompt: Sequence[int], answer: Sequence[int], *, rows: int
) -> AgreedTokens:
    needed, room = len(prompt) + len(answer), llama_cpp.llama_n_ctx(model.ctx)
    if needed > room:
        raise BadInputError(
            f"a prompt and its answer take {needed} tokens, but the context has room for {room}: "
            f"raise --context to {needed} or more"
        )
    _require_known(model, max((*prompt, *answer)))
    choices: list[int] = []
    try:
        model.prefill(prompt)
        for start in range(0, len(answer) - 1, rows):
            choices += model.step(answer[start : min(start + rows, len(answer) - 1)])
    except DecodeError as error:
        raise MachineError(f"the draft cannot read an answer: {error}") from error
    agrees = [
        choice == token and not model.is_end(token)
        for choice, token in zip(choices, answer[1:], strict=True)
    ]
    return AgreedTokens(agrees=tuple(agrees), ended=model.is_end(answer[-1]))


def _rendered(model: Context, prompt: str, *, thinking: bool) -> tuple[int, ...]:
    """Return the token ids of a conversation that consists of the user's prompt.

    Raises `BadInputError` if the prompt already contains special tokens of a chat template.
    """
    words = model.weights
    tokens = words.tokens(prompt, begins=False)
    mark = next((t for t in tokens if llama_cpp.llama_vocab_is_control(words.vocab, t)), None)
    if mark is not None:
        raise BadInputError(
            f"the prompt contains {words.piece(mark)}, a special token of a chat template; give "
            "the text that the user typed, or the token ids as prompt_ids"
        )
    return tuple(words.render(prompt, thinking=thinking))


def _answer_tokens(
    model: Context, tokens: tuple[int, ...] | None, text: str | None
) -> tuple[int, ...]:
    """Return the token ids of an answer; an answer without ids is tokenized.

    Raises `BadInputError` if the ids contradict the answer's text.
    """
    if tokens is None:
        return tuple(model.weights.tokens(text or "", begins=False))
    _require_known(model, max(tokens))
    own = model.weights.text(tokens)
    shown, stated = (_UNSEEN.sub("", each) for each in (own, text or ""))
    if stated not in shown and shown not in stated:  # either may lack thoughts or the last tokens
        raise BadInputError(
            "the answer's token ids do not give its text with this draft: they are from a model "
            "with a different vocabulary"
        )
    return tokens


def _require_known(model: Context, token: int) -> None:
    if token >= model.weights.vocabulary_size:
        raise BadInputError(
            f"an answer has the token {token}, but the draft's vocabulary has "
            f"{model.weights.vocabulary_size} tokens: the answer is from a model with a "
            "different vocabulary"
        )
