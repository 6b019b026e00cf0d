"""Which columns of the tables does a submission's page need? One dataclass per table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import (
    date,
    datetime,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    submission: str
    file: str
    preview: bool
    tier: str
    profile: str
    measured_from: datetime
    measured_until: datetime
    contributor: str | None
    notes: str | None
    origin_format: str | None
    origin_source: str | None
    os_family: str | None
    os_version: str | None
    cpu_name: str | None
    cpu_logical_cores: int | None
    ram_mib: int | None
    ram_type: str | None
    virtual_machine: bool | None
    on_battery: bool | None
    desktop_on_gpu: bool | None
    runner: str
    engine_name: str
    engine_version: str | None
    engine_commit: str | None
    package_version: str | None
    backend: str
    target_name: str
    quantisation: str
    target_sha256: str | None
    context_tokens: int | None
    max_output_tokens: int | None
    blocks: int
    design_order: str
    ended: str
    suite: str
    suite_version: str
    tool_name: str
    tool_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Does a submission count, and if not, why?"""

    submission: str
    file: str
    standing: str
    counted: bool
    standing_reason: str | None
    standing_since: date | None
    superseded_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    submission: str
    device: str
    device_label: str
    device_kind: str
    backend: str
    engine_build: str
    engine_label: str
    rig: str
    target: str
    target_label: str
    parameters_label: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    submission: str
    name: str
    vram_mib: int | None
    driver: str | None
    api: str | None
    pcie_generation: int | None
    pcie_width: int | None
    power_limit_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    submission: str
    arm: str
    role: str
    baseline: str | None
    outcome: str
    reason: str | None
    method: str
    method_label: str
    draft_name: str | None
    draft_quantisation: str | None
    depth: int | None
    concurrency: int
    argv: list[str] | None
    load_s: float | None
    peak_mib: int | None
    target_gpu_layers_resident: int | None
    draft_gpu_layers_resident: int | None

    @property
    def draft_label(self) -> str | None:
        """The draft model with its quantisation."""
        return " ".join(filter(None, (self.draft_name, self.draft_quantisation))) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    submission: str
    arm: str
    baseline: str
    task: str | None
    verdict: str
    prompts: int
    trials: int
    failed_trials: int
    speedup: float | None
    interval_low: float | None
    interval_high: float | None
    baseline_tps: float | None
    tps: float | None
    tokens_per_round: float | None
    round_cost: float | None
    acceptance_rate: float | None
    sequence_acceptance: float | None
    fire_rate: float | None
    predicted_speedup: float | None
    identical: int | None
    diverged_near_tie: int | None
    diverged: int | None
    not_compared: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    submission: str
    flag: str
    severity: str
    message: str
    remedy: str
    arm: str | None
    prompt: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    submission: str
    arm: str
    scope: str
    reason: str | None
    failed_trials: int | None
    method_label: str
    depth: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePoint:
    submission: str
    width: int
    step_ms: float
    step_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftingCost:
    submission: str
    draft: str
    repeats: int
    draft_token_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    submission: str
    moment: str
    load_1min: float | None
    steal_fraction: float | None
    cpu_mhz: float | None
    gpu_clock_mhz: float | None
    gpu_temperature_c: float | None
    gpu_power_w: float | None
    gpu_throttled: bool | None
