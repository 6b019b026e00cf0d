"""Check what answers say against the data, over models, methods and cards.

`python -m bench.sentences` asks about every listed model with every method on every listed machine,
`--some N` about N of these questions, drawn at random (`--seed`). It reads the sentences as a
person would, with its own patterns, and compares each claim with the rows of `evidence.json` and
`fitted.json`, which it reads without the code of `answers`: what nobody has measured, who published
which figure, which ways are slower, and how accurate predictions are. It prints each false sentence
with its question, and the number of them; the exit code is 1 if there are any.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain, product
from typing import Any

from msgspec.structs import replace

from planner import catalog
from planner.answer import Answer, answer
from planner.evidence import PairFigure
from planner.listed import listed_machines, listed_models, question_by_name
from planner.machines import described_computer
from planner.words import accuracy, lines
from schemas.vocabulary import METHODS

# How each method drafts, as `fitted.json` names it; all other methods draft from the text.
CLASSES = {
    "draft-model": "model", "mtp": "mtp", "eagle3": "eagle3", "dflash": "dflash",
    "dflash2": "dflash", "dspark": "dspark",
}  # fmt: skip
_NONE = re.compile(r"the map has no figure of (?:(?P<label>[^.;]+) with )?this model")
_TIMES = r"\N{MULTIPLICATION SIGN}"
_WHO = (
    r"(?P<people>one person|\d{1,6} people) (?:published|measured) "
    rf"(?P<ratio>[\d.]{{1,9}}){_TIMES}(?: \([^)]*\))?(?: with English text)?"
)
_HERE = re.compile(rf"{_WHO} for this card and model with (?P<rest>[^;]+)")
_ELSEWHERE = re.compile(rf"predicted; {_WHO} with (?P<label>.+?) on (?P<device>[^;]+?)(?:;|\.$)")
_RATES = re.compile(rf"about ([\d.,]+) tokens/s instead of ([\d.,]+): ([\d.]+){_TIMES}")
_TESTED = re.compile(
    r"a factor of (?P<off>[\d.]+) in the median over (?P<people>\d+) people; (?P<held>\d+) % of "
    r"their (?P<figures>\d+) figures"
)
_ROUNDING = 0.02  # of a quotient of rates that are printed with three digits


@dataclass(frozen=True, slots=True)
class Said:
    """An answer with its sentences, as they are printed, and the map's rows about its model."""

    found: Answer
    text: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def method(self) -> str:
        """The method that the verdict is about; empty without one."""
        judged = self.found.judged
        return judged.way.method if judged and judged.way else ""


@cache
def map_rows() -> tuple[Mapping[str, Any], ...]:
    """The rows of `evidence.json` by the names of their columns."""
    names = PairFigure.__struct_fields__
    rows = json.loads(resources.files("planner").joinpath("evidence.json").read_bytes())
    return tuple(dict(zip(names, row, strict=False)) for row in rows)


@cache
def tested() -> Mapping[str, Mapping[str, float]]:
    """The errors of predictions by kind, from `fitted.json`."""
    document = json.loads(resources.files("planner").joinpath("fitted.json").read_bytes())
    found: Mapping[str, Mapping[str, float]] = document["accuracy"]
    return found


def rows_of(model: str) -> tuple[Mapping[str, Any], ...]:
    """The rows of a model, by its key or, for one of its modes, by its printed name."""
    own = [row for row in map_rows() if row["model"] == model]
    names = {row["target_name"].lower().partition(",")[0] for row in own}
    alike = (row for row in map_rows() if row["target_name"].lower().partition(",")[0] in names)
    models = {row["model"] for row in alike}
    return tuple(row for row in map_rows() if row["model"] in models)


def absent(said: Said) -> Iterator[str]:
    """Yield claims that the map lacks a figure which it has."""
    for found in _NONE.finditer(" ".join(said.text)):
        labels = {METHODS[row["method"]].label for row in said.rows}
        if labels if found["label"] is None else found["label"] in labels:
            yield found[0]


def quoted(said: Said) -> Iterator[str]:
    """Yield figures that are quoted but not on the map."""
    patterns = product((_HERE, _ELSEWHERE), said.text)
    for found in chain.from_iterable(pattern.finditer(line) for pattern, line in patterns):
        parts = found.groupdict()
        people = 1 if parts["people"] == "one person" else int(parts["people"].split()[0])
        if not any(
            (row["people"], f"{row['speedup']:.2f}") == (people, parts["ratio"])
            and (parts.get("rest") or parts["label"]).startswith(METHODS[row["method"]].label)
            and parts.get("device") in (None, row["name"])
            for row in said.rows
        ):
            yield found[0]


