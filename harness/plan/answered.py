"""Look up the prediction for a model on this machine before the model is measured."""

from collections.abc import Iterator

from answers import words
from answers.answer import answer
from answers.listed import question_by_name
from harness.machine.computer import computer_of
from harness.record.measured_here import with_own_figures
from schemas.submission import Model


def answer_lines(target: Model) -> Iterator[str]:
    """Yield whether speculation pays here, as a sentence; nothing if the model is not listed."""
    named = f"{target.name}:{target.quantisation}" if target.quantisation else target.name
    computer = computer_of()
    question = question_by_name(named, computer) or question_by_name(target.name, computer)
    if question:
        yield f"answer    {words.verdict(answer(with_own_figures(question, ())))}"
