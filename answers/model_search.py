"""Find the model that a text names among other words: in a path, a command, a thread's title.

A word belongs to the name if it is a family, a size, a number after one of these, or a word by
which models differ (`coder`, `vl`, `distill`). Unknown words inside the name make it another
model's; those around it are left out and listed.
`site_src/assets/javascripts/model_names.js` has the same steps.
"""

import re
from functools import cache

from answers.model_names import model_key, without_cache
from answers.name_scan import FOUND, TABLE, replaced
from answers.names_table import name_parts

_VERSION = re.compile(r"-v[01](?:[.-]?\d)?$")
_REPEATED = re.compile(r"\b([a-z]{2}[a-z0-9.-]+)-(?=\1)")  # "Qwen_Qwen3-8B"
_EXPLAINED = TABLE.keys["n"].keys() | TABLE.keys["e"].keys()


@cache
def find_model(text: str) -> tuple[str, tuple[str, ...]]:
    """The slug of the model in a text, and the words that do not belong to its name."""
    plain = replaced("model", without_cache(text).lower())
    bare = re.sub(r"[()]", " ", plain)
    return _found(plain) or _found(bare) or (model_key(plain), ())


def _found(plain: str) -> tuple[str, tuple[str, ...]] | None:
    words = model_key(plain).split("-")
    own = _name_in(words)
    if not own:
        return None
    left = [at for at, word in enumerate(words) if at not in own and word not in _EXPLAINED]
    begin = 0 if _of_another(words, own, left, plain) else own[0]
    own = sorted([*own, *(at for at in left if begin <= at < own[-1])])
    slug = model_key(_REPEATED.sub("", "-".join(words[at] for at in own)))
    without = TABLE.models.get(name_parts(_VERSION.sub("", slug)), slug)
    return TABLE.models.get(name_parts(slug), without), tuple(
        words[at] for at in left if at not in own
    )


def _name_in(words: list[str]) -> list[int]:
    """The indices of the words that belong to the first name; a name has a family or a size."""
    own: list[int] = []
    for at, word in enumerate(words):
        if FOUND["stop"].fullmatch(word):
            if any(_is_main(words[each]) for each in own):
                break
            own = []
        elif _belongs(words, at, own):
            own.append(at)
    if not any(_is_main(words[each]) for each in own):
        return []
    first = next((at for at in own if FOUND["family"].fullmatch(words[at])), own[0])
    # A word such as "small" counts before the family only directly before it.
    return [x for x in own if _is_main(words[x]) or {*range(x, first)} <= {*own}]


def _is_main(word: str) -> bool:
    return any(FOUND[name].fullmatch(word) for name in ("family", "parameters"))


def _belongs(words: list[str], at: int, own: list[int]) -> bool:
    """Whether a word belongs to the name, given the earlier words that do."""
    word, before = words[at], words[at - 1] if own and own[-1] == at - 1 else ""
    if _is_main(word):
        return True
    if word in TABLE.name_words:
        return bool(before) or len(word) > 1
    if FOUND["number"].fullmatch(word):
        return before.isalpha() or (bool(before) and word[0] == "v") or "." in word
    return before.isalpha() and bool(
        FOUND["family"].fullmatch(before) and FOUND["line"].fullmatch(word)
    )


def _of_another(words: list[str], own: list[int], left: list[int], plain: str) -> bool:
    """Whether an unknown word begins the name: `darkidol-llama-3.1-8b`, `cedar-12b`."""
    first = next((at for at in own if FOUND["family"].fullmatch(words[at])), None)
    if first is None:
        return any(at < own[-1] for at in left)
    letters = re.sub(r"[^a-z].*", "", words[first])
    return first - 1 in left and f"{words[first - 1]}-{letters}" in plain
