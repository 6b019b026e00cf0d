"""Write a page for each submission."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import duckdb

from pipeline.site.charts import draw
from pipeline.site.pages import shown_commands
from pipeline.site.pages.drawing import Curve, curve
from pipeline.site.pages.facts import engine_facts, machine_facts
from pipeline.site.pages.ledger import registered
from pipeline.site.pages.model import Asset, Page, Site, path_of, submission_address
from pipeline.site.pages.summary_pages import AT_ONCE, MOST_PAGES, short_forms, with_own_page
from pipeline.site.pages.template_environment import plain_text, render
from pipeline.site.pages.whole_requests import pays_from, whole_requests
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import TASKS

MOST_LISTED = 200  # submissions on the page that lists them
PLOT_WIDTH, PLOT_HEIGHT = 560.0, 180.0
SINGLE = ("submission", "setup", "standing")
# Tables with several rows for a submission: the name in the template and the table or query.
PARTS = {
    "gpus": "gpu",
    "arms": "submission_arms",
    "estimates": "estimate",
    "flags": "flag",
    "failures": "failure",
    "probe": "probe_point",
    "drafting": "drafting_cost",
    "snapshots": "environment",
    "credits": "credits",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmEstimates:
    """One arm with its estimates: `overall` is over all tasks, `tasks` has one per task."""

    arm: Row
    overall: Row | None
    tasks: tuple[Row, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the arm's table: the overall figure first, if there is one."""
        return ((self.overall,) if self.overall else ()) + self.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The contents of a submission's page; `parts` has the rows of the tables in `PARTS`."""

    submission: Row
    setup: Row
    standing: Row
    parts: Mapping[str, tuple[Row, ...]]

    @property
    def title(self) -> str:
        """The measured target and the device, as a title."""
        row, device = self.submission, self.setup.device_label
        return plain_text(f"{row.target_name} {row.quantisation} on {device}, {row.backend}")

    @property
    def curve(self) -> Curve | None:
        """The verification curve; `None` if it has a single point."""
        pairs = [(point.width, point.step_ms) for point in self.parts["probe"]]
        return curve(pairs, width=PLOT_WIDTH, height=PLOT_HEIGHT) if len(pairs) > 1 else None


def index(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page that lists the submissions, the newest first."""
    newest = read(connection, "newest")
    return render(
        "submissions.md.jinja",
        path="submissions/index.md",
        site=site,
        newest=newest[:MOST_LISTED],
        total=len(newest),
        credits=[row for row in read(connection, "credits") if row.counted],
        uncounted=[row for row in read(connection, "standing") if not row.counted],
    )


def submission_pages(
    connection: duckdb.DuckDBPyConnection, site: Site, most_pages: int = MOST_PAGES
) -> Iterator[Page | Asset]:
    """The page of each submission or, in a large collection, its short form."""
    listed = connection.table("submission").order("measured_until desc, submission")
    names = [name for (name,) in listed.select("submission").fetchall()]
    own = with_own_page(connection, most_pages)
    every = evidence(connection, names)
    if own is None:
        yield from (_full_page(connection, site, each) for each in every)
    else:
        shown = ((each.submission.submission, _shown(each)) for each in every)
        yield from short_forms(site, own, shown)


def _shown(each: Evidence) -> dict[str, object]:
    """The template values for a submission's page and for its short form."""
    return {
        "it": each,
        "judged_arms": tuple(arm_estimates(each.parts["arms"], each.parts["estimates"])),
        "facts": tuple(machine_facts(each.submission, each.parts["gpus"])),
        "engine_facts": tuple(engine_facts(each.submission)),
        **each.parts,
    }


def _full_page(connection: duckdb.DuckDBPyConnection, site: Site, evidence: Evidence) -> Page:
    name = evidence.submission.submission
    judged = arm_estimates(evidence.parts["arms"], evidence.parts["estimates"])
    return render(
        "submission.md.jinja",
        path=path_of(submission_address(name)),
        site=site,
        requests=whole_requests,
        answer_length=pays_from,
        registered=registered().get(name, ()),
        figures=(draw(connection, "submission_tasks", site.cache, submission=name),),
        settings=tuple(settings(evidence, judged)),
        plot=(PLOT_WIDTH, PLOT_HEIGHT),
        **_shown(evidence),
    )


def evidence(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[Evidence]:
    """The evidence of each of these submissions, read in batches."""
    of = attrgetter("submission")
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        own = {table: read(connection, table, some) for table in (*PARTS.values(), *SINGLE)}
        parts = {name: grouped(own[table], of) for name, table in PARTS.items()}
        rows, setups, standings = ({row.submission: row for row in own[table]} for table in SINGLE)
        for name in some:
            yield Evidence(
                submission=rows[name],
                setup=setups[name],
                standing=standings[name],
                parts={part: found[name] for part, found in parts.items()},
            )


def arm_estimates(arms: tuple[Row, ...], estimates: tuple[Row, ...]) -> Iterator[ArmEstimates]:
    """Yield each arm that is compared with a baseline, together with its estimates."""
    for arm in arms:
        own = [row for row in estimates if row.arm == arm.arm]
        if own:
            yield ArmEstimates(
                arm=arm,
                overall=next((row for row in own if row.task is None), None),
                tasks=tuple(row for task in TASKS for row in own if row.task == task),
            )


def settings(
    it: Evidence, judged_arms: Iterable[ArmEstimates]
) -> Iterator[tuple[ArmEstimates, shown_commands.NamedSetting]]:
    """Yield each arm that speculates, with the setting from which the page makes its command."""
    row = it.submission
    for judged in judged_arms:
        if judged.arm.role == "speculation":
            setting = shown_commands.NamedSetting(
                target=f"{row.target_name} {row.quantisation}",
                draft=judged.arm.draft_label,
                method=judged.arm.method,
                depth=judged.arm.depth,
                engine=it.setup.engine_label,
                concurrency=judged.arm.concurrency,
                conditions=it.setup.measured_with,
            )
            yield judged, setting
