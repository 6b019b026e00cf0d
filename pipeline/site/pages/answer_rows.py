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

from pipeline.site.pages.answer_card import Words, words_of
from pipeline.site.pages.launchers import methods_of, preset_of
from planner.answer import Answer, answer
from planner.answer_json import evidence_of
from planner.catalog import ways_of
from planner.choices import Placements
from planner.deciding import Deciding, deciding
from planner.errors import QuestionError
from planner.evidence import PairFigure, rig_of
from planner.kinds import machine_kind
from planner.listed import ListedMachine, as_asked, question_about, with_ways
from planner.machines import DEFAULT_RAM_GIB, Computer, MachineWords, described_computer
from planner.names import ModelRef
from planner.question import Question
from planner.ways import PlannedModel
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
# The values of a row after "ram", those of `WORDS`, the map's figures, and a preset for launchers.
Row: TypeAlias = tuple[Sequence[Json], Sequence[str | None], Sequence[Json], str]
# Sizes of main memory, in GiB, with answers of their own where they decide what fits.
MAIN_MEMORIES_GIB = (16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class PlannedMachine:
    """A machine with known memory, and its number in the index.

    Of the digests, `memory` is that of its memories, `alike` also that of its speed and kind, and
    `digest` that of the whole computer. `others` is the machine with other sizes of main memory: by
    size in GiB, the smallest first.
    """

    number: int
    computer: Computer
    memory: str
    alike: str
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
    free = [(each.free_mib, each.estimated) for each in (computer.host, *computer.devices)]
    kind = machine_kind(rig_of(computer))
    parts = (computer.unified, free), (computer.unified, free, computer.speed, kind), computer
    memory, alike, digest = (sha256(msgspec.json.encode(each)).hexdigest() for each in parts)
    ram_gib = words.ram or DEFAULT_RAM_GIB
    return PlannedMachine(number, computer, memory, alike, digest, ram_gib)


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
    """A model with its rows: those `known` from an earlier build, and those `used` in this one.

    `by_method` has the rows for launchers.
    """

    ref: ModelRef
    target: PlannedModel
    pairs: Mapping[str, Sequence[PairFigure]]
    known: dict[str, Row]
    used: dict[str, Row] = field(default_factory=dict)
    of_memory: dict[object, _OfMemory] = field(default_factory=dict)
    by_method: dict[str, Mapping[str, Sequence[Json]]] = field(default_factory=dict)

    def rows(self, machine: PlannedMachine) -> Iterator[tuple[PlannedMachine, Row]]:
        """The machine's row, and rows for other sizes of main memory that decide what fits.

        They are in the order of main memory. A row holds up to the next one, and the first also
        for less memory.
        """
        usual, others = self.row(machine), machine.others
        extent = usual[0][_EXTENT]
        if extent == "partly" or (extent != "no" and not machine.computer.devices):
            for each in others:
                shared = self._of_memory(each)
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

        Without figures of this machine, a model that does not fit needs no way to draft, and
        machines that differ only in their names share a row.
        """
        own = self._alike(machine)
        if own not in self.known:
            self.known[own] = _row(self._answer(machine), self._of_memory(machine).alike)
        self.used[own] = self.known[own]
        return self.known[own]

    def methods(self, machine: PlannedMachine) -> Mapping[str, Sequence[Json]]:
        """The rows of a machine for launchers, by method."""
        own = self._alike(machine)
        if own not in self.by_method:
            self.by_method[own] = methods_of(self._answer(machine))
        return self.by_method[own]

    def _alike(self, machine: PlannedMachine) -> str:
        """The digest of all that a machine's answer depends on."""
        if self._question(machine).figures_here:
            return machine.digest
        return machine.alike if self._of_memory(machine).placed.alone.fits else machine.memory

    def _answer(self, machine: PlannedMachine) -> Answer:
        question = self._question(machine)
        if question.figures_here:
            question = with_ways(question)
        return answer(question, placed=self._of_memory(machine).placed)

    def _question(self, machine: PlannedMachine) -> Question:
        return replace(self._of_memory(machine).question, computer=machine.computer)

    def _of_memory(self, machine: PlannedMachine) -> _OfMemory:
        """The parts that all machines with this memory share."""
        key, computer = machine.memory, machine.computer
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
    if key not in alike:
        known = deciding(found)
        alike[key] = words_of(found, known), known
    words, known = alike[key]
    quoted = [*map(evidence_of, found.figures)]
    return [*figures(found, known)], [*_WORDS_OF(words)], quoted, preset_of(found)


def figures(found: Answer, known: Deciding | None) -> Iterator[Json]:
    """Yield the values of `COLUMNS` from "baseline_tps" to "cost", with their printed digits."""
    judged = found.judged
    gain = judged.gain if judged else None
    way = judged.way if judged else None
    yield _printed_rate(found.alone.tps.estimate) if found.asked.fits else None
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
