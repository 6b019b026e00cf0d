"""Answer the questions about a model on every listed machine: the rows of an answer file.

A machine has a further row for each size of main memory that decides what fits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from hashlib import sha256
from operator import attrgetter
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from answers.answer import Answer, answer
from answers.answer_json import evidence_of
from answers.catalog import ways_of
from answers.choices import Placements
from answers.deciding import Deciding, deciding
from answers.errors import QuestionError
from answers.evidence import PairFigure
from answers.kinds import machine_kind
from answers.listed import ListedMachine, as_asked, question_about, with_ways
from answers.machines import DEFAULT_RAM_GIB, Computer, MachineWords, described_computer
from answers.names import ModelRef
from answers.question import Question
from answers.ways import PlannedModel
from pipeline.site.pages.answer_card import Words, words_at, words_of
from pipeline.site.pages.launchers import methods_of
from schemas.codec import Json
from schemas.vocabulary import say

WORDS = Words.__struct_fields__  # stored as indices of entries in `texts`
_WORDS_OF = attrgetter(*WORDS)
# Neighbours change together, so that the files compress well.
COLUMNS = (
    *("ram", "baseline_tps", "tps", "context", "fits", "quantisation", "method", "depth", "draft"),
    *("people", "basis", "verdict", "chance", "speedup", "low", "high", "cost"),
    *(*WORDS, "evidence", "dots"),
)
_EXTENT = COLUMNS.index("fits") - 1
Alike: TypeAlias = tuple[Words, Deciding | None]
# The values of a row after "ram", those of `WORDS`, the map's figures, and rows for launchers.
Row: TypeAlias = tuple[
    Sequence[Json], Sequence[str | None], Sequence[Json], Mapping[str, Sequence[Json]]
]
# Sizes of main memory, in GiB, with answers of their own where they decide what fits.
MAIN_MEMORIES_GIB = (16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class PlannedMachine:
    """A machine with known memory, and its number in the index.

    `others` is the machine with other sizes of main memory: by size in GiB, the smallest first.
    """

    number: int
    computer: Computer
    digest: str
    ram_gib: float = 0
    others: tuple["PlannedMachine", ...] = ()


def machines_of(asked: Iterable[ListedMachine]) -> Iterator[PlannedMachine]:
    """Yield the listed machines of known memory, numbered by their places in the list."""
    for number, machine in enumerate(asked):
        with suppress(QuestionError):  # a card of unknown size
            found = _of_words(number, machine.words)
            sizes = () if found.computer.unified else MAIN_MEMORIES_GIB
            described = (replace(machine.words, ram=float(gib)) for gib in sizes)
            others = tuple(_of_words(number, each) for each in described)
            yield with_fields(found, others=others)


def _of_words(number: int, words: MachineWords) -> PlannedMachine:
    computer = described_computer(words)
    digest = sha256(msgspec.json.encode(computer)).hexdigest()
    return PlannedMachine(number, computer, digest, words.ram or DEFAULT_RAM_GIB)


@dataclass(frozen=True, slots=True)
class _OfMemory:
    """The parts that machines of equal memory share: the question without computer, placements.

    `alike` has the texts of answers, by all that they depend on besides the machine's name.
    """

    question: Question
    placed: Placements
    alike: dict[object, Alike] = field(default_factory=dict)


@dataclass(slots=True)
class ModelRows:
    """A model with its rows: those `known` from an earlier build, and those `used` in this one."""

    ref: ModelRef
    target: PlannedModel
    pairs: Mapping[str, Sequence[PairFigure]]
    known: dict[str, Row]
    used: dict[str, Row] = field(default_factory=dict)
    of_memory: dict[object, _OfMemory] = field(default_factory=dict)

    def rows(self, machine: PlannedMachine) -> Iterator[tuple[PlannedMachine, Row]]:
        """The machine's row, and rows for other sizes of main memory that decide what fits.

        They are in the order of main memory. A row holds up to the next one, and the first also
        for less memory.
        """
        usual, others = self.row(machine), machine.others
        extent = usual[0][_EXTENT]
        if extent == "partly" or (extent != "no" and not machine.computer.devices):
            for each in others:
                shared = self._of_memory(each.computer)
                if each.ram_gib < machine.ram_gib and not shared.placed.alone.fits:
                    yield each, self.row(each)
        yield machine, usual
        for each in others if extent == "no" else ():
            if each.ram_gib > machine.ram_gib:
                row = self.row(each)
                yield each, row
                if row[0][_EXTENT] != "no":
                    return

    def row(self, machine: PlannedMachine) -> Row:
        """A machine's row, from an earlier build if nothing that it depends on has changed.

        Without figures of this machine, a model that does not fit needs no way to draft.
        """
        shared = self._of_memory(machine.computer)
        own = machine.digest
        if own not in self.known:
            question = replace(shared.question, computer=machine.computer)
            if question.figures_here:
                question = with_ways(question)
            self.known[own] = _row(answer(question, placed=shared.placed), shared.alike)
        self.used[own] = self.known[own]
        return self.known[own]

    def _of_memory(self, computer: Computer) -> _OfMemory:
        """The parts that all machines of this computer's memory share."""
        memories = (computer.host, *computer.devices)
        key = (computer.unified, *[memory.free_mib for memory in memories])
        if key not in self.of_memory:
            target, notes = as_asked(self.ref, self.target, computer)
            question = question_about(self.ref, target, computer, pairs=self.pairs, notes=notes)
            placed = Placements(question.load)
            if placed.alone.fits:
                question = replace(question, ways=ways_of(target, ()))
            self.of_memory[key] = _OfMemory(question, placed)
        return self.of_memory[key]


def _row(found: Answer, alike: dict[object, Alike]) -> Row:
    options = [(each.way and each.way.key, each.depth, each.gain) for each in found.options]
    kind = machine_kind(found.question.rig)
    key = (kind, found.verdict, found.figures, found.alone.tps.basis, *options)
    if key in alike:
        words, known = alike[key]
        words = words_at(found, words)
    else:
        known = deciding(found)
        words = words_of(found, known)
        alike[key] = words, known
    quoted = [*map(evidence_of, found.figures)]
    return [*figures(found, known)], [*_WORDS_OF(words)], quoted, methods_of(found)


def figures(found: Answer, known: Deciding | None) -> Iterator[Json]:
    """Yield the values of `COLUMNS` from "baseline_tps" to "cost", with their printed digits."""
    judged = found.judged
    gain = judged.gain if judged else None
    way = judged.way if judged else None
    yield _printed_rate(found.alone.tps.estimate)
    yield _printed_rate(judged.tps.estimate) if judged else None
    yield found.context_max
    yield found.asked.found.extent
    yield found.question.quantisation
    yield way.method if way else None
    yield judged.depth if judged and way else None
    yield (way.name or None) if way else None
    yield judged.figures.people if judged and judged.figures else None
    yield gain.basis if gain else None
    yield found.verdict
    yield None if found.chance is None else round(found.chance, 2)
    for figure in ("estimate", "low", "high"):
        yield round(getattr(gain, figure), 2) if gain else None
    yield known.cost if known else None


def _printed_rate(tokens_per_s: float) -> float:
    return float(say.rate(tokens_per_s).replace(",", ""))
