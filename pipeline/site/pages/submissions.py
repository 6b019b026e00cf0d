"""Write a page for each submission."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter

import duckdb
import msgspec
import orjson

from estimates.model import AnswerLength
from estimates.reasons import ANSWER_LENGTHS, answer_length, costs_of
from estimates.requests import whole_request
from pipeline.data.runs import MOST, runs
from pipeline.site.charts import draw
from pipeline.site.pages import shown_commands
from pipeline.site.pages.drawing import PlottedCurve, curve
from pipeline.site.pages.ledger import registered
from pipeline.site.pages.model import Asset, Page, Site, file_path, path_of, submission_address
from pipeline.site.pages.summary_pages import AT_ONCE, MOST_PAGES, short_forms, with_own_page
from pipeline.site.pages.template_environment import gib, plain_text, render
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import TASKS, say, sentence
from schemas.vocabulary.axes import AXES

MOST_LISTED = 200  # submissions on the page that lists them
PLOT_WIDTH, PLOT_HEIGHT = 560.0, 180.0
# Axes for which the page has its own words.
OWN_LINE = ("context_depth_tokens", "temperature", "sampling_seed")
# Prompt lengths in tokens, from a question to a long document.
PROMPT_LENGTHS = (64, 512, 4096)
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
    def curve(self) -> PlottedCurve | None:
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
    own = with_own_page(connection, most_pages)
    if own is None:
        listed = connection.table("submission").order("measured_until desc, submission")
        names = [name for (name,) in listed.select("submission").fetchall()]
        yield from (_full_page(connection, site, each) for each in evidence(connection, names))
        return
    credited = grouped(read(connection, "credits"), attrgetter("submission"))
    for run in runs(connection, AT_ONCE // MOST):
        links = [(each in own, site.link_from("")(file_path(f"{each}.json"))) for each in run.names]
        credit = [credited[each] for each in run.names]
        inputs = [run.names, run.inputs, credit, links, site.address, site.repository]
        made = partial(_short_forms, connection, site, own, run.names)
        yield from msgspec.msgpack.decode(site.cache.get_or_make(inputs, made), type=list[Asset])


def _short_forms(
    connection: duckdb.DuckDBPyConnection, site: Site, own: Container[str], names: Sequence[str]
) -> bytes:
    shown = ((each.submission.submission, _shown(each)) for each in evidence(connection, names))
    return msgspec.msgpack.encode(list(short_forms(site, own, shown)))


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


def whole_requests(estimates: Iterable[Row]) -> Mapping[str, object] | None:
    """Template values for an arm's whole requests: a sentence, a table by length, and costs."""
    row = next((row for row in estimates if row.whole_request is not None), None)
    costs = None if row is None else costs_of(row)
    if row is None or costs is None:
        return None
    return {
        "sentence": _request_sentence(row),
        "costs_json": orjson.dumps(asdict(costs)).decode(),
        "prompt_tokens": round(row.mean_prompt_tokens),
        "output_tokens": max(2, round(row.mean_output_tokens)),
        "answers": ANSWER_LENGTHS,
        "rows": tuple(
            (prompt, tuple(whole_request(costs, prompt, answer) for answer in ANSWER_LENGTHS))
            for prompt in PROMPT_LENGTHS
        ),
    }


def _request_sentence(row: Row) -> str:
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
