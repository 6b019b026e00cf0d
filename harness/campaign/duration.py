"""Estimates how long a campaign takes, from the models' sizes and two rates of this machine.

Loading, warm-ups, probes, both models' reading of the prompts and every arm's answers count. The
rates are measured in half a second: bytes copied and multiplications done per second. How far
an engine gets with them was taken from quiet campaigns of SmolLM2-135M (F16, F32 and Q8_0 with
drafts in Q4_1 and Q2_K) on one core of an AMD EPYC and of an Intel Xeon:
`site_src/design/0027-whole-requests-and-contradictions.md`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import psutil

from harness.campaign.model import ArmPlan, Campaign
from harness.campaign.plan import plan
from harness.models.model_file import ModelFile
from schemas.vocabulary import METHODS
from schemas.weights import bits_of

# English and code together; a chat template adds its own words.
_CHARACTERS_PER_TOKEN, _TEMPLATE_TOKENS = 3.6, 20
_WARM_UP_TOKENS = 24
# Opening the engine, and what the first use of everything costs.
_FIXED_S = 5.0
_READ_BYTES_PER_S = 1e9
# Of the programs that count as load some wait or soon end: seven quick runs at loads of 5 to 20 on
# two cores took 2.5 to 5.5 times as long as alone.
_LASTING = 0.75
# From this share of the processors that the calibration leaves to others, some may be waiting.
_SATURATED = 0.9
_CALIBRATION_BYTES = 64 * 1024 * 1024
_CALIBRATION_REPEATS = 8
# So small that one thread does it, in microseconds that other programs leave alone now and then.
_MATRIX, _MATRIX_REPEATS = 64, 4000
# Shares of the operations per second: batches, single steps and batches of quantised weights, and
# one more token of a step that is fed several.
_BATCH, _QUANTISED_STEP, _QUANTISED_BATCH, _WIDER_STEP = 0.68, 0.115, 0.24, 0.22
_QUANTISED_BELOW_BITS = 13.0
# What is not known before: the share of drafted tokens that is accepted, and how often a method
# that looks tokens up finds some.
_ACCEPTED, _FOUND = 0.6, 0.15
# As the probes of the in-process runner do it.
_PROBE_REPEATS, _PROBE_LEAST_REPEATS, _PROBE_LIMIT_S, _PROBE_DRAFTED = 21, 5, 12.0, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What the machine does per second when it is quiet: bytes copied, and operations.

    `shared` is how many times as long everything takes while the programs of now run.
    """

    bytes_per_s: float
    flops_per_s: float
    shared: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The expected duration in seconds, and its basis in one sentence.

    `seconds` is for all planned blocks, `least_seconds` for the fewest that may run.
    """

    seconds: float
    least_seconds: float
    basis: str

    def times(self, engines: int) -> "Expected":
        """The same on so many engines in turns."""
        return replace(
            self, seconds=engines * self.seconds, least_seconds=engines * self.least_seconds
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds that a model takes: for a step of one token, one more token in it, and a prompt's."""

    step_s: float
    wider_s: float
    prompt_token_s: float
    bytes: float


def memory_bandwidth(clock: Callable[[], float] = time.perf_counter) -> float:
    """Bytes per second, read and written, that one thread copies: the best of eight tries."""
    import numpy as np  # noqa: PLC0415 - slow to import, and only estimates need it

    source = np.zeros(_CALIBRATION_BYTES, dtype=np.uint8)
    destination = np.ones_like(source)
    best_s = float("inf")
    for _ in range(_CALIBRATION_REPEATS):
        began = clock()
        np.copyto(destination, source)
        best_s = min(best_s, clock() - began)
    return 2 * _CALIBRATION_BYTES / best_s


def arithmetic_rate(clock: Callable[[], float] = time.perf_counter) -> float:
    """Operations per second of one thread in a small product of matrices: the best of many."""
    import numpy as np  # noqa: PLC0415 - slow to import, and only estimates need it

    matrix = np.ones((_MATRIX, _MATRIX), dtype=np.float32)
    product = np.empty_like(matrix)
    best_s = float("inf")
    for _ in range(_MATRIX_REPEATS):
        began = clock()
        np.matmul(matrix, matrix, out=product)
        best_s = min(best_s, clock() - began)
    return 2 * _MATRIX**3 / best_s


def this_machine(threads: int | None) -> Rates:
    """The rates of this machine for so many threads; by default for all cores but one."""
    cores = psutil.cpu_count(logical=False) or 1
    used = min(cores, threads or max(1, cores - 1))
    before = _idle_s(), time.perf_counter(), time.process_time()
    copied, operations = memory_bandwidth(), arithmetic_rate()
    idle_s, passed_s, own_s = (
        now - then
        for now, then in zip(
            (_idle_s(), time.perf_counter(), time.process_time()), before, strict=True
        )
    )
    processors = psutil.cpu_count() or 1
    load = others(psutil.getloadavg()[0], processors - (idle_s + own_s) / passed_s, processors)
    return Rates(
        bytes_per_s=copied,
        flops_per_s=operations * used,
        shared=max(1.0, (load + used) / processors) ** _LASTING,
    )


def others(average: float, now: float, processors: int) -> float:
    """How many processors other programs want, by the load average and by what they take now.

    The average of a minute still counts programs that have ended, such as the run before this one;
    a moment misses what pauses. Half of each, unless all processors are taken: then only the
    average knows how many wait for them.
    """
    return average if now >= _SATURATED * (processors - 1) else (average + max(0.0, now)) / 2


def _idle_s() -> float:
    times = psutil.cpu_times()
    return float(times.idle + getattr(times, "iowait", 0.0))


