"""What does one submission say? One page each, and the list of them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from pipeline.site.pages import commands
from pipeline.site.pages.cells import Overview
from pipeline.site.pages.drawing import Curve, Whisker, curve, whisker
from pipeline.site.pages.environment import gib, plain, render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import (
    Page,
    Site,
    address_of,
    device_path,
    file_path,
    submission_path,
)
from pipeline.site.pages.rows import by_submission, read
from pipeline.site.pages.submission_rows import (
    Arm,
    DraftingCost,
    Estimate,
    Failure,
    Flag,
    Gpu,
    ProbePoint,
    Setup,
    Snapshot,
    Standing,
    Submission,
)
from schemas.vocabulary import TASKS, say

PLOT_WIDTH, PLOT_HEIGHT = 560.0, 180.0
UNCOUNTED_PATH = "submissions/uncounted.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One arm with all that is said about it; `overall` is over all tasks, `tasks` one by one."""

    arm: Arm
    overall: Estimate | None
    tasks: tuple[Estimate, ...]

    @property
    def rows(self) -> tuple[Estimate, ...]:
        """What the arm's table shows: the overall figure first, if there is one."""
        return ((self.overall,) if self.overall else ()) + self.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything about one submission that its page shows."""

    submission: Submission
    setup: Setup
    standing: Standing
    gpus: tuple[Gpu, ...]
    arms: tuple[Arm, ...]
    judged: tuple[Judged, ...]
    flags: tuple[Flag, ...]
    failures: tuple[Failure, ...]
    curve: Curve | None
    probe: tuple[ProbePoint, ...]
    drafting: tuple[DraftingCost, ...]
    snapshots: tuple[Snapshot, ...]

    @property
    def device_address(self) -> str:
        return address_of(device_path(self.setup.device))

    @property
    def file_address(self) -> str:
        return file_path(self.submission.file)


def submission_pages(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """The index of submissions and one page per submission."""
    everything = tuple(evidence(connection))
    yield render(
        "submissions.md.jinja",
        path="submissions/index.md",
        site=site,
        rows=read(connection, Overview, "newest"),
        uncounted=sum(1 for each in everything if not each.standing.counted),
    )
    yield render(
        "uncounted.md.jinja",
        path=UNCOUNTED_PATH,
        site=site,
        rows=tuple(each for each in everything if not each.standing.counted),
        title_of=title_of,
        address_of_submission=lambda name: address_of(submission_path(name)),
    )
    for each in everything:
        name = each.submission.submission
        yield render(
            "submission.md.jinja",
            path=submission_path(name),
            site=site,
            it=each,
            figures=(
                figure(connection, "submission_tasks", submission=each.submission.submission),
            ),
            title=title_of(each),
            commands=commands,
            settings=tuple(settings(each)),
            address_of_submission=lambda name: address_of(submission_path(name)),
            whisker_of=whisker_of,
            plot=(PLOT_WIDTH, PLOT_HEIGHT),
            facts=tuple(machine_facts(each)),
            engine_facts=tuple(engine_facts(each.submission)),
        )


def evidence(connection: duckdb.DuckDBPyConnection) -> Iterator[Evidence]:
    """What is known about each submission, newest first."""
    gpus = by_submission(read(connection, Gpu, "gpu"))
    arms = by_submission(read(connection, Arm, "arm"))
    estimates = by_submission(read(connection, Estimate, "estimate"))
    flags = by_submission(read(connection, Flag, "flag"))
    failures = by_submission(read(connection, Failure, "failure"))
    probes = by_submission(read(connection, ProbePoint, "probe_point"))
    drafting = by_submission(read(connection, DraftingCost, "drafting_cost"))
    snapshots = by_submission(read(connection, Snapshot, "environment"))
    standings = {row.submission: row for row in read(connection, Standing, "standing")}
    setups = {setup.submission: setup for setup in read(connection, Setup, "setup")}
    listed = sorted(read(connection, Submission, "submission"), key=lambda row: row.submission)
    for row in sorted(listed, key=lambda row: row.measured_until, reverse=True):
        name = row.submission
        yield Evidence(
            submission=row,
            setup=setups[name],
            standing=standings[name],
            gpus=gpus[name],
            arms=arms[name],
            judged=tuple(judge(arms[name], estimates[name])),
            flags=flags[name],
            failures=failures[name],
            curve=_curve(probes[name]),
            probe=probes[name],
            drafting=drafting[name],
            snapshots=snapshots[name],
        )


def judge(arms: tuple[Arm, ...], estimates: tuple[Estimate, ...]) -> Iterator[Judged]:
    """Each arm that is compared with a baseline, with its estimates."""
    for arm in arms:
        own = [row for row in estimates if row.arm == arm.arm]
        if own:
            yield Judged(
                arm=arm,
                overall=next((row for row in own if row.task is None), None),
                tasks=tuple(row for task in TASKS for row in own if row.task == task),
            )


def settings(it: Evidence) -> Iterator[tuple[Judged, commands.Setting]]:
    """The arms that speculate, each with what it takes to run it again."""
    row = it.submission
    for judged in it.judged:
        if judged.arm.role == "speculation":
            yield (
                judged,
                commands.Setting(
                    target=f"{row.target_name} {row.quantisation}",
                    draft=judged.arm.draft_label,
                    method=judged.arm.method,
                    depth=judged.arm.depth,
                    engine=it.setup.engine_label,
                    concurrency=judged.arm.concurrency,
                ),
            )


def title_of(it: Evidence) -> str:
    """What was measured on what, fit for a title."""
    row = it.submission
    return plain(f"{row.target_name} {row.quantisation} on {it.setup.device_label}, {row.backend}")


def whisker_of(row: Estimate) -> Whisker | None:
    """Where an estimate's interval is drawn."""
    return whisker(row.interval_low, row.speedup, row.interval_high)


