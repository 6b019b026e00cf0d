"""The page computes what decides, and the gain with the visitor's number, as the terminal does."""

import random
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pipeline.site.pages.answer_card import words_of
from pipeline.site.pages.answer_files import rules
from pipeline.site.pages.answer_rows import COLUMNS, figures
from planner.acceptance import fitted
from planner.answer import Answer, answer
from planner.deciding import deciding, sentences
from planner.kinds import machine_kind
from planner.listed import listed_machines, listed_models, question_by_name
from planner.machines import described_computer
from planner.ways import OwnRounds
from tests.scripts import run

QUESTIONS = 40
PROGRAM = """
import { withAccepted } from "./accepted.js";
import { decides } from "./decides.js";
const answer = ({ rules, rows }) =>
  rows.map(({ row, share, reach }) => [
    decides(rules, row),
    withAccepted({ ...rules, reach }, row, share),
  ]);
"""


def questions() -> list[tuple[Answer, float]]:
    """Random machines with random models that a draft fits, each with an acceptance."""
    rng = random.Random(76)  # noqa: S311 - questions of a test
    machines = [each.words for each in listed_machines(()) if each.gib or each.kind == "cpu"]
    models = [name for _, name in listed_models(())]
    found: list[tuple[Answer, float]] = []
    while len(found) < QUESTIONS:
        asked = question_by_name(rng.choice(models), described_computer(rng.choice(machines)))
        answered = answer(asked) if asked else None
        if answered and deciding(answered):
            found.append((answered, rng.randint(0, 100) / 100))
    return found


def row_of(found: Answer) -> dict[str, Any]:
    """The row of an answer file, with its texts in place of their numbers."""
    known = deciding(found)
    names = COLUMNS[COLUMNS.index("ram") + 1 :]
    return dict(zip(names, figures(found, known), strict=False)) | {
        "usual": words_of(found, known).usual
    }


def reach_of(found: Answer) -> float:
    """The reach in the index of machines."""
    return fitted().reach(machine_kind(found.question.rig))


def test_the_field_of_the_page_gives_what_the_terminal_gives(tmp_path: Path) -> None:
    asked = questions()
    rows = [
        {"row": row_of(found), "share": share, "reach": reach_of(found)} for found, share in asked
    ]

    shown = run(tmp_path, PROGRAM, {"rules": rules(), "rows": rows})

    for (found, share), (words, own) in zip(asked, shown, strict=True):
        known = deciding(found)
        assert found.judged is not None
        assert found.judged.way is not None
        assert known is not None
        stated = OwnRounds.stated({known.depth: 1 + share * known.depth})
        way = replace(found.judged.way, depths=(known.depth,), accepted=stated, measured={})
        with_own = answer(replace(found.question, ways=(way,), named=way)).judged
        assert with_own is not None
        assert with_own.gain is not None
        # The files have printed digits: two of ratios and costs and three of rates.
        assert tuple(words) == sentences(found)
        assert own["gain"] == pytest.approx(with_own.gain.estimate, rel=1e-6)
        assert own["low"] == pytest.approx(with_own.gain.low, rel=0.006)
        assert own["high"] == pytest.approx(with_own.gain.high, rel=0.006)
        assert own["tps"] == pytest.approx(with_own.tps.estimate, rel=0.006)
