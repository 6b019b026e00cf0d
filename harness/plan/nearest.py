"""Takes speeds from results of like machines: those of a checkout's collection, or named files.

A result's plain speed times the bytes that a token reads is the bandwidth that its memory reached.
Another model on the same device is read at about the same rate.
"""

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from estimates.plan.model import Placement
from estimates.plan.shapes import facts_of, quantisation_of, shape_of
from estimates.plan.speed import Machine, bytes_per_step
from estimates.roofline import bytes_per_token, normalised
from estimates.summary import summarize
from harness.errors import BadInputError, unreadable
from harness.plan.computer import Computer, without_size
from schemas.contract import read, read_quickly
from schemas.submission import Model, Submission

COLLECTION = Path("results/community")
_GB = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The bandwidth that a device or a processor reached in one result, in GB/s."""

    device: str
    on_cpu: bool
    gb_per_s: float


def with_results(computer: Computer, files: Iterable[Path], processor: str | None) -> Computer:
    """The computer with rates from results of the same card or processor, where there are any.

    `files` count whatever their machine is called; the collection's are matched by name. Raises
    `BadInputError` for a file that is no result.
    """
    named = [rate for path in files for rate in _rates(_named(path))]
    found = named or [
        rate for path in _collected() for rate in _rates(_quickly(path)) if rate is not None
    ]
    cards = {normalised(without_size(memory.name)) for memory in computer.devices}
    own = normalised(processor or "")
    device = [x.gb_per_s for x in found if not x.on_cpu and (named or x.device in cards)]
    host = [x.gb_per_s for x in found if x.on_cpu and (named or (own and x.device == own))]
    return replace(
        computer,
        speed=_reaching(computer.speed, device, host),
        notes=tuple(
            note
            for note in computer.notes
            if not (host and "main memory" in note) and not (device and "main" not in note)
        ),
    )


def _reaching(speed: Machine, device: list[float], host: list[float]) -> Machine:
    return replace(
        speed,
        device_reached_gb_per_s=statistics.median(device) if device else None,
        host_reached_gb_per_s=statistics.median(host) if host else None,
    )


def _rates(submission: Submission | None) -> Iterator[Reached]:
    """The rate of a result whose target lay in one memory; nothing where that is not known."""
    if submission is None or len(submission.machine.gpus) > 1:
        return
    used = _bytes_read(submission.target)
    on_cpu = submission.engine.backend == "cpu"
    cards = [gpu.name for gpu in submission.machine.gpus]
    name = submission.machine.cpu.name if on_cpu else next(iter(cards), None)
    whole = all(
        arm.placement is None or arm.placement.target_gpu_layers_requested in (None, -1)
        for arm in submission.arms
    )
    tps = next((x.baseline_tps for x in summarize(submission).estimates if x.baseline_tps), None)
    if used is None or name is None or tps is None or not (on_cpu or whole):
        return
    yield Reached(device=normalised(name), on_cpu=on_cpu, gb_per_s=used * tps / _GB)


def _bytes_read(model: Model) -> float | None:
    """Bytes that a token reads: by the file's size, else by the model's shape."""
    shape, bits = shape_of(model.name), quantisation_of(model.quantisation or "")
    if shape is None or bits is None:
        return bytes_per_token(model)
    facts = facts_of(shape, bits, file_bytes=model.file_bytes)
    device, host = bytes_per_step(facts, Placement(layers=0), 1)
    return device + host


def _named(path: Path) -> Submission:
    try:
        found = read(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error
    if isinstance(found, Submission):
        return found
    message = f"{found[0].line(str(path))}; `python -m harness validate` lists all"
    raise BadInputError(message)


def _collected() -> Iterator[Path]:
    """The results of the checkout that this is run in; an installed program has none."""
    if COLLECTION.is_dir():
        yield from sorted(COLLECTION.rglob("*.json"))


def _quickly(path: Path) -> Submission | None:
    try:
        return read_quickly(path.read_bytes())
    except OSError:
        return None
