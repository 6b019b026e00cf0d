"""The method of an arm, by the types that llama-server names in logs and tables."""

from collections.abc import Iterable

from schemas import vocabulary

_METHODS = {
    word: entry.id
    for entry in vocabulary.METHODS.values()
    if entry.llama_cpp
    for word in entry.llama_cpp.types
}


def method_of(types: Iterable[str]) -> str | None:
    """The method as `--map method=` takes it, several types as a chain.

    `None` where one of the types is unknown.
    """
    words = [_METHODS.get(word.replace("_", "-")) for word in types]
    known = [word for word in words if word is not None]
    if not known or len(known) < len(words):
        return None
    chain = "+".join(known)
    return known[0] if len(known) == 1 else f"other:name={chain},chain={chain}"
