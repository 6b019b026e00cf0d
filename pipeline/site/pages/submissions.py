"""A page for each submission, the list of them all, and those that do not count."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter

import duckdb
import orjson

from estimates.explain import ANSWER_LENGTHS
from estimates.requests import Costs, break_even_tokens, whole_request
from pipeline.site.pages import commands
from pipeline.site.pages.drawing import Curve, curve
from pipeline.site.pages.environment import figure, gib, plain, render
from pipeline.site.pages.model import Asset, Page, Site, submission_path
from pipeline.site.pages.short import AT_ONCE, MOST_PAGES, short_forms, with_own_page
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import TASKS, say
from schemas.vocabulary.axes import AXES

# Prompts from a question to a long document, in tokens.
PROMPT_LENGTHS = (64, 512, 4096)
PLOT_WIDTH, PLOT_HEIGHT = 560.0, 180.0
SINGLE = ("submission", "setup", "standing")
# Axes that the page shows in words of its own.
OWN_LINE = ("context_depth_tokens", "temperature", "sampling_seed")
UNCOUNTED_PATH = "submissions/uncounted.md"
# What a submission has several rows of: the name in the template and the table or query.
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
class Judged:
    """One arm with its estimates: `overall` is over all tasks, `tasks` one by one."""

    arm: Row
    overall: Row | None
    tasks: tuple[Row, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """What the arm's table shows: the overall figure first, if there is one."""
        return ((self.overall,) if self.overall else ()) + self.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything about one submission that its page shows; `parts` are the rows of `PARTS`."""

    submission: Row
    setup: Row
    standing: Row
    parts: Mapping[str, tuple[Row, ...]]

    @property
    def title(self) -> str:
        """What was measured on what, fit for a title."""
        row, device = self.submission, self.setup.device_label
        return plain(f"{row.target_name} {row.quantisation} on {device}, {row.backend}")

    @property
    def curve(self) -> Curve | None:
        """The verification curve; one point is none."""
        pairs = [(point.width, point.step_ms) for point in self.parts["probe"]]
        return curve(pairs, width=PLOT_WIDTH, height=PLOT_HEIGHT) if len(pairs) > 1 else None


def submission_pages(
    connection: duckdb.DuckDBPyConnection, site: Site, most_pages: int = MOST_PAGES
) -> Iterator[Page | Asset]:
    """The index of submissions, and what is at the address of each (`short`: of very many)."""
    names = _newest_first(connection)
    counted = {row.submission for row in read(connection, "standing") if row.counted}
    uncounted = [name for name in names if name not in counted]
    newest = read(connection, "newest")
    own = with_own_page(connection, most_pages)
    most = None if own is None else most_pages
    yield render(
        "submissions.md.jinja",
        path="submissions/index.md",
        site=site,
        rows=newest[:most],
        credits=[row for row in read(connection, "credits") if row.counted],
        left_out=len(newest[most:]) if most else 0,
        uncounted=len(uncounted),
    )
    yield render(
        "uncounted.md.jinja",
        path=UNCOUNTED_PATH,
        site=site,
        rows=tuple(evidence(connection, uncounted[:most])),
    )
    if own is None:
        yield from _full_pages(connection, site, evidence(connection, names))
    else:
        yield from short_forms(site, own, _short_values(evidence(connection, names)))


def _short_values(every: Iterable[Evidence]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The name of each submission, and what its short form shows."""
    for each in every:
        yield (
            each.submission.submission,
            {
                "it": each,
                "judged_arms": tuple(judge(each.parts["arms"], each.parts["estimates"])),
                "facts": tuple(machine_facts(each)),
                "engine_facts": tuple(engine_facts(each.submission)),
                "flags": each.parts["flags"],
                "credits": each.parts["credits"],
            },
        )


def _full_pages(
    connection: duckdb.DuckDBPyConnection, site: Site, everything: Iterable[Evidence]
) -> Iterator[Page]:
    for each in everything:
        name = each.submission.submission
        judged = tuple(judge(each.parts["arms"], each.parts["estimates"]))
        yield render(
            "submission.md.jinja",
            path=submission_path(name),
            site=site,
            it=each,
            judged_arms=judged,
            requests=requests,
            figures=(figure(connection, site, "submission_tasks", submission=name),),
            settings=tuple(settings(each, judged)),
            plot=(PLOT_WIDTH, PLOT_HEIGHT),
            facts=tuple(machine_facts(each)),
            engine_facts=tuple(engine_facts(each.submission)),
            **each.parts,
        )


