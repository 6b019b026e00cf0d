"""The error for a question that cannot be answered."""


class QuestionError(ValueError):
    """A card, a model or an option was not understood; the message says which, and what to do."""
