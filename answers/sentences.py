"""The sentences of answers, from `sentences.toml`."""

from collections.abc import Mapping

from schemas.vocabulary.documents import document

SENTENCES: Mapping[str, str] = document("sentences", "answers")


def sentence(name: str, **words: object) -> str:
    """A sentence with these words inserted."""
    return SENTENCES[name].format(**words)
