"""Let a draft read its target's answer, to see which tokens the draft would have proposed.

This module loads the engine, so only the engine's process imports it.

As long as a round's draft agrees with the target, the draft model has read the target's own text.
The draft model's proposal is then its greedy choice after each token of that text (teacher
forcing). One pass in wide steps therefore shows which tokens the target would accept at any depth.
"""

from collections.abc import Sequence

import llama_cpp

from harness.acceptance.reader import AgreedTokens
from harness.errors import BadInputError, MachineError
from harness.runners.base import Session
from harness.runners.inprocess.context import DecodeError
from harness.runners.inprocess.session import LlamaSession


def agreement(
    session: Session, prompt: Sequence[int], answer: Sequence[int], *, rows: int
) -> AgreedTokens:
    """Compare a model's choices with an answer, read in steps of at most `rows` tokens.

    Prompt and answer are token ids. Raises `BadInputError` if they exceed the model's vocabulary or
    context, and `MachineError` if a step fails.
    """
    if not isinstance(session, LlamaSession):
        raise MachineError("this engine can only generate text, not read a given answer")
    model = session.cleared_target()
    needed, room = len(prompt) + len(answer), llama_cpp.llama_n_ctx(model.ctx)
    if needed > room:
        raise BadInputError(
            f"a prompt and its answer take {needed} tokens, but the context has room for {room}: "
            f"raise --context to {needed} or more"
        )
    known, highest = model.weights.vocabulary_size, max((*prompt, *answer))
    if highest >= known:
        raise BadInputError(
            f"an answer has the token {highest}, but the draft's vocabulary has {known} tokens: "
            "the answer is from a model with a different vocabulary"
        )
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
