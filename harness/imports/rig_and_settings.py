"""Make the machine, engine, target and settings of a result from the known facts."""

from typing import Any

from estimates.gpu_names import known_vendor
from harness.imports.ids import id_of
from harness.imports.needed_facts import ImportedFacts
from schemas import submission
from schemas.model_sizes import parameters_of, size_in
from schemas.vocabulary.axes import AXES


def missing(facts: ImportedFacts) -> list[str]:
    """Return the missing facts that a result needs, such as the GPU for a GPU backend."""
    device = "cpu" if facts.backend == "cpu" else "gpu"
    needed = (device, "backend", "engine", "target", "quantisation", "sampling")
    found = {"date": facts.measured_from or facts.date} | {k: getattr(facts, k) for k in needed}
    return [key for key, value in found.items() if value is None]


def machine(facts: ImportedFacts) -> submission.Machine:
    return submission.Machine(
        os=submission.OperatingSystem(family=facts.os, version=facts.os_version)
        if facts.os
        else None,
        cpu=submission.Cpu(
            name=facts.cpu,
            architecture=facts.cpu_architecture,
            logical_cores=facts.cpu_cores,
        ),
        ram_mib=facts.ram_mib,
        gpus=tuple(  # all with the same memory and driver
            submission.Gpu(
                name=name,
                vendor=known_vendor(name),
                vram_mib=facts.vram_mib,
                driver=facts.gpu_driver,
            )
            for name in filter(None, map(str.strip, (facts.gpu or "").split(",")))
        ),
    )


def engine(facts: ImportedFacts) -> submission.Engine:
    """Return the engine that another tool measured."""
    return submission.Engine(
        runner="imported",
        name=facts.engine or "",
        version=facts.engine_version,
        commit=facts.engine_commit,
        build_number=facts.build,
        backend=facts.backend or "other",
    )


def target(facts: ImportedFacts) -> submission.Model:
    name, quantisation = facts.target or "", facts.quantisation or ""
    return submission.Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=parameters_of(facts.parameters or size_in(name)),
        active_parameters=parameters_of(facts.active_parameters or size_in(name, active=True)),
        file_bytes=facts.target_bytes,
        sha256=facts.target_sha256,
    )


def settings(facts: ImportedFacts) -> submission.Settings:
    """Return the settings; sampling settings are included only if tokens were sampled."""
    axes: dict[str, Any] = {
        name: axis.value(facts)
        for name, axis in AXES.items()
        if facts.sampling != "greedy" or "temperature" not in (name, axis.needs)
    }
    return submission.Settings(
        sampling=facts.sampling or "other",
        max_output_tokens=facts.max_output_tokens,
        context_tokens=facts.context,
        batch_tokens=facts.batch,
        micro_batch_tokens=facts.micro_batch,
        threads=facts.threads,
        thinking=facts.thinking,
        **axes,
    )
