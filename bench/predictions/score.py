"""Score the shipped answers on figures of others: `python -m bench.predictions.score ROWS.json`.

The file is a list of rows: `card`, `n_cards`, `model`, `quant`, `engine`, `method`, `depth`,
`task`, `person`, `source`, `concurrency` and `speedup`, or two rates. Each row is asked like a
question, with much main memory and the row's method named. A constant and the median by kind of
method, from `results/`, are scored on the same rows. Rows with a depth and an `acceptance`, or
`tokens_per_round`, are also asked with it, and scored apart.
"""

import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from bench.predictions.measures import Scored, gained, line, people
from planner.acceptance import drafted
from planner.answer import Answer, answer
from planner.catalog import way_of
from planner.engine_commands import source_of
from planner.engine_table import engine_kind
from planner.errors import QuestionError
from planner.estimate import typical
from planner.kinds import TEXT, drafting_class, kind_of
from planner.listed import question_by_name
from planner.machines import MachineWords, described_computer
from planner.speed import SpeedEstimate
from planner.ways import OwnRounds
from schemas.vocabulary import METHODS, TASKS

_RAM_GIB = 512.0
# Names of methods in lists of figures, by the method of the vocabulary that drafts alike.
_NAMES = {"ngram": "ngram-simple", "eagle": "other", "medusa": "other"}
_LEAST, _MOST = 0.02, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A row with the answer to it, and with the two simpler predictions."""

    verdict: str
    product: Scored
    constant: Scored
    usual: Scored
    accepted: Scored | None = None


def main() -> None:
    """Print the measures of the product and of simpler predictions, then those by verdict."""
    rows: Sequence[Mapping[str, Any]] = json.loads(Path(sys.argv[1]).read_bytes())
    single = [row for row in rows if (row.get("concurrency") or 1) == 1]
    found = [one for row in single for one in asked(row)]
    screen = Console(width=150)
    lines = [
        line("the product", [one.product for one in found]),
        line("median by class", [one.usual for one in found]),
        line("a constant", [one.constant for one in found]),
    ]
    screen.print(f"{len(found)} of {len(rows)} rows could be asked; {len(single)} have one stream")
    screen.print(_table(lines))
    stated = [(one.product, one.accepted) for one in found if one.accepted]
    if stated:
        screen.print("With a stated acceptance and depth:")
        without, own = zip(*stated, strict=True)
        screen.print(_table([line("without it", without), line("with it", own)]))
    for text in by_verdict(found):
        screen.print(text)


def _table(lines: Sequence[Mapping[str, object]]) -> Table:
    table = Table(*lines[0], box=None, pad_edge=False)
    for cells in lines:
        table.add_row(*map(str, cells.values()))
    return table


def by_verdict(found: Sequence[Asked]) -> Iterator[str]:
    """Yield the share that gained for each verdict, and the share of losses without advice."""
    each = defaultdict(list)
    for one in found:
        each[one.verdict].append(one.product)
    for verdict, own in sorted(each.items()):
        rows, persons = gained(own)
        yield (
            f"{verdict}: {len(own)} rows of {people(own)} people, {rows:.0%} / {persons:.0%} gained"
        )
    lost = [one for one in found if one.product.truth < 0]
    bad = [one for one in lost if one.verdict in ("No reason to", "Probably not", "No")]
    if lost:
        yield f"of {len(lost)} losses, {len(bad) / len(lost):.0%} were at No reason to or worse"


def asked(row: Mapping[str, Any]) -> Iterator[Asked]:
    """Ask about a row; nothing if its card, model or method is unknown or it has no ratio."""
    ratio = row.get("speedup")
    if not ratio and row.get("baseline_tps") and row.get("spec_tps"):
        ratio = row["spec_tps"] / row["baseline_tps"]
    method = method_of(str(row["method"]))
    found = answer_to(row, method) if ratio and _LEAST < ratio < _MOST and method else None
    if found is None or found.judged is None or found.judged.gain is None or method is None:
        return
    one = _scored(row, ratio, found.judged.gain)
    known = typical()
    median = known.kinds.get(kind_of(method, mixture=found.alone.case.target.mixture))
    yield Asked(
        verdict=found.verdict,
        product=one,
        constant=_simpler(one, known.every),
        usual=_simpler(one, median.speedup if median else known.every),
        accepted=_with_acceptance(row, ratio, method),
    )


def _with_acceptance(row: Mapping[str, Any], ratio: float, method: str) -> Scored | None:
    """The prediction from the row's own acceptance; `None` without one, or without a depth."""
    share, tokens = row.get("acceptance"), row.get("tokens_per_round")
    if not row.get("depth") or not (share or tokens) or drafting_class(method) == TEXT:
        return None
    share = share / 100 if share and share > 1 else share
    depth = int(row["depth"]) if tokens else drafted(source_of(method), int(row["depth"]))
    own = OwnRounds.stated({depth: tokens or 1 + (share or 0.0) * depth})
    found = answer_to(row, method, own)
    gain = found.judged.gain if found and found.judged else None
    return _scored(row, ratio, gain) if gain else None


def _scored(row: Mapping[str, Any], ratio: float, gain: SpeedEstimate) -> Scored:
    return Scored(
        person=str(row.get("person") or row.get("source") or "").lower(),
        truth=math.log(ratio),
        middle=math.log(gain.estimate),
        reach=_reach(math.log(ratio), *map(math.log, (gain.estimate, gain.low, gain.high))),
        stated=row.get("depth") is not None,
    )


def method_of(name: str) -> str | None:
    """The method that a list of figures means; `None` if the vocabulary has none like it."""
    name = _NAMES.get(name, name)
    return next((method for method in METHODS if name.partition(" ")[0] == method), None)


def answer_to(
    row: Mapping[str, Any], method: str, accepted: OwnRounds | None = None
) -> Answer | None:
    """The answer to a row's question with its method named; `None` if it is not understood."""
    words = MachineWords(gpus=(str(row["card"]),) * int(row.get("n_cards") or 1), ram=_RAM_GIB)
    model, quantisation = str(row["model"]), row.get("quant")
    names = ([f"{model}:{quantisation}"] if quantisation else []) + [model]
    try:
        computer = described_computer(words)
        known = (question_by_name(name, computer) for name in names)
        question = next((each for each in known if each is not None), None)
    except QuestionError:
        return None
    if question is None:
        return None
    way, depth = way_of(method, question.target), row.get("depth")
    way = replace(way, depths=(int(depth),)) if depth else way
    way = replace(way, accepted=accepted)
    task = str(row.get("task") or "")
    return answer(
        replace(
            question,
            ways=(way,),
            named=way,
            engine=engine_kind(str(row.get("engine") or "llama.cpp")),
            task=task if task in TASKS else None,
        )
    )


def _reach(truth: float, middle: float, low: float, high: float) -> float:
    """The half of the interval on the figure's side, as a half-width."""
    return high - middle if truth > middle else middle - low


def _simpler(one: Scored, speedup: float) -> Scored:
    return with_fields(one, middle=math.log(speedup), reach=None)


if __name__ == "__main__":
    main()
