"""Let a draft read what its target wrote, to see which tokens it would have proposed.

As long as a round's draft agrees with the target, the draft model has read the target's own text.
So the greedy choice after each token of that text is what it proposes there (teacher forcing), and
one pass in wide steps tells what the target would accept in rounds of any depth.
"""

from collections.abc import Sequence
from pathlib import Path

import llama_cpp

from harness.campaign.model import Campaign
from harness.errors import BadInputError, MachineError
from harness.runners import probes
from harness.runners.base import Agreement, WrittenText
from harness.runners.inprocess import engine_log
from harness.runners.inprocess.context import Context, DecodeError, with_default_attention
from harness.runners.inprocess.gguf_model import LoadedWeights

_ROWS = 64  # logits of so many tokens are read at once: 39 MB of 152,000 tokens
_SHOWN = 20


class LlamaDraftReader:
    """A loaded draft, and the vocabulary of another file. Not safe to share between threads."""

    def __init__(self, campaign: Campaign, *, vocabulary_of: Path | None = None) -> None:
        """Load the first draft of the campaign. Raises `HarnessError` when it cannot be had."""
        engine_log.capture()
        settings = with_default_attention(campaign.settings)
        draft = campaign.drafts[0]
        self._thinking, self._draft = settings.thinking, draft.model.id
        self._rows = min(_ROWS, settings.batch_tokens)
        self._weights = LoadedWeights(draft.on_disk, gpu_layers=settings.draft_gpu_layers)
        self._words = self._weights
        if vocabulary_of is not None:
            self._words = LoadedWeights(vocabulary_of, gpu_layers=0, vocabulary_only=True)
        self._context = Context(self._weights, settings, name="draft", outputs=self._rows)
        self._prompt: Sequence[int] = ()

    def agreement(self, text: WrittenText) -> Agreement:
        """Where the draft agrees. Raises `BadInputError` for a text that is not of its kind."""
        prompt = text.prompt_ids or self._rendered(text.prompt)
        answer = text.tokens or tuple(self._words.tokens(text.answer, begins=False))
        self._check(prompt, answer)
        self._prompt = prompt
        try:
            choices = self._choices(prompt, answer)
        except DecodeError as error:
            message = f"the draft cannot read an answer: {error}"
            raise MachineError(message) from error
        is_end = self._words.is_end
        return Agreement(
            agrees=tuple(
                choice == token and not is_end(token)
                for choice, token in zip(choices, answer[1:], strict=True)
            ),
            ended=is_end(answer[-1]),
        )

    def drafting_ms(self) -> float:
        """Median milliseconds of a drafted token after the prompt that was read last."""
        first = self._context.prefill(self._prompt)
        return probes.drafting_cost(self._context, draft=self._draft, first=first).token_ms_median

    def close(self) -> None:
        self._context.close()
        if self._words is not self._weights:
            self._words.close()
        self._weights.close()

    def _choices(self, prompt: Sequence[int], answer: Sequence[int]) -> list[int]:
        """The greedy choice after each token of the answer but the last."""
        self._context.prefill(prompt)
        fed, choices = answer[:-1], list[int]()
        for start in range(0, len(fed), self._rows):
            choices += self._context.step(fed[start : start + self._rows])
        return choices

    def _rendered(self, prompt: str) -> list[int]:
        bare = self._words.tokens(prompt, begins=False)
        mark = next((token for token in bare if self._words.is_mark(token)), None)
        if mark is not None:
            message = (
                f"the prompt {prompt[:_SHOWN]!r}… has {self._words.piece(mark)} in it, a mark of a "
                "chat template; give what the user typed, or the token ids as prompt_ids"
            )
            raise BadInputError(message)
        return self._words.render(prompt, thinking=self._thinking)

    def _check(self, prompt: Sequence[int], answer: Sequence[int]) -> None:
        """Raise `BadInputError` for tokens that the draft lacks, and for too many of them."""
        size, room = self._weights.vocabulary_size, llama_cpp.llama_n_ctx(self._context.ctx)
        most, needed = max((*prompt, *answer)), len(prompt) + len(answer)
        if most >= size:
            message = (
                f"an answer has the token {most}, and the draft knows {size} tokens: it is of a "
                "model with another vocabulary"
            )
        elif needed > room:
            message = f"a prompt and its answer take {needed} tokens, the context holds {room}: "
            message += f"raise --context to {needed} or more"
        else:
            return
        raise BadInputError(message)
