"""Interpret names and words of other tools: ids, weights in a file name, endings."""

import hashlib
import re
from collections.abc import Iterable
from typing import Literal

from harness.imports.json_values import Value
from harness.imports.needed_facts import ImportedFacts

_LONGEST_ID, _DIGEST = 64, 8
_WEIGHTS = re.compile(
    r"(?P<name>.+?)[-.]"
    r"(?P<quantisation>(?:UD-)?(?:I?Q[0-9][A-Z0-9_]*|TQ[0-9]_[0-9]|BF16|F16|F32|MXFP4[A-Z_]*))"
    r"(?:-[0-9]{5}-of-[0-9]{5})?",
    re.IGNORECASE,
)


def id_of(text: str) -> str:
    """Turn a name into an id: lower case, with hyphens; a long name is cut and gets a digest."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._") or "unnamed"
    return plain if len(plain) <= _LONGEST_ID else _with_digest(plain, text)


def ids_of(texts: Iterable[str]) -> dict[str, str]:
    """Return the id for each name; different names get different ids."""
    found: dict[str, str] = {}
    for each in dict.fromkeys(texts):
        plain = id_of(each)
        found[each] = _with_digest(plain, each) if plain in found.values() else plain
    return found


def _with_digest(plain: str, text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{plain[: _LONGEST_ID - _DIGEST - 1].rstrip('-._')}-{digest}"


def weights_in(path: str) -> tuple[str | None, str | None]:
    """Return a model's name and quantisation, without folders, which may contain people's names."""
    stem = re.sub(r"\.(?:gguf|safetensors)$", "", re.split(r"[/\\]", path)[-1], flags=re.IGNORECASE)
    match = _WEIGHTS.fullmatch(stem)
    return (match["name"], match["quantisation"].upper()) if match else (stem or None, None)


def target_facts(path: str | None) -> ImportedFacts:
    """Return the target's name and quantisation, as its file name gives them."""
    name, quantisation = weights_in(path or "")
    return ImportedFacts(target=name, quantisation=quantisation)


def finish_of(answer: Value) -> Literal["length", "stop"] | None:
    """Return why an answer ended, from OpenAI's `finish_reason` or llama-server's `stop_type`."""
    choices = answer.at("choices").each() if answer.at("choices").json else []
    word = choices[0].at("finish_reason") if choices else answer.at("stop_type")
    found: dict[str | None, Literal["length", "stop"]] = {
        "length": "length", "limit": "length", "stop": "stop", "eos": "stop", "word": "stop",
    }  # fmt: skip
    return found.get(word.text())