def _newest_first(connection: duckdb.DuckDBPyConnection) -> list[str]:
    order = connection.table("submission").order("measured_until desc, submission")
    return [name for (name,) in order.select("submission").fetchall()]


def evidence(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[Evidence]:
    """What is known about each of these submissions; so many rows are read at a time."""
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


def judge(arms: tuple[Row, ...], estimates: tuple[Row, ...]) -> Iterator[Judged]:
    """Each arm that is compared with a baseline, with its estimates."""
    for arm in arms:
        own = [row for row in estimates if row.arm == arm.arm]
        if own:
            yield Judged(
                arm=arm,
                overall=next((row for row in own if row.task is None), None),
                tasks=tuple(row for task in TASKS for row in own if row.task == task),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """An arm's whole requests: one sentence, a table of other lengths, and the costs behind it."""

    sentence: str
    costs_json: str
    prompt_tokens: int
    output_tokens: int
    answers: tuple[int, ...]
    rows: tuple[tuple[int, tuple[float, ...]], ...]


def requests(judged: Judged) -> Iterator[Requests]:
    """What the whole request of an arm costs, over all tasks or else on its first task."""
    rows = [row for row in judged.rows if row.whole_request is not None]
    if not rows or rows[0].token_ms is None or judged.arm.role != "speculation":
        return
    row = rows[0]
    costs = Costs(
        baseline_prompt_token_ms=row.baseline_prompt_token_ms,
        prompt_token_ms=row.prompt_token_ms,
        baseline_token_ms=row.baseline_token_ms,
        token_ms=row.token_ms,
    )
    pays = break_even_tokens(costs, row.mean_prompt_tokens)
    yield Requests(
        sentence=_request_sentence(row, pays),
        costs_json=orjson.dumps(asdict(costs)).decode(),
        prompt_tokens=round(row.mean_prompt_tokens),
        output_tokens=max(2, round(row.mean_output_tokens)),
        answers=ANSWER_LENGTHS,
        rows=tuple(
            (prompt, tuple(whole_request(costs, prompt, answer) for answer in ANSWER_LENGTHS))
            for prompt in PROMPT_LENGTHS
        ),
    )


def _request_sentence(row: Row, pays: float | None) -> str:
    bounds = (row.whole_request_low, row.whole_request_high)
    text = (
        f"With prompts of {row.mean_prompt_tokens:.0f} and answers of {row.mean_output_tokens:.0f} "
        f"tokens on average, the whole request ran at {say.speedup(row.whole_request, *bounds)} "
        "the baseline's speed: the prompt must be read first, by the draft model, too, if there "
        "is one."
    )
    if pays is not None and pays > 1:
        text += f" With such prompts the arm saves time from {pays:,.0f} tokens of answer on."
    return text


def settings(
    it: Evidence, judged_arms: tuple[Judged, ...]
) -> Iterator[tuple[Judged, commands.NamedSetting]]:
    """The arms that speculate, each with what it takes to run it again."""
    row = it.submission
    for judged in judged_arms:
        if judged.arm.role == "speculation":
            setting = commands.NamedSetting(
                target=f"{row.target_name} {row.quantisation}",
                draft=judged.arm.draft_label,
                method=judged.arm.method,
                depth=judged.arm.depth,
                engine=it.setup.engine_label,
                concurrency=judged.arm.concurrency,
                conditions=it.setup.measured_with,
            )
            yield judged, setting


def machine_facts(it: Evidence) -> Iterator[tuple[str, str]]:
    """What is known about the machine, as label and words."""
    row = it.submission
    cores = f"({row.cpu_logical_cores} logical cores)" if row.cpu_logical_cores else None
    yield "Processor", _words(row.cpu_name, cores)
    yield "Main memory", _words(gib(row.ram_mib) if row.ram_mib else None, row.ram_type)
    for gpu in it.parts["gpus"]:
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


def engine_facts(row: Row) -> Iterator[tuple[str, str]]:
    """What is known about the engine, the models and the settings, as label and words."""
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
        value = axis.unusual(row)
        if value is not None and name not in OWN_LINE:
            yield axis.label, axis.spelled(value)
    longest = row.max_output_tokens
    yield "Longest output", f"{longest} tokens" if longest else say.UNKNOWN
    yield "Suite", f"{row.suite} {row.suite_version}"
    yield "Design", f"{row.blocks} blocks, {row.design_order}, {row.ended}"
    yield "Measured with", " ".join(filter(None, (row.tool_name, row.tool_version)))


def _words(*known: str | None) -> str:
    """What is known, or the sign for nothing."""
    return " ".join(filter(None, known)) or say.UNKNOWN
