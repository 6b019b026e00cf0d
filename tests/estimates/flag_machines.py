"""Machines that raise a flag by clocks, power or memory, each beside a clean campaign."""

from dataclasses import replace

from schemas.submission import Gpu, Snapshot, Submission
from tests.estimates.campaigns import campaign, trial
from tests.samples import sample

CLEAN = sample(blocks=3)


def environment(moment: str = "before", **fields: object) -> Submission:
    return replace(CLEAN, environment=(Snapshot(moment=moment, **fields),))  # type: ignore[arg-type]


def gpu_clocks(*readings_mhz: float) -> Submission:
    """Readings between blocks."""
    snapshots = tuple(Snapshot(moment="during", gpu_clock_mhz=mhz) for mhz in readings_mhz)
    return replace(CLEAN, environment=snapshots)


def gpu(limit_w: float) -> Submission:
    gpu = Gpu(name="RTX", power_limit_w=limit_w, default_power_limit_w=115.0)
    return replace(CLEAN, machine=replace(CLEAN.machine, gpus=(gpu,)))


def memory(mts: int | None, active: int | None = None) -> Submission:
    """A model of 1 GB at 10 ms per token: 100 GB/s. Two channels move 16 bytes per transfer."""
    submission = campaign([trial("baseline", rounds=10), trial("spec")])
    return replace(
        submission,
        engine=replace(submission.engine, backend="cpu"),
        machine=replace(submission.machine, ram_mts=mts, ram_channels=2),
        target=replace(submission.target, file_bytes=1_000_000_000, active_parameters=active),
    )


def unsized(parameters: int | None) -> Submission:
    """A target without a file size; its parameters may be stated."""
    target = replace(CLEAN.target, name="Nameless", file_bytes=None, parameters=parameters)
    return replace(CLEAN, target=target)


def called(name: str) -> Submission:
    """A campaign on a card with this name."""
    gpus = (replace(CLEAN.machine.gpus[0], name=name, vendor="amd"),)
    engine = replace(CLEAN.engine, backend="vulkan", devices=None)
    return replace(CLEAN, machine=replace(CLEAN.machine, gpus=gpus), engine=engine)