def _curve(points: tuple[ProbePoint, ...]) -> Curve | None:
    if len(points) < 2:  # noqa: PLR2004 - one point is no curve
        return None
    pairs = [(point.width, point.step_ms) for point in points]
    return curve(pairs, width=PLOT_WIDTH, height=PLOT_HEIGHT)


def machine_facts(it: Evidence) -> Iterator[tuple[str, str]]:
    """What is known about the machine, as label and words."""
    row = it.submission
    cores = f"({row.cpu_logical_cores} logical cores)" if row.cpu_logical_cores else None
    yield "Processor", _words(row.cpu_name, cores)
    yield "Main memory", _words(gib(row.ram_mib) if row.ram_mib else None, row.ram_type)
    for gpu in it.gpus:
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
    for label, state in (
        ("Virtual machine", row.virtual_machine),
        ("On battery", row.on_battery),
        ("Desktop on the GPU", row.desktop_on_gpu),
    ):
        if state is not None:
            yield label, "yes" if state else "no"


def engine_facts(row: Submission) -> Iterator[tuple[str, str]]:
    """What is known about the engine, the models and the settings, as label and words."""
    yield "Engine", " ".join(filter(None, (row.engine_name, row.engine_version, row.engine_commit)))
    yield "Runner", " ".join(filter(None, (row.runner, row.package_version)))
    yield "Backend", row.backend
    yield "Target", " ".join(filter(None, (row.target_name, row.quantisation)))
    if row.target_sha256:
        yield "SHA-256 of the weights", row.target_sha256
    context = f"{row.context_tokens} tokens" if row.context_tokens else say.UNKNOWN
    yield "Context", context
    longest = f"{row.max_output_tokens} tokens" if row.max_output_tokens else say.UNKNOWN
    yield "Longest output", longest
    yield "Suite", f"{row.suite} {row.suite_version}"
    yield "Design", f"{row.blocks} blocks, {row.design_order}, {row.ended}"
    yield "Measured with", " ".join(filter(None, (row.tool_name, row.tool_version)))


def _words(*known: str | None) -> str:
    """What is known, or the sign for nothing."""
    return " ".join(filter(None, known)) or say.UNKNOWN
