"""Write a page for each submission: in full or, in a large collection, in a short form.

A short form has no charts and does not pass through MkDocs, which saves half a second of CPU time
and 130 KB per submission.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import duckdb
import msgspec

from estimates.model import AnswerLength
from estimates.reasons import answer_length, costs_of
from pipeline.data.runs import runs
from pipeline.site.charts import draw
from pipeline.site.pages import shown_commands
from pipeline.site.pages.ledger import registered
from pipeline.site.pages.model import Asset, Page, Site, file_path, path_of, submission_address
from pipeline.site.pages.raw_files import MOST_FULL, is_large
from pipeline.site.pages.template_environment import from_template, gib, plain_text, render
from pipeline.site.policy import with_policy
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import TASKS, say, sentence
from schemas.vocabulary.axes import AXES

AT_ONCE = 500  # submissions whose rows are in memory at the same time
RUN = 64  # the usual number of submissions whose short forms are cached together
MOST_LISTED = 200  # submissions on the page that lists them
# Axes for which the page has its own words.
OWN_LINE = ("context_depth_tokens", "temperature", "sampling_seed")
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


class JudgedArm(NamedTuple):
    """An arm that is compared with a baseline, and its estimates.

    `rows` has the estimate over all tasks (`overall`) first, if there is one, then one per task.
    """

    arm: Row
    overall: Row | None
    rows: tuple[Row, ...]


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
    connection: duckdb.DuckDBPyConnection, site: Site, most_full: int = MOST_FULL
) -> Iterator[Page | Asset]:
    """The page of each submission; in a collection of more than `most_full`, its short form."""
    if not is_large(connection, most_full):
        listed = connection.table("submission").order("measured_until desc, submission")
        names = [name for (name,) in listed.select("submission").fetchall()]
        yield from (_full_page(connection, site, each) for each in evidence(connection, names))
        return
    credited = grouped(read(connection, "credits"), attrgetter("submission"))
    for run in runs(connection, RUN):
        links = [site.link_from("")(file_path(f"{each}.json")) for each in run.names]
        credit = [credited[each] for each in run.names]
        inputs = [run.names, run.inputs, credit, links, site.address, site.repository]
        made = partial(_short_forms, connection, site, run.names)
        yield from msgspec.msgpack.decode(site.cache.get_or_make(inputs, made), type=list[Asset])


def _short_forms(connection: duckdb.DuckDBPyConnection, site: Site, names: Sequence[str]) -> bytes:
    found = []
    for shown in evidence(connection, names):
        address = submission_address(shown["s"].submission)
        text = from_template("leaf.html.jinja", site=site, url=site.link_from(address), **shown)
        path = f"{address}index.html"
        found.append(Asset(path=path, data=with_policy(text, path).encode()))
    return msgspec.msgpack.encode(found)


def _full_page(connection: duckdb.DuckDBPyConnection, site: Site, shown: Mapping[str, Any]) -> Page:
    name = shown["s"].submission
    return render(
        "submission.md.jinja",
        path=path_of(submission_address(name)),
        site=site,
        whole_request=whole_request,
        answer_length=pays_from,
        registered=registered().get(name, ()),
        figures=(draw(connection, "submission_tasks", site.cache, submission=name),),
        settings=tuple(settings(shown["s"], shown["setup"], shown["judged_arms"])),
        **shown,
    )


def evidence(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """The template values of each of these submissions, whose rows are read in batches.

    `s` is the row of the submission; the rows of the tables in `PARTS` have the names there.
    """
    of = attrgetter("submission")
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        own = {table: read(connection, table, some) for table in (*PARTS.values(), *SINGLE)}
        parts = {name: grouped(own[table], of) for name, table in PARTS.items()}
        rows, setups, standings = ({row.submission: row for row in own[table]} for table in SINGLE)
        for name in some:
            row, device = rows[name], setups[name].device_label
            listed = {part: found[name] for part, found in parts.items()}
            title = f"{row.target_name} {row.quantisation} on {device}, {row.backend}"
            yield {
                "s": row,
                "setup": setups[name],
                "standing": standings[name],
                "title": plain_text(title),
                "judged_arms": tuple(arm_estimates(listed["arms"], listed["estimates"])),
                "facts": tuple(machine_facts(row, listed["gpus"])),
                "engine_facts": tuple(engine_facts(row)),
                **listed,
            }


def arm_estimates(arms: Iterable[Row], estimates: Iterable[Row]) -> Iterator[JudgedArm]:
    of_arm = grouped(estimates, attrgetter("arm"))
    for arm in arms:
        if own := of_arm[arm.arm]:
            rows = tuple(row for task in (None, *TASKS) for row in own if row.task == task)
            yield JudgedArm(arm, rows[0] if rows and rows[0].task is None else None, rows)


def settings(
    row: Row, setup: Row, judged_arms: Iterable[JudgedArm]
) -> Iterator[tuple[JudgedArm, shown_commands.NamedSetting]]:
    """Yield each arm that speculates, with the setting from which the page makes its command."""
    for judged in judged_arms:
        if judged.arm.role == "speculation":
            setting = shown_commands.NamedSetting(
                target=f"{row.target_name} {row.quantisation}",
                draft=judged.arm.draft_label,
                method=judged.arm.method,
                depth=judged.arm.depth,
                engine=setup.engine_label,
                concurrency=judged.arm.concurrency,
                conditions=setup.measured_with,
            )
            yield judged, setting


def machine_facts(row: Row, gpus: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """The known facts about a submission's machine, each as a label and a value in words."""
    cores = f"({row.cpu_logical_cores} logical cores)" if row.cpu_logical_cores else None
    yield "Processor", _words(row.cpu_name, cores)
    yield "Main memory", _words(gib(row.ram_mib) if row.ram_mib else None, row.ram_type)
    for gpu in gpus:
        parts = (
            gpu.name,
            gib(gpu.vram_mib) if gpu.vram_mib else None,
            f"driver {gpu.driver}" if gpu.driver else None,
            gpu.api,
            f"PCIe {gpu.pcie_generation}.0 x{gpu.pcie_width}" if gpu.pcie_width else None,
            f"limited to {gpu.power_limit_w:g} W" if gpu.power_limit_w else None,
        )
        yield "Graphics", ", ".join(filter(None, parts))
    yield "System", _words(row.os_family, row.os_version)
    if row.power_mode:
        yield "Power mode", row.power_mode
    for label, state in (
        ("Virtual machine", row.virtual_machine),
        ("On battery", row.on_battery),
        ("Desktop on the GPU", row.desktop_on_gpu),
    ):
        if state is not None:
            yield label, "yes" if state else "no"


