"""Let a draft read what its target wrote, to see which tokens it would have proposed.

As long as a round's draft agrees with the target, the draft model has read the target's own text.
So the greedy choice after each token of that text is what it proposes there (teacher forcing), and
one pass in wide steps tells what the target would accept in rounds of any depth.
"""

from collections.abc import Sequence

import llama_cpp

from harness.errors import BadInputError, MachineError
from harness.runners.base import Agreement
from harness.runners.inprocess.context import Context, DecodeError
from harness.runners.inprocess.gguf_model import LoadedWeights

_SHOWN = 20


def read(
    model: Context,
    prompt: str | Sequence[int],
    answer: str | Sequence[int],
    *,
    rows: int,
    thinking: bool = False,
) -> Agreement:
    """Read a prompt and its answer in steps of at most `rows` tokens.

    Raises `BadInputError` for a text that is not for this model, `MachineError` if it cannot run.
    """
    weights = model.weights
    if isinstance(prompt, str):
        _require_unmarked(weights, prompt)
        prompt = weights.render(prompt, thinking=thinking)
    tokens = weights.tokens(answer, begins=False) if isinstance(answer, str) else answer
    _require_known(model, (*prompt, *tokens))
    choices: list[int] = []
    try:
        model.prefill(prompt)
        for start in range(0, len(tokens) - 1, rows):
            choices += model.step(tokens[start : min(start + rows, len(tokens) - 1)])
    except DecodeError as error:
        message = f"the draft cannot read an answer: {error}"
        raise MachineError(message) from error
    agrees = [
        choice == token and not model.is_end(token)
        for choice, token in zip(choices, tokens[1:], strict=True)
    ]
    return Agreement(agrees=tuple(agrees), ended=model.is_end(tokens[-1]))


def _require_unmarked(weights: LoadedWeights, prompt: str) -> None:
    mark = next(filter(weights.is_mark, weights.tokens(prompt, begins=False)), None)
    if mark is not None:
        message = (
            f"the prompt {prompt[:_SHOWN]!r}… has {weights.piece(mark)} in it, a mark of a chat "
            "template; give what the user typed, or the token ids as prompt_ids"
        )
        raise BadInputError(message)


def _require_known(model: Context, tokens: Sequence[int]) -> None:
    size, room = model.weights.vocabulary_size, llama_cpp.llama_n_ctx(model.ctx)
    if max(tokens) >= size:
        message = (
            f"an answer has the token {max(tokens)}, and the draft knows {size} tokens: it is of a "
            "model with another vocabulary"
        )
        raise BadInputError(message)
    if len(tokens) > room:
        message = (
            f"a prompt and its answer take {len(tokens)} tokens, the context holds {room}: raise "
            f"--context to {len(tokens)} or more"
        )
        raise BadInputError(message)
