"""Look up the prediction for a model on this machine before the model is measured."""

from answers import words
from answers.answer import answer
from answers.listed import question_by_name
from harness.machine.computer import computer_of
from schemas.submission import Model


def answer_here(target: Model) -> str | None:
    """Return whether speculation pays here, as a sentence; `None` if the model is not listed."""
    named = f"{target.name}:{target.quantisation}" if target.quantisation else target.name
    computer = computer_of()
    question = question_by_name(named, computer) or question_by_name(target.name, computer)
    return words.verdict(answer(question)) if question else None
