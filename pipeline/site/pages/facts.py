"""List the facts about a submission's machine, engine and settings, as labels with values."""

from collections.abc import Iterable, Iterator

from pipeline.site.pages.template_environment import gib
from pipeline.site.rows import Row
from schemas.vocabulary import say
from schemas.vocabulary.axes import AXES

# Axes for which the page has its own words.
OWN_LINE = ("context_depth_tokens", "temperature", "sampling_seed")


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
