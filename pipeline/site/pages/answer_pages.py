"""Write a page for each question that many people ask, with its answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import duckdb
import msgspec

from pipeline.cache import Cache
from pipeline.site.pages import evidence_file, strips
from pipeline.site.pages.answer_card import Card, card_of
from pipeline.site.pages.answer_files import answer_files, dots_of
from pipeline.site.pages.model import Asset, Page, Site, answer_address, path_of, target_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import Row, grouped
from planner.answer import Answer, answer
from planner.errors import QuestionError
from planner.evidence import ALL_TASKS, PairFigure, of_model
from planner.listed import (
    COMMON,
    listed_machines,
    model_label,
    question_by_name,
)
from planner.machines import MachineWords, described_computer
from planner.names import read_model
from schemas.vocabulary import say

FINDINGS = {
    "Yes": "faster",
    "Probably": "probably faster",
    "Try it": "worth a try",
    "No reason to": "no clear gain",
    "Probably not": "probably not faster",
    "No": "not faster",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonAnswer:
    """A question that many people ask, with its answer."""

    machine: str
    model: str
    found: Answer

    @property
    def asked(self) -> str:
        return f"{self.machine} with {self.model}"

    @property
    def address(self) -> str:
        return answer_address(f"{self.machine} {self.model}".lower().replace(" ", "-"))

    @property
    def place(self) -> tuple[bool, int]:
        """The place in the list: whether the model fits, and the number of people."""
        judged = self.found.judged
        people = judged.figures.people if judged and judged.figures else 0
        return not self.found.asked.fits, -people

    @property
    def finding(self) -> str:
        """The verdict in words for a title, with the expected speedup."""
        judged = self.found.judged
        if not self.found.asked.fits:
            return "does not fit"
        if judged is None or judged.gain is None:
            return "no method can draft for it"
        return f"{FINDINGS[self.found.verdict]}, expected {say.times(judged.gain.estimate)}"


def common_answers(pairs: Iterable[PairFigure]) -> Sequence[CommonAnswer]:
    """The answers to the questions in `listed.toml`; those with figures of most people are first.

    Models that do not fit come last.
    """
    return sorted(_common(pairs), key=attrgetter("place"))


def _common(pairs: Iterable[PairFigure]) -> Iterator[CommonAnswer]:
    by_model = grouped(pairs, attrgetter("model"))
    machines = {each.name: each for each in listed_machines(())}
    for asked in COMMON:
        machine = machines[asked["machine"]]
        computer = described_computer(machine.words)
        question = question_by_name(asked["model"], computer, pairs=by_model)
        if question is not None:
            yield CommonAnswer(
                machine=f"{machine.name} {machine.gib:g} GB",
                model=model_label(asked["model"]),
                found=answer(question),
            )


class CardsOfRows:
    """The cards of the map's rows: the answer for a row's device and model."""

    def __init__(self, pairs: Iterable[PairFigure], cache: Cache) -> None:
        known = tuple(pairs)
        self._cache = cache
        self._by_model = grouped(known, attrgetter("model"))
        whole = (x for x in known if x.task == ALL_TASKS and x.quantisation is None)
        self._pairs = {(each.device, each.target, each.method): each for each in whole}

    def of(self, row: Row | None) -> Card | None:
        """The card of a row; `None` if nothing is known of its device or its model."""
        if row is None:
            return None
        pair = self._pairs.get((row.device, row.target, row.method))
        if pair is None:
            return None
        own = {pair.model: of_model(self._by_model, pair.model)}
        inputs = ["card", msgspec.to_builtins(pair), msgspec.to_builtins(own), row.dots]
        made = self._cache.get_or_make(inputs, partial(_card, pair, own, row.dots))
        return msgspec.json.decode(made, type=Card | None)


def _card(
    pair: PairFigure, own: Mapping[str, Sequence[PairFigure]], dots: Sequence[float]
) -> bytes:
    """The card for a pair's device and model, as JSON, with people's speedups as `dots`."""
    card = None
    cards = ("none",) if pair.on_cpu else (pair.name,)
    words = MachineWords(gpus=cards, cpu=pair.card if pair.on_cpu else None)
    with suppress(QuestionError):  # a card of unknown size
        question = question_by_name(pair.target_name, described_computer(words), pairs=own)
        if question is not None:
            found = answer(question)
            figures = found.judged and found.judged.figures
            card = card_of(
                found,
                machine=pair.name,
                model=pair.target_name,
                address=target_address(pair.target),
                dots=dots if figures and figures.method == pair.method else (),
            )
    return msgspec.json.encode(card)


def answers(
    connection: duckdb.DuckDBPyConnection,
    site: Site,
    pairs: Sequence[PairFigure],
    common: Sequence[CommonAnswer],
) -> Iterator[Page | Asset]:
    """Yield the evidence file, all answer files, and the pages of the common answers."""
    named = connection.table("main_pair").select("target_label", "target").fetchall()
    addresses = {read_model(label).slug: target_address(target) for label, target in named}
    drawn = strips.rows_by_method(connection)
    dots = {(row.device, row.target, row.method): row.dots for row in drawn}
    yield evidence_file.evidence_file(pairs)
    yield from answer_files(site, pairs, addresses, dots)
    yield render("answers.md.jinja", path="answers/index.md", site=site, common=common)
    for each in common:
        key, judged = each.found.question.model, each.found.judged
        card = card_of(
            each.found,
            machine=each.machine,
            model=each.model,
            address=addresses.get(key),
            dots=dots_of(dots, judged.figures if judged else None),
        )
        yield render(
            "answer.md.jinja",
            path=path_of(each.address),
            site=site,
            card=card,
            each=each,
            common=[other for other in common if other is not each],
        )
