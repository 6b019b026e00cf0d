"""On what was it measured? Machine, engine, target and settings from facts alone."""

from collections.abc import Iterator
from typing import Any, Literal, cast, get_args, get_type_hints

from harness.errors import BadInputError, suggestion
from harness.importers.facts import Facts
from harness.importers.translate import id_of, vendor_of
from harness.importers.trials import RateCounts
from schemas import submission
from schemas.vocabulary.axes import AXES
from schemas.weights import active_size_in, size_in


def machine(facts: Facts) -> submission.Machine:
    """The machine as far as it is known; a GPU backend needs the GPU, a CPU the processor."""
    on_cpu = facts.text("backend") == "cpu"
    gpu = facts.text("gpu") if on_cpu else facts.need("gpu")
    family = _choice(facts, "os", submission.OperatingSystem, "family")
    return submission.Machine(
        os=submission.OperatingSystem(family=family, version=facts.text("os_version"))
        if family
        else None,
        cpu=submission.Cpu(
            name=facts.need("cpu") if on_cpu else facts.text("cpu"),
            architecture=_choice(facts, "cpu_architecture", submission.Cpu, "architecture"),
            logical_cores=facts.whole("cpu_cores"),
        ),
        ram_mib=facts.whole("ram_mib"),
        gpus=_gpus(gpu or "", facts),
    )


def engine(facts: Facts) -> submission.Engine:
    """The engine; another tool measured it."""
    facts.need("backend")
    return submission.Engine(
        runner="imported",
        name=facts.need("engine"),
        version=facts.text("engine_version"),
        commit=facts.text("engine_commit"),
        build_number=facts.whole("build"),
        backend=_choice(facts, "backend", submission.Engine, "backend") or "other",
    )


def target(facts: Facts) -> submission.Model:
    """The target model."""
    name, quantisation = facts.need("target"), facts.need("quantisation")
    return submission.Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=facts.size("parameters", size_in(name)),
        active_parameters=facts.size("active_parameters", active_size_in(name)),
        file_bytes=facts.whole("target_bytes"),
        sha256=facts.text("target_sha256"),
    )


def settings(facts: Facts) -> submission.Settings:
    """The settings; how tokens were chosen must be known, the rest may be unknown."""
    facts.need("sampling")
    drawn = facts.text("sampling") != "greedy"
    return submission.Settings(
        sampling=_choice(facts, "sampling", submission.Settings, "sampling") or "other",
        max_output_tokens=facts.whole("max_output_tokens"),
        context_tokens=facts.whole("context"),
        batch_tokens=facts.whole("batch"),
        micro_batch_tokens=facts.whole("micro_batch"),
        threads=facts.whole("threads"),
        thinking=_yes(facts, "thinking"),
        **dict(_axes(facts, drawn=drawn)),
    )


def _axes(facts: Facts, *, drawn: bool) -> Iterator[tuple[str, Any]]:
    """The axes that are known; what belongs to a temperature counts where tokens are drawn."""
    for name, axis in AXES.items():
        if axis.imported is None or (not drawn and "temperature" in (name, axis.needs)):
            continue
        match axis.type:
            case "integer":
                yield name, facts.whole(name)
            case "number":
                yield name, facts.number(name)
            case _ if axis.choices:  # some of what the format takes
                yield name, facts.text(name)
            case _:
                yield name, _choice(facts, name, submission.Settings, name)


def rate_counts(facts: Facts) -> RateCounts:
    """What the tool's rate counts; the older way, all tokens, where nobody says it."""
    found = facts.text("rate_counts") or "tokens"
    if found not in ("tokens", "steps"):
        message = f"--map rate_counts={found!r}: expected tokens or steps"
        raise BadInputError(message)
    return "steps" if found == "steps" else "tokens"


def placement(facts: Facts) -> submission.Placement | None:
    """How many layers of the target were asked onto the GPU, if that is known."""
    layers = facts.whole("gpu_layers")
    return None if layers is None else submission.Placement(target_gpu_layers_requested=layers)


def _gpus(named: str, facts: Facts) -> tuple[submission.Gpu, ...]:
    """One for each name between commas, with the same driver; memory and names as given."""
    return tuple(
        submission.Gpu(
            name=name,
            vendor=vendor_of(name),
            vram_mib=facts.whole("vram_mib"),
            driver=facts.text("gpu_driver"),
        )
        for name in filter(None, map(str.strip, named.split(",")))
    )


def _choice(facts: Facts, key: str, cls: type, field: str) -> Any:  # noqa: ANN401 - the literal type of that field
    found = facts.text(key)
    if found is None:
        return None
    hint = get_type_hints(cls)[field]
    allowed = [*get_args(hint)] if isinstance(get_args(hint)[0], str) else []
    allowed = allowed or [choice for member in get_args(hint) for choice in get_args(member)]
    if found not in allowed:
        message = f"--map {key}={found!r}: not accepted.{suggestion(found, map(str, allowed))}"
        raise BadInputError(message)
    return found


def _yes(facts: Facts, key: str) -> bool | None:
    found = facts.text(key)
    if found is None:
        return None
    if found not in ("true", "false"):
        message = f"--map {key}={found!r}: expected true or false"
        raise BadInputError(message)
    return cast("Literal['true', 'false']", found) == "true"