def engine_facts(row: Row) -> Iterator[tuple[str, str]]:
    """The known facts about engine, models and settings, each as a label and a value in words."""
    yield "Engine", " ".join(filter(None, (row.engine_name, row.engine_version, row.engine_commit)))
    yield "Runner", " ".join(filter(None, (row.runner, row.package_version)))
    yield "Backend", row.backend
    yield "Target", " ".join(filter(None, (row.target_name, row.quantisation)))
    if row.target_sha256:
        yield "SHA-256 of the weights", row.target_sha256
    yield "Context", f"{row.context_tokens} tokens" if row.context_tokens else say.UNKNOWN
    if row.context_depth_tokens:
        yield "Before every answer", f"{row.context_depth_tokens} tokens"
    if row.sampling != "greedy":
        seed = "" if row.sampling_seed is None else f", seed {row.sampling_seed}"
        yield "Sampling", f"temperature {row.temperature or say.UNKNOWN}{seed}"
    for name, axis in AXES.items():
        value = axis.non_default(row)
        if value is not None and name not in OWN_LINE:
            yield axis.label, axis.spelled(value)
    longest = row.max_output_tokens
    yield "Longest output", f"{longest} tokens" if longest else say.UNKNOWN
    yield "Suite", f"{row.suite} {row.suite_version}"
    yield "Design", f"{row.blocks} blocks, {row.design_order}, {row.ended}"
    yield "Measured with", " ".join(filter(None, (row.tool_name, row.tool_version)))


def _words(*known: str | None) -> str:
    """Join the known words; without any, return the sign for an unknown value."""
    return " ".join(filter(None, known)) or say.UNKNOWN


def whole_request(estimates: Iterable[Row]) -> str:
    """A sentence on an arm's whole requests; empty if they are not known."""
    row = next((row for row in estimates if row.whole_request is not None), None)
    if row is None or costs_of(row) is None:
        return ""
    bounds = (row.whole_request_low, row.whole_request_high)
    text = (
        f"With prompts of {row.mean_prompt_tokens:.0f} and answers of {row.mean_output_tokens:.0f} "
        f"tokens on average, the whole request ran at {say.speedup(row.whole_request, *bounds)} "
        "the baseline's speed on this machine. The target, and the draft model if there is one, "
        "must first read the prompt."
    )
    if row.pays_from_tokens is not None:
        text += f" {sentence('pays-from', length=pays_from(row))}"
    return text


def pays_from(row: Row) -> str:
    """The answer length above which an arm saves time, in words."""
    return answer_length(
        AnswerLength(tokens=row.pays_from_tokens, low=row.pays_from_low, high=row.pays_from_high)
    )
