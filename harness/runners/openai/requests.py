"""How is a question asked? Greedily, with a fixed length, under the server's own chat template.

Beside what OpenAI defines, each engine gets only the fields that it is known to understand: token
ids where it can tell them, and the prompt cache kept out without a change of the prompt, so that a
prompt that returns in the next block is processed anew.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.runners.openai.identity import EngineName
    from schemas.codec import Json

# LM Studio drafts when a request names a draft model; the others as they were started.
DRAFTS_BY_REQUEST: frozenset[EngineName] = frozenset({"LM Studio"})
# vLLM and SGLang put the salt into the keys of their prefix caches: no request finds another's.
SALTED: frozenset[EngineName] = frozenset({"vLLM", "SGLang"})
# SGLang refuses token ids and meta information in a stream, so it is asked for neither there.
_BESIDE: dict[EngineName, dict[str, Json]] = {
    "vLLM": {"return_token_ids": True},
    "SGLang": {"return_spec_tokens_details": True},
    "llama.cpp": {"cache_prompt": False},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One prompt for one engine. `draft` is a model that LM Studio is told to draft with."""

    text: str
    limit: int
    model: str
    engine: EngineName
    draft: str | None = None


def streamed(asked: Asked) -> dict[str, Json]:
    """The body of a timed request: the answer comes token by token, its counts at the end."""
    return {**_question(asked), "stream": True, "stream_options": {"include_usage": True}}


def with_margins(asked: Asked) -> dict[str, Json]:
    """The body of an untimed request: the two most probable tokens at every place."""
    return {**_question(asked), "logprobs": True, "top_logprobs": 2}


def with_meta_info(asked: Asked) -> dict[str, Json]:
    """The body of an untimed request to SGLang, whose older builds count in whole answers only."""
    return {**_question(asked), "return_meta_info": True}


def _question(asked: Asked) -> dict[str, Json]:
    salt: dict[str, Json] = {"cache_salt": uuid.uuid4().hex} if asked.engine in SALTED else {}
    drafts = asked.engine in DRAFTS_BY_REQUEST and asked.draft is not None
    return {
        "model": asked.model,
        "messages": [{"role": "user", "content": asked.text}],
        "temperature": 0,
        "max_tokens": asked.limit,
        **({"draft_model": asked.draft} if drafts else {}),
        **_BESIDE.get(asked.engine, {}),
        **salt,
    }
