"""Every rule fires alone on its example file, and on no valid file."""

from dataclasses import replace
from pathlib import Path

import pytest

from schemas import contract
from schemas.codec import canonical_bytes, encode
from schemas.method import Method
from schemas.rules import RULES
from schemas.submission import Submission
from tests.samples import sample
from tools import examples

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.json"))


def test_every_rule_has_an_example_and_every_example_a_rule() -> None:
    examples = {path.stem for path in (DATA / "invalid").glob("*.json")}

    assert examples == RULES.keys()


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_change_of_a_valid_file_breaks_one_rule_with_the_agreed_message(rule: str) -> None:
    data = (DATA / "invalid" / f"{rule}.json").read_bytes()
    agreed = (DATA / "invalid" / f"{rule}.txt").read_text(encoding="utf-8")
    document = examples.small()
    assert contract.findings(canonical_bytes(document)) == ()

    examples.CHANGES[rule](document)

    assert canonical_bytes(document) == data
    assert {finding.rule for finding in contract.findings(data)} == {rule}
    assert examples.message_lines(rule, data) == agreed


def test_a_round_of_a_chain_may_draft_more_than_the_depth_of_one_of_its_methods() -> None:
    # An n-gram method drafted all 8 tokens of each of 5 rounds; the draft model's depth is 4.
    made = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    arm = made.arms[1]
    name = "ngram-mod+draft-model"
    deep, chain = (
        Method(type="other", name=name, n_max=4, chain=asked)
        for asked in (None, ("ngram-mod", "draft-model"))
    )
    trials = tuple(
        replace(trial, output_tokens=46, rounds=5, drafted=40, accepted=40)
        for trial in made.trials
        if trial.arm == arm.id
    )

    rules = {
        method: {
            name
            for name in ("drafted-within-depth", "accepted-within-depth")
            if [*RULES[name](replace(made, arms=(replace(arm, method=method),), trials=trials))]
        }
        for method in (deep, chain)
    }

    assert rules == {deep: {"drafted-within-depth", "accepted-within-depth"}, chain: set()}


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_file_has_no_finding_and_is_canonical(path: Path) -> None:
    data = path.read_bytes()

    submission = contract.read(data)

    assert isinstance(submission, Submission)
    assert canonical_bytes(encode(submission)) == data


def test_the_valid_files_are_the_ones_that_the_maker_writes() -> None:
    assert {path.stem: path.read_bytes() for path in VALID} == examples.valid_files()