def expected(campaign: Campaign, rates: Rates) -> Expected | None:
    """How long the campaign takes at these rates; `None` where only a server knows the sizes."""
    target = pace(campaign.target, rates)
    drafts = {draft.model.id: pace(draft, rates) for draft in campaign.drafts}
    if target is None:
        return None
    prompts = [
        campaign.settings.context_depth_tokens
        or len(prompt.text) / _CHARACTERS_PER_TOKEN + _TEMPLATE_TOKENS
        for prompt in campaign.suite.prompts
    ]
    written = len(prompts) * (campaign.settings.max_output_tokens - 1)
    block_s = sum(written * token_s(arm, target, drafts) for arm in campaign.arms)
    read_s = {arm.id: _prompt_token_s(arm, target, drafts) for arm in campaign.arms}
    load_s = sum(each.bytes for each in (target, *filter(None, drafts.values())))
    load_s /= _READ_BYTES_PER_S
    warm_up_s = sum(
        _WARM_UP_TOKENS * token_s(arm, target, drafts) + prompts[0] * read_s[arm.id]
        for arm in campaign.arms
    )
    once_s = load_s + warm_up_s + _FIXED_S
    if campaign.interleaved == "block":  # each arm is restarted and reads every prompt itself
        block_s += sum(sum(prompts) * each for each in read_s.values())
        block_s += len(campaign.arms) * load_s + warm_up_s
    else:  # a prompt is read once by each model
        used = target.prompt_token_s + sum(each.prompt_token_s for each in drafts.values() if each)
        once_s += sum(prompts) * used + _probes_s(campaign, target, drafts, prompts[0])
    return _bounded(campaign, once_s, block_s, target, rates)


def pace(file: ModelFile, rates: Rates) -> Pace | None:
    """What a model costs at these rates; `None` where its size is not known."""
    size = _active_bytes(file)
    if size is None:
        return None
    bits = bits_of(file.model.quantisation)
    quantised = bits is not None and bits.least < _QUANTISED_BELOW_BITS
    parameters = file.model.active_parameters or file.model.parameters or size / 2
    operations_s = 2 * parameters / rates.flops_per_s
    return Pace(
        step_s=max(
            size / rates.bytes_per_s, operations_s / (_QUANTISED_STEP if quantised else _BATCH)
        ),
        wider_s=operations_s / _WIDER_STEP,
        prompt_token_s=operations_s / (_QUANTISED_BATCH if quantised else _BATCH),
        bytes=float(file.model.file_bytes or size),
    )


def token_s(arm: ArmPlan, target: Pace, drafts: dict[str, Pace | None]) -> float:
    """Seconds per token of an arm: a round over the tokens that it is taken to yield."""
    depth = getattr(arm.method, "n_max", None) or 0
    draft = drafts.get(getattr(arm.method, "draft", None) or "")
    if not METHODS[arm.method.type].drafts or depth == 0:
        return target.step_s
    if METHODS[arm.method.type].free:
        return target.step_s * (1 + _FOUND)
    drafting_s = depth * draft.step_s if draft else 0.0
    tokens = sum(_ACCEPTED**position for position in range(depth + 1))
    return (drafting_s + target.step_s + depth * target.wider_s) / tokens


def _prompt_token_s(arm: ArmPlan, target: Pace, drafts: dict[str, Pace | None]) -> float:
    draft = drafts.get(getattr(arm.method, "draft", None) or "")
    return target.prompt_token_s + (draft.prompt_token_s if draft else 0.0)


def _probes_s(
    campaign: Campaign, target: Pace, drafts: dict[str, Pace | None], prompt: float
) -> float:
    """The verification curve and the cost of drafting, as the in-process runner measures them."""
    deepest = max((getattr(arm.method, "n_max", None) or 0 for arm in campaign.arms), default=0)
    turn_s = 2 * sum(target.step_s + width * target.wider_s for width in range(deepest + 1))
    curve_s = min(_PROBE_REPEATS * turn_s, max(_PROBE_LIMIT_S, _PROBE_LEAST_REPEATS * turn_s))
    drafting_s = sum(
        _PROBE_DRAFTED * each.step_s + prompt * each.prompt_token_s
        for each in drafts.values()
        if each
    )
    return curve_s + drafting_s


def _bounded(
    campaign: Campaign, once_s: float, block_s: float, target: Pace, rates: Rates
) -> Expected:
    once_s, block_s = once_s * rates.shared, block_s * rates.shared
    longest_s = once_s + block_s * campaign.blocks
    budget_s = campaign.stopping.budget_s
    if budget_s is not None:
        longest_s = min(longest_s, max(once_s + block_s, budget_s))
    trials = len(plan(campaign))
    longer = f", {rates.shared:.1f} times as long next to other programs"
    others = longer if rates.shared > 1 else ""
    return Expected(
        seconds=longest_s,
        least_seconds=min(longest_s, once_s + block_s * campaign.least_blocks),
        basis=(
            "an estimate from loading, warm-ups, probes, the prompts for target and draft, and "
            f"{trials} answers; {target.step_s * 1000:.1f} ms for a plain token, at "
            f"{rates.bytes_per_s / 1e9:.1f} GB/s and {rates.flops_per_s / 1e9:.0f} "
            f"GFLOPS as just measured on the processor{others}; on a GPU it is faster"
        ),
    )


def _active_bytes(file: ModelFile) -> float | None:
    model = file.model
    here = file.path.stat().st_size if file.path and file.path.is_file() else None
    size = model.file_bytes or here
    if size is None:
        return None
    if model.active_parameters and model.parameters:
        return size * model.active_parameters / model.parameters
    return size
