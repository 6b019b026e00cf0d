"""Find the model that a text names among other words: in a path, a command, a thread's title.

A word belongs to the name if it is a family, a size, a number after one of these, or a word by
which models differ (`coder`, `vl`, `distill`). All other words are left out and listed.
`site_src/assets/javascripts/names.js` has the same steps.
"""

import re
from functools import cache

from answers.model_names import model_key, without_cache
from answers.name_scan import FOUND, TABLE, replaced
from answers.names_table import name_parts

_VERSION = re.compile(r"-v\d[\d.-]*$")
_REPEATED = re.compile(r"\b([a-z]+)-(?=\1)")  # "Qwen_Qwen3-8B"


@cache
def find_model(text: str) -> tuple[str, tuple[str, ...]]:
    """The slug of the model in a text, and the words that do not belong to its name."""
    plain = replaced("model", without_cache(text).lower())
    words = model_key(plain).split("-")
    own: list[int] = []
    for at, word in enumerate(words):
        if own and FOUND["stop"].fullmatch(word):
            break
        if _belongs(words, at, own):
            own.append(at)
    left = [at for at, word in enumerate(words) if word not in TABLE.keys["n"]]
    left = [at for at in left if at not in own]
    if not own:
        return "-".join(words), ()
    begin = 0 if _of_another(words, own, left, plain) else own[0]
    own += [at for at in left if begin <= at < own[-1]]
    own.sort()
    slug = model_key(_REPEATED.sub("", "-".join(words[at] for at in own)))
    found = TABLE.models.get(name_parts(slug)) or TABLE.models.get(name_parts(_VERSION.sub("", slug)))
    return found or slug, tuple(words[at] for at in left if at not in own)


def _belongs(words: list[str], at: int, own: list[int]) -> bool:
    """Whether a word belongs to the name, given the earlier words that do."""
    word, before = words[at], words[at - 1] if own and own[-1] == at - 1 else ""
    if FOUND["family"].fullmatch(word) or FOUND["parameters"].fullmatch(word):
        return True
    if word in TABLE.name_words:
        return bool(before) or len(word) > 1
    if FOUND["number"].fullmatch(word):
        return before.isalpha() or (bool(before) and word[0] == "v" or "." in word)
    return False


def _of_another(words: list[str], own: list[int], left: list[int], plain: str) -> bool:
    """Whether an unknown word begins the name: `darkidol-llama-3.1-8b`, `cedar-12b`."""
    families = [at for at in own if FOUND["family"].fullmatch(words[at])]
    if not families:
        return any(at < own[-1] for at in left)
    at = families[0]
    letters = re.match("[a-z]+", words[at])
    return at - 1 in left and letters is not None and f"{words[at - 1]}-{letters[0]}" in plain
