"""Write the answers: data files for page scripts, and a page for each common question."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import duckdb

from answers.answer import Answer, answer
from answers.evidence import Report
from answers.listed import COMMON, listed_machines, model_label, question_by_name
from answers.machines import described_computer
from answers.model_names import model_key
from answers.rates import Rate
from pipeline.site.pages import answer_card, answer_files, evidence_file
from pipeline.site.pages.model import Asset, Page, Site, answer_address, path_of, target_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped
from schemas.vocabulary import say

FINDINGS = {
    "Yes": "faster",
    "Probably": "probably faster",
    "Try it": "may go either way",
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
    def finding(self) -> str:
        """The verdict in words for a title, with the speedup and the tier of its evidence."""
        judged = self.found.judged
        if not self.found.asked.fits:
            return "does not fit"
        if judged is None or judged.gain is None:
            return "no method can draft for it"
        basis = judged.figures.tier if judged.figures else "predicted"
        return f"{FINDINGS[self.found.verdict]}, {say.times(judged.gain.estimate)} ({basis})"


def common_answers(reports: Iterable[Report], rates: Sequence[Rate]) -> Iterator[CommonAnswer]:
    """The answers to the questions in `listed.toml`, in the order of that file."""
    by_model = grouped(reports, attrgetter("model"))
    machines = {each.name: each for each in listed_machines(())}
    for asked in COMMON:
        machine = machines[asked["machine"]]
        computer = described_computer(machine.words)
        question = question_by_name(asked["model"], computer, reports=by_model, rates=rates)
        if question is not None:
            yield CommonAnswer(
                machine=f"{machine.name} {machine.gib:g} GB",
                model=model_label(asked["model"]),
                found=answer(question),
            )


def answers(
    connection: duckdb.DuckDBPyConnection,
    site: Site,
    reports: Sequence[Report],
    rates: Sequence[Rate],
    common: Sequence[CommonAnswer],
) -> Iterator[Page | Asset]:
    """Yield the evidence file, all answer files, and the pages of the common answers."""
    named = connection.table("strip").select("target_label", "target").fetchall()
    addresses = {model_key(label): target_address(target) for label, target in named}
    yield evidence_file.evidence_file(reports)
    yield from answer_files.answer_files(site.cache, reports, rates, addresses)
    for each in common:
        key = each.found.question.model
        card = answer_card.card_of(
            each.found, machine=each.machine, model=each.model, address=addresses.get(key)
        )
        yield render(
            "answer.md.jinja",
            path=path_of(each.address),
            site=site,
            card=card,
            each=each,
            others=[other for other in common if other is not each],
        )
