"""What is asked of a llama-server, word by word? Prompts as token ids, greedy, nothing cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runners.server.answer import BadAnswerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.runners.server.client import Client
    from schemas.codec import Json


def rendered(client: Client, user_text: str) -> str:
    """A conversation with one user message under the model's chat template."""
    answer = client.post("/apply-template", {"messages": [{"role": "user", "content": user_text}]})
    prompt = answer.get("prompt") if isinstance(answer, dict) else None
    if not isinstance(prompt, str):
        message = "the server rendered no prompt"
        raise BadAnswerError(message)
    return prompt


def tokenized(client: Client, text: str) -> tuple[int, ...]:
    """Token ids of a text with its special tokens."""
    answer = client.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})
    tokens = answer.get("tokens") if isinstance(answer, dict) else None
    if not isinstance(tokens, list) or not tokens:
        message = "the server made no tokens of the prompt"
        raise BadAnswerError(message)
    return tuple(item for item in tokens if isinstance(item, int))


def completion_request(
    prompt: Sequence[int], max_output_tokens: int, *, probabilities: int = 0
) -> Json:
    """The body of a greedy request whose tokens come back as ids."""
    body: dict[str, Json] = {
        "prompt": list(prompt),
        "n_predict": max_output_tokens,
        "temperature": 0,
        "top_k": 1,
        "samplers": ["top_k"],
        "cache_prompt": False,
        "return_tokens": True,
    }
    if probabilities:
        body["n_probs"] = probabilities
    return body


def margins_in(answer: Json) -> tuple[float, ...] | None:
    """Log probability of each token minus the runner-up's, which is the difference of logits.

    `None` where the answer does not have two candidates for every token.
    """
    listed = answer.get("completion_probabilities") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    margins = [_margin(item) for item in listed]
    known = tuple(margin for margin in margins if margin is not None)
    return known if len(known) == len(margins) else None


def _margin(item: Json) -> float | None:
    top = item.get("top_logprobs") if isinstance(item, dict) else None
    if not isinstance(top, list):
        return None
    said = [entry.get("logprob") for entry in top[:2] if isinstance(entry, dict)]
    values = [float(value) for value in said if isinstance(value, int | float)]
    return values[0] - values[1] if len(values) == len(said) == _TWO else None


_TWO = 2
