"""Read every speedup in `results/` as a case to predict, with its person and date."""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from planner.acceptance import STOPPED
from planner.engine_commands import default_depth
from planner.engine_table import engine_kind
from planner.errors import QuestionError
from planner.evidence import Rig, rig_of
from planner.kinds import TEXT, Case, drafting_class
from planner.machines import MachineWords, described_computer
from planner.names import read_model
from planner.shapes import ShapeRow, facts_of
from planner.sized_shapes import shape_named
from planner.speed import weights_per_token

QUERY = Path(__file__).with_name("rows.sql")
# A speedup outside these bounds is due to a faulty setting, such as a mismatched vocabulary.
_LEAST, _MOST = 0.02, 20.0
# With a higher `p_min`, drafts end early.
_STOPS_EARLY = 0.5
_ROUNDED = 0.01
_USUAL_DRAFTING = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A speedup, its person and its `day`: YYYY-MM-DD, YYYY-MM, YYYY or, if unknown, empty.

    `truth` is the speedup's logarithm. `stated` means that the source states the depth; otherwise
    `depth` is the method's default. `tokens` are those of a round, stated or computed from the
    acceptance and the `drafted` tokens. `drafting` is the share of the target's weights that a
    separate draft model reads.
    """

    case: Case
    model: str
    engine: str
    depth: int
    task: str
    truth: float
    person: str
    day: str
    source: str
    card: str
    target: str
    stated: bool
    drafted: int = 0
    tokens: float | None = None
    drafting: float = 0.0

    @property
    def place(self) -> tuple[object, ...]:
        """The card, number of cards, kind of engine, placement and method."""
        case = self.case
        return case.rig.card, case.rig.cards, self.engine, case.partly, case.method


def listed(connection: duckdb.DuckDBPyConnection) -> tuple[dict[str, Any], ...]:
    """Read the rows of the results, in a fixed order."""
    relation = connection.sql(QUERY.read_text("utf-8"))
    return tuple(dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall())


def digest_of(rows: tuple[Any, ...]) -> str:
    """Digest of a set of rows: the first 16 hex digits of a SHA-256."""
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def seen(rows: tuple[dict[str, Any], ...]) -> Iterator[Seen]:
    """Yield the rows with a plausible speedup whose machine and model are known."""
    for row in rows:
        name = row["target_label"].split(", thinking")[0]
        rig = _rig(row["device_label"], on_cpu=row["on_cpu"])
        shape = shape_named(read_model(name).slug)
        if rig is None or shape is None or not _LEAST < row["speedup"] < _MOST:
            continue
        depth = row["depth"] or default_depth(row["method"])
        drafted = min(depth, STOPPED) if (row["p_min"] or 0) > _STOPS_EARLY else depth
        yield Seen(
            case=Case(
                rig=rig,
                mixture=bool(shape.experts),
                method=row["method"],
                partly=row["partly"] and not row["on_cpu"],
            ),
            model=read_model(name).slug,
            engine=engine_kind(row["engine"] or ""),
            depth=depth,
            task=row["task"],
            truth=math.log(row["speedup"]),
            person=_person(row["person"]),
            day=row["day"] or "",
            source=row["source"],
            card=row["device_label"],
            target=row["target_label"],
            stated=row["depth"] is not None,
            drafted=drafted,
            tokens=_tokens(row, drafted),
            drafting=_drafting(row["draft_label"], shape, row["method"]),
        )


def _tokens(row: Mapping[str, Any], drafted: int) -> float | None:
    """The tokens of a round: stated, or from the acceptance; `None` for drafts from the text.

    A method that drafts from the text has no draft in most of its rounds.
    """
    tokens, accepted, depth = row["tokens_per_round"], row["acceptance"], row["depth"]
    if depth is None or drafting_class(row["method"]) == TEXT:
        return None
    if tokens is not None and 1 < tokens <= depth + 1 + _ROUNDED:
        return float(tokens)
    return 1 + accepted * drafted if accepted else None


def _drafting(draft: str | None, target: ShapeRow, method: str) -> float:
    """The share of a target's weights that a draft model reads for each token."""
    if drafting_class(method) != "model":
        return 0.0
    shape = shape_named(read_model(draft or "").slug)
    if shape is None:
        return _USUAL_DRAFTING
    read = (weights_per_token(facts_of(each, None)) for each in (shape, target))
    return min(1.0, next(read) / next(read))


def _person(name: str) -> str:
    """A key that identifies a person, from a full name, a user name or an address."""
    handle = re.search(r"\(([\w-]+)\)|\bby (\w+) and contributors", name)
    return ((handle[1] or handle[2]) if handle else name.partition(",")[0]).lower()


@cache
def _rig(card: str, *, on_cpu: bool) -> Rig | None:
    """The machine as the evidence names it; `None` if it is unknown."""
    cards = tuple(re.sub(r"(\d{1,3}) \N{MULTIPLICATION SIGN} ", r"\1x ", card).split(" + "))
    words = MachineWords(gpus=("none",), cpu=card) if on_cpu else MachineWords(gpus=cards)
    try:
        return rig_of(described_computer(words))
    except QuestionError:
        return None
