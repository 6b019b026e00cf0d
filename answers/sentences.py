"""The sentences of answers, from `sentences.toml`."""

from schemas.vocabulary.documents import document


def sentence(name: str, **words: object) -> str:
    """A sentence with these words inserted."""
    return str(document("sentences", "answers")[name]).format(**words)