def divided(said: Said) -> Iterator[str]:
    """Yield speedups that are not the quotient of the rates beside them."""
    for found in _RATES.finditer(said.text[0]):
        after, before, ratio = (float(each.replace(",", "")) for each in found.groups())
        if abs(after / before / ratio - 1) > _ROUNDING:
            yield found[0]


def tested_errors(said: Said) -> Iterator[str]:
    """Yield statements of accuracy that are not those of this kind of prediction."""
    last, mixture = said.text[-1], said.found.alone.case.target.mixture
    kind = f"{'mixture' if mixture else 'dense'}, {CLASSES.get(said.method, 'text')}"
    known = tested().get(kind)
    if "too few people" in last and known is not None:
        yield last
    for found in _TESTED.finditer(last):
        printed = {"off": "{:.2f}", "people": "{:.0f}", "held": "{:.0%}", "figures": "{:.0f}"}
        right = {name: form.format(known[name]) for name, form in printed.items()} if known else {}
        if found.groupdict() != {name: value.strip("%") for name, value in right.items()}:
            yield last


def unfounded(said: Said) -> Iterator[str]:
    """Yield a *Yes* or *No* without figures of several people, or raw trials, for this card."""
    word = said.text[0].partition(":")[0]
    if word not in ("Yes", "No") or not said.found.asked.fits or not said.method:
        return
    quotes = chain.from_iterable(_HERE.finditer(line) for line in said.text)
    own = (q for q in quotes if q["rest"].startswith(METHODS[said.method].label))
    if not any(q["people"] != "one person" or " measured " in q[0] for q in own):
        yield said.text[0]


def listed_twice(said: Said) -> Iterator[str]:
    """Yield uses of the memory that are listed twice, and verdicts that no method exists."""
    listed = [each.changes for each in (said.found.asked, *said.found.alternatives)]
    yield from (each for each in {*listed} if listed.count(each) > 1)
    if "no known method" in said.text[0] and any(each.way for each in said.found.options):
        yield said.text[0]


CHECKS: tuple[Callable[[Said], Iterator[str]], ...] = (
    absent, quoted, divided, tested_errors, unfounded, listed_twice,
)  # fmt: skip


def ask(model: str, method: str | None, machine: Any) -> Said | None:  # noqa: ANN401 - a listed machine
    """The answer to a question; `None` if the model's size is unknown or it has no such head."""
    question = question_by_name(model, described_computer(machine.words))
    if question is None or (method == "mtp" and not catalog.may_have_head(question.target)):
        return None
    if method is not None:
        way = catalog.way_of(method, question.target)
        others = (each for each in question.ways if each.key != way.key)
        question = replace(question, ways=(*others, way), named=way)
    found = answer(question)
    return Said(found, (*lines(found), accuracy(found)), rows_of(question.model))


def false_sentences(some: int | None, seed: int) -> Iterator[tuple[str, str]]:
    """Yield a question and a false sentence of its answer, over all questions or some of them."""
    machines = [*listed_machines(_cards())]
    names = [name for _, name in listed_models(sorted({row["model"] for row in map_rows()}))]
    models = [*names, *sorted({row["target_name"] for row in map_rows()})]
    asked = [*product(models, (None, *CLASSES, "ngram-simple"), machines)]
    for model, method, machine in random.Random(seed).sample(asked, some) if some else asked:  # noqa: S311 - a sample
        said = ask(model, method, machine)
        for check in CHECKS if said else ():
            for claim in check(said) if said else ():
                yield f"{model} {method or ''} on {machine.name} ({check.__name__})", claim


def _cards() -> Iterator[PairFigure]:
    """One figure of each device, for the list of machines."""
    for row in {row["device"]: row for row in map_rows()}.values():
        yield PairFigure(**row)


def main() -> int:
    """Print each false sentence and their number; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--some", type=int, default=None)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = [f"{asked}: {claim}" for asked, claim in false_sentences(given.some, given.seed)]
    print("\n".join([*found, f"false sentences: {len(found)}"]))  # noqa: T201 - the output
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
