"""Interpret strings: the weights in a file name, why a run failed, why an answer ended."""

import re
from typing import Literal

from harness.imports.json_object import JsonObject
from harness.imports.needed_facts import ImportedFacts
from schemas.submission import Reason

_WEIGHTS = re.compile(
    r"(?P<name>.+?)[-.]"
    r"(?P<quantisation>(?:UD-)?(?:I?Q[0-9][A-Z0-9_]*|TQ[0-9]_[0-9]|BF16|F16|F32|MXFP4[A-Z_]*))"
    r"(?:-[0-9]{5}-of-[0-9]{5})?",
    re.IGNORECASE,
)
_REASONS: dict[str, Reason] = {
    "out of memory": "out-of-memory",
    "outofmemory": "out-of-memory",
    "timed out": "timed-out",
    "timeout": "timed-out",
    "context size": "context-too-small",
    "context length": "context-too-small",
    "connect": "crashed",
    "connection": "crashed",
    "reset by peer": "crashed",
    "remote end closed": "crashed",
    "http": "bad-answer",
    "json": "bad-answer",
}


def weights_in(path: str) -> tuple[str | None, str | None]:
    """Return a model's name and quantisation, without folders, which may contain people's names."""
    stem = re.sub(r"\.(?:gguf|safetensors)$", "", re.split(r"[/\\]", path)[-1], flags=re.IGNORECASE)
    match = _WEIGHTS.fullmatch(stem)
    if match is None:
        return stem or None, None
    return match["name"], match["quantisation"].upper()


def target_facts(path: str | None) -> ImportedFacts:
    """Return the target's name and quantisation, as its file name gives them."""
    name, quantisation = weights_in(path or "")
    return ImportedFacts(target=name, quantisation=quantisation)


def finish_of(answer: JsonObject) -> Literal["length", "stop"] | None:
    """Return why an answer ended, from OpenAI's `finish_reason` or llama-server's `stop_type`."""
    choices = answer.children("choices") if answer.fields.get("choices") else []
    word = choices[0].text("finish_reason") if choices else answer.text("stop_type")
    if word in ("length", "limit"):
        return "length"
    return "stop" if word in ("stop", "eos", "word") else None


def reason_of(text: str | None) -> Reason:
    """Return why a generation failed: by the first known phrase in the message, else `other`."""
    words = (text or "").lower()
    return next((reason for sign, reason in _REASONS.items() if sign in words), "other")
