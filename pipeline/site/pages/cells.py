"""Which columns do pages need from what many submissions say together? One dataclass per table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.site.pages.model import (
    address_of,
    device_path,
    file_path,
    submission_path,
    target_path,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell: device, backend, engine, target, method, depth, draft, crowd and task."""

    cell: str
    tier: str
    task: str
    device: str
    device_label: str
    backend: str
    engine_label: str
    target: str
    target_label: str
    quantisation: str
    method: str
    method_label: str
    depth: int | None
    draft_label: str | None
    concurrency: int
    verdict: str
    speedup: float | None
    interval_low: float | None
    interval_high: float | None
    interval_kind: str | None
    baseline_tps: float | None
    tps: float | None
    tokens_per_round: float | None
    round_cost: float | None
    acceptance_rate: float | None
    submissions: int
    rigs: int
    prompts: int

    @property
    def device_address(self) -> str:
        return address_of(device_path(self.device))

    @property
    def target_address(self) -> str:
        return address_of(target_path(self.target))

    @property
    def task_name(self) -> str | None:
        """The task, or `None` over all tasks."""
        return None if self.task == "all" else self.task


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """One square of the map, with the best cell in it."""

    tier: str
    task: str
    device: str
    device_label: str
    device_kind: str
    vram_gib: int | None
    backend: str
    size_class: str
    size_order: int
    cells: int
    helping_cells: int
    losing_cells: int
    failed_cells: int
    speedup: float | None
    interval_low: float | None
    interval_high: float | None
    verdict: str | None
    method_label: str | None
    depth: int | None
    target_label: str | None
    submissions: int | None
    rigs: int | None

    @property
    def address(self) -> str:
        return address_of(device_path(self.device))


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSquare(Square):
    """One square of the map for one method."""

    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What all evidence of one tier says."""

    tier: str
    submissions: int
    rigs: int
    contributors: int
    devices: int
    targets: int
    trials: int
    failed_trials: int
    cells: int
    helping_cells: int
    losing_cells: int
    unclear_cells: int
    failed_cells: int
    confirmed_cells: int
    last_measured: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device and how much is known about it."""

    device: str
    device_label: str
    device_kind: str
    vram_gib: int | None
    backends: list[str]
    submissions: int
    rigs: int
    contributors: int
    last_measured: datetime

    @property
    def address(self) -> str:
        return address_of(device_path(self.device))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One target model and how much is known about it."""

    target: str
    target_label: str
    target_family: str | None
    architecture: str | None
    parameters_label: str | None
    size_class: str
    quantisations: list[str]
    devices: list[str]
    submissions: int
    rigs: int
    last_measured: datetime

    @property
    def address(self) -> str:
        return address_of(target_path(self.target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """One submission in a list."""

    submission: str
    file: str
    tier: str
    preview: bool
    contributor: str | None
    device: str
    device_label: str
    backend: str
    target: str
    target_label: str
    quantisation: str
    measured_until: datetime
    best_method_label: str | None
    best_speedup: float | None
    best_interval_low: float | None
    best_interval_high: float | None
    best_verdict: str | None
    flags: int

    @property
    def address(self) -> str:
        return address_of(submission_path(self.submission))

    @property
    def file_address(self) -> str:
        return file_path(self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One method on one task over all devices and targets."""

    tier: str
    task: str
    method_label: str
    verdict: str
    speedup: float | None
    interval_low: float | None
    interval_high: float | None
    worst_speedup: float | None
    best_speedup: float | None
    acceptance_rate: float | None
    tokens_per_round: float | None
    rigs: int
    devices: int
    targets: int

    @property
    def task_name(self) -> str | None:
        """The task, or `None` over all tasks."""
        return None if self.task == "all" else self.task


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureLine:
    """One way in which one arm failed."""

    submission: str
    counted: bool
    device: str
    device_label: str
    backend: str
    target: str
    target_label: str
    method_label: str
    depth: int | None
    draft_label: str | None
    scope: str
    reason: str | None
    failed_trials: int | None

    @property
    def address(self) -> str:
        return address_of(submission_path(self.submission))
