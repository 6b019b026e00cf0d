"""The sentences of answers, from `sentences.toml`."""

from schemas.vocabulary.documents import document


def sentence(name: str, **words: object) -> str:
    """A sentence with these words inserted."""
    return template(name).format(**words)


def template(name: str) -> str:
    """A sentence with the names of words in braces, which a page's script replaces as well."""
    return str(document("sentences", "planner")[name])
