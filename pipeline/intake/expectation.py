"""Predict a result from the evidence and formulas of the base commit, which do not include it."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from answers import catalog
from answers.advice import Verdict, verdict_of
from answers.answer import answer
from answers.errors import QuestionError
from answers.listed import question_by_name
from answers.machines import Computer, MachineWords, described_computer
from answers.question import Question
from answers.ways import Way
from estimates.identity import identify
from schemas.method import limit
from schemas.submission import Arm, Submission
from schemas.vocabulary import METHODS

_MIB_PER_GIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmExpectation:
    """The answer expected for one arm: a verdict, and a speedup with its 90 % interval.

    `basis` says what the answer rests on: existing `measured`, `imported` or `published` figures,
    or `predicted`.
    """

    arm: str
    verdict: Verdict
    speedup: float
    low: float
    high: float
    basis: str


def expectations(submission: Submission) -> tuple[ArmExpectation, ...]:
    """The answers expected for a submission's arms; empty if the model or machine is unknown."""
    target = submission.target
    try:
        computer = _computer(submission)
    except QuestionError:
        return ()
    names = (f"{target.name}:{target.quantisation}", target.name)
    asked = (question_by_name(name, computer) for name in names)
    question = next(filter(None, asked), None)
    return tuple(_expected(submission, question)) if question else ()


def _computer(submission: Submission) -> Computer:
    """The submission's machine, built from a description such as a user would write."""
    machine = submission.machine
    ram = machine.ram_mib / _MIB_PER_GIB if machine.ram_mib else None
    if submission.engine.backend == "cpu" or not machine.gpus:
        label = identify(submission).device_label
        return described_computer(MachineWords(gpus=("none",), cpu=label, ram=ram))
    cards = tuple(
        f"{gpu.name} {round(gpu.vram_mib / _MIB_PER_GIB)} GB" if gpu.vram_mib else gpu.name
        for gpu in machine.gpus
    )
    return described_computer(MachineWords(gpus=cards, ram=ram))


def _expected(submission: Submission, question: Question) -> Iterator[ArmExpectation]:
    for arm in submission.arms:
        way = _way(submission, arm, question)
        if way is None:
            continue
        # The other ways of drafting stay, because their measurements correct the prediction for
        # this way.
        others = (each for each in question.ways if each.key != way.key)
        asked = replace(question, ways=(*others, way), named=way)
        choice = answer(asked).judged
        gain = choice.gain if choice else None
        if choice is None or gain is None:
            continue
        yield ArmExpectation(
            arm=arm.id,
            verdict=verdict_of(choice)[0],
            speedup=gain.estimate,
            low=gain.low,
            high=gain.high,
            basis="predicted" if gain.basis in ("physics", "nearest") else gain.basis,
        )


def _way(submission: Submission, arm: Arm, question: Question) -> Way | None:
    """The arm's way of drafting, as input to the estimate; `None` if it cannot be estimated."""
    method = METHODS[arm.method.type]
    depth = limit(arm.method)
    if arm.role != "speculation" or not method.drafts or method.instrument or depth is None:
        return None
    draft, name = None, _draft_name(submission, arm, question)
    if name == "":
        draft = catalog.assumed_drafter(method.id, question.target)
    elif name is not None:
        draft = catalog.model_named(name)
        if draft is None:
            return None
    way = catalog.way_by(method.id, question.target, draft, name or "")
    return replace(way, depths=(depth,))


def _draft_name(submission: Submission, arm: Arm, question: Question) -> str | None:
    """The name of the draft's file; `None` if drafting needs no file, as with a built-in head.

    The name is empty if drafting needs a file but its name is unknown.
    """
    kind, target = METHODS[arm.method.type].draft, question.target
    name = next((each.name for each in submission.drafts if each.id == arm.method.draft), None)
    if name is None and kind == "built-in" and not target.facts.draft_layers:
        preset = catalog.draft_files(target).get(arm.method.type)
        return preset.name if preset else ""
    return "" if name is None and kind == "required" else name
