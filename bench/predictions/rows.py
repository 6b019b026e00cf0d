"""Read every speedup in `results/` as a case to predict, with its person and date."""

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from msgspec.structs import replace

from answers.answer import Question
from answers.catalog import assumed_drafter, model_named, way_by
from answers.choices import Placements, PlannedModel, Way
from answers.commands import default_depth, source_of
from answers.effects import Case
from answers.errors import QuestionError
from answers.kin import rig_of, speed_of
from answers.listed import question_by_name
from answers.machines import MachineWords, described_computer
from answers.placement import LoadPlan
from answers.predict import Setup, case_of, setup_of
from answers.presets import preset_named

QUERY = Path(__file__).with_name("rows.sql")
# Few people state their main memory. A published setting did fit, so it is assumed to be ample.
_ROOM_GIB = 512.0
# A speedup outside these bounds is due to a faulty setting, such as a mismatched vocabulary.
_LEAST, _MOST = 0.02, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A speedup, its person and its `day`: YYYY-MM-DD, YYYY-MM, YYYY or, if unknown, empty."""

    case: Case
    log_speedup: float
    person: str
    day: str
    source: str
    card: str
    target: str
    doubts: tuple[str, ...]


def listed(connection: duckdb.DuckDBPyConnection) -> tuple[tuple[Any, ...], ...]:
    """Read the rows of the results, in a fixed order."""
    relation = connection.sql(QUERY.read_text("utf-8"))
    return tuple(dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall())


def digest_of(rows: tuple[dict[str, Any], ...]) -> str:
    """Digest of a set of rows: the first 16 hex digits of a SHA-256."""
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def seen(rows: tuple[dict[str, Any], ...]) -> Iterator[Seen]:
    """Yield the rows with a plausible speedup whose machine and model can be planned."""
    for row in rows:
        case = _case(row) if _LEAST < row["speedup"] < _MOST else None
        if case is not None:
            yield Seen(
                case=case,
                log_speedup=math.log(row["speedup"]),
                person=_person(row["person"]),
                day=row["day"] or "",
                source=row["source"],
                card=row["device_label"],
                target=row["target_label"],
                doubts=tuple(row["doubts"]),
            )


def _person(name: str) -> str:
    """A key that identifies a person, from a full name, a user name or an address."""
    handle = re.search(r"\(([\w-]+)\)|\bby (\w+) and contributors", name)
    return ((handle[1] or handle[2]) if handle else name.partition(",")[0]).lower()


def _case(row: dict[str, Any]) -> Case | None:
    planned = _planned(
        row["target_label"].split(", thinking")[0],
        row["quantisation"],
        row["device_label"],
        on_cpu=row["on_cpu"],
    )
    if planned is None:
        return None
    question, load, setup, placed = planned
    way = _way(row["method"], row["draft_label"], question)
    depth = row["depth"] or default_depth(row["method"])
    way = replace(way, depths=(depth,))
    case = case_of(
        replace(setup, task=row["task"], partly=setup.partly or row["partly"]),
        way.load(load, depth),
        placed.of(way)[depth],
        way.speculation(depth),
    )
    return replace(case, engine=row["engine"] or "")


@cache
def _planned(
    model: str, quantisation: str | None, card: str, *, on_cpu: bool
) -> tuple[Question, LoadPlan, Setup, Placements] | None:
    """Plan a model on a machine without using results; `None` if model or machine is unknown."""
    cards = tuple(re.sub(r"(\d{1,3}) \N{MULTIPLICATION SIGN} ", r"\1x ", card).split(" + "))
    words = (
        MachineWords(gpus=("none",), cpu=card, ram=_ROOM_GIB)
        if on_cpu
        else MachineWords(gpus=cards, ram=_ROOM_GIB)
    )
    name = f"{model}:{quantisation}" if quantisation else model
    try:
        question = question_by_name(name, described_computer(words), rates=(), pairs={})
    except QuestionError:
        return None
    if question is None:
        return None
    load = question.load
    placed, rig = Placements(load), rig_of(question.computer)
    setup = setup_of(rig, speed_of(question.computer), load, placed.alone, question.model, None)
    return question, load, setup, placed


def _way(method: str, draft: str | None, question: Question) -> Way:
    """The row's method and drafter; `assumed_drafter` replaces a missing or unlisted drafter."""
    source, target = source_of(method), question.target
    found = None
    if source != "text" and draft:
        preset = preset_named(draft)
        if preset or source == "model":
            found = model_named(preset.name if preset else draft)
    needed = source != "own-head" or not target.facts.draft_layers
    if found is None and source != "text" and needed:
        found = assumed_drafter(method, target)
    return replace(way_by(method, question.name, target, found, _called(found)), curve=None)


def _called(draft: PlannedModel | None) -> str:
    return draft.facts.name if draft else ""
