"""The error for a question that cannot be answered."""


class QuestionError(ValueError):
    """A card, a model or an option that was not understood: one line says which and what to do."""
