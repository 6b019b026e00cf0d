"""Write a page for each question that many people ask, with its answer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import duckdb

from answers.answer import Answer, answer
from answers.evidence import PairFigure
from answers.listed import (
    COMMON,
    listed_machines,
    model_label,
    question_by_name,
)
from answers.machines import described_computer
from answers.names import read_model
from pipeline.site.pages import evidence_file, strips
from pipeline.site.pages.answer_card import card_of
from pipeline.site.pages.answer_files import answer_files, dots_of
from pipeline.site.pages.model import Asset, Page, Site, answer_address, path_of, target_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped
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
