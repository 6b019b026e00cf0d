"""What the binding's own prompt lookup gives, and where it fails."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from llama_cpp import Llama
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

if TYPE_CHECKING:
    from harness.campaign.model import Campaign


_BATCH_TOKENS = 64


def lookup_of_the_binding(campaign: Campaign, threads: int) -> dict[str, object]:
    """Speed with and without its prompt lookup, the equality of the texts, and its first error.

    A small batch shows at once what happens when the text grows beyond it.
    """
    text = campaign.suite.prompts[0].text
    limit = campaign.settings.max_output_tokens
    plain_tps, plain, _ = _generate(campaign, threads, text, limit, lookup=False, batch_tokens=512)
    own_tps, own, _ = _generate(campaign, threads, text, limit, lookup=True, batch_tokens=512)
    _, _, error = _generate(campaign, threads, text, 96, lookup=True, batch_tokens=_BATCH_TOKENS)
    return {
        "lookup_over_plain": round(own_tps / plain_tps, 3),
        "same_text": own == plain,
        "counts": "none: it does not say what was drafted or accepted",
        "beyond_one_batch": error or "no error",
    }


def _generate(
    campaign: Campaign, threads: int, text: str, limit: int, *, lookup: bool, batch_tokens: int
) -> tuple[float, list[int], str | None]:
    model = Llama(
        model_path=str(campaign.target.path),
        n_ctx=campaign.settings.context_tokens,
        n_batch=batch_tokens,
        n_threads=threads,
        n_threads_batch=threads,
        draft_model=LlamaPromptLookupDecoding() if lookup else None,
        verbose=False,
    )
    tokens: list[int] = []
    began = ended = time.perf_counter()
    error = None
    try:
        for token in model.generate(model.tokenize(text.encode()), top_k=1, temp=0.0):
            ended = time.perf_counter()
            began = ended if not tokens else began
            tokens.append(token)
            if len(tokens) >= limit:
                break
    except (RuntimeError, ValueError) as raised:
        error = f"{type(raised).__name__}: {raised}"
    model.close()
    spent_s = ended - began
    return ((len(tokens) - 1) / spent_s if spent_s > 0 else float("nan")), tokens, error
