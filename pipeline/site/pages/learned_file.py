"""Fit the planner to all results: the rate of each device's memory, and the planner's errors."""

import math
import statistics
from collections.abc import Iterator, Sequence

import duckdb
import msgspec
import orjson
from msgspec.structs import replace

from answers.learned import Errors, ResultsError, SpeedError, logged_memory_error
from answers.machines import device_key
from answers.memory import RUNTIME_MIB
from answers.model import MIB, LayerPlacement, Memory, Setting
from answers.model_names import quantisation_of
from answers.names import read_model
from answers.placement import LoadPlan, project
from answers.rates import Rate, rate_of, reached
from answers.shapes import facts_of, shape_of
from answers.speed import NEAREST_ERROR, efficiency_of
from estimates.roofline import devices
from estimates.voices import Voice, counting
from pipeline.site.rows import grouped, read
from schemas.vocabulary import say

PATH = "assets/planner.json"
MIB_PER_GIB = 1024


def learned_rates(connection: duckdb.DuckDBPyConnection) -> tuple[Rate, ...]:
    """The memory rate that each person reached, for models entirely in the device's memory.

    Of the people with a device, only those count who are known, or who agree (`voices.counting`).
    Rates are rounded as in the shipped file, so that pages and terminal give the same answers.
    """
    found: list[tuple[Voice, Rate]] = []
    for row in read(connection, "planner_rates"):
        shape, bits = shape_of(read_model(row.target_label).slug), quantisation_of(row.quantisation)
        if shape is None or bits is None:
            continue
        facts, on_cpu = facts_of(shape, bits), row.backend == "cpu"
        if row.vram_gib and not on_cpu and facts.model_bytes / MIB > row.vram_gib * MIB_PER_GIB:
            continue  # a part of the model was in main memory
        device = device_key(row.device_label, on_cpu=on_cpu)
        rate = rate_of(facts, row.tps, on_cpu=on_cpu, device=device, source=row.source)
        if rate is not None:
            voice = Voice(person=row.person, value=rate.gb_per_s, known=row.known)
            found.append((voice, _short(rate)))
    of_device = grouped(found, lambda each: (each[1].device, each[1].on_cpu))
    counted = {
        (device, voice)
        for device, listed in of_device.items()
        for voice in counting(voice for voice, _ in listed)
    }
    return tuple(rate for voice, rate in found if ((rate.device, rate.on_cpu), voice) in counted)


def memory_used(connection: duckdb.DuckDBPyConnection) -> tuple[tuple[float, float], ...]:
    """Planned and measured MiB of each target that was entirely in GPU or in main memory."""
    rows = []
    for row in read(connection, "planner_memory"):
        shape, bits = shape_of(read_model(row.target_label).slug), quantisation_of(row.quantisation)
        if shape is None or bits is None:
            continue
        facts = facts_of(shape, bits, file_bytes=row.file_bytes)
        setting = Setting(
            context=row.context_tokens,
            kv_k=row.kv_type_k or Setting().kv_k,
            kv_v=row.kv_type_v or Setting().kv_v,
            ubatch=row.micro_batch_tokens or Setting().ubatch,
        )
        room = Memory(name="room", free_mib=math.inf)
        case = LoadPlan(
            target=facts, setting=setting, devices=() if row.on_cpu else (room,), host=room
        )
        placed = project(case, LayerPlacement(layers=0 if row.on_cpu else facts.placed_layers))
        planned = placed.host.total() if row.on_cpu else placed.devices[0].total() + RUNTIME_MIB
        rows.append((planned, float(row.measured_mib)))
    return tuple(rows)


def errors_of(rates: Sequence[Rate], used: Sequence[tuple[float, float]]) -> Errors:
    """The planner's errors: in speed, from `rates`; in memory, from planned and measured MiB."""
    bandwidths = devices().bandwidth_gb_per_s
    known = [rate for rate in rates if rate.device in bandwidths and not rate.on_cpu]
    bare = [bandwidths[rate.device] * efficiency_of(rate.device) / rate.gb_per_s for rate in known]
    off_mib = [abs(planned - measured) for planned, measured in used]
    return Errors(
        speed=leave_one_out(rates),
        bare=_speed_error(bare, len({rate.device for rate in known})),
        results=ResultsError(
            points=len(off_mib), median_mib=statistics.median(off_mib), worst_mib=max(off_mib)
        )
        if off_mib
        else None,
    )


def leave_one_out(rates: Sequence[Rate]) -> SpeedError | None:
    """The error of predicting each rate from the other results on the same device."""
    factors, devices = [], set()
    for rate in rates:
        same = (rate.device, rate.on_cpu)
        others = [x for x in rates if x is not rate and (x.device, x.on_cpu) == same]
        expected = reached(others, rate.gb_per_token)
        if expected is not None:
            factors.append(expected / rate.gb_per_s)
            devices.add(rate.device)
    return _speed_error(factors, len(devices))


def _speed_error(factors: Sequence[float], devices: int) -> SpeedError | None:
    if not factors:
        return None
    sizes = [max(factor, 1 / factor) for factor in factors]
    within = sum(size <= NEAREST_ERROR for size in sizes) / len(sizes)
    middle = statistics.median(sizes)
    return SpeedError(points=len(sizes), devices=devices, within=within, median=middle)


def own_errors(errors: Errors) -> Iterator[str]:
    """Describe the planner's errors, one line for each kind of prediction."""
    yield logged_memory_error().words
    if errors.results is not None:
        yield (
            f"memory of {say.count(errors.results.points, 'result')} in the collection: "
            f"median error {errors.results.median_mib:.0f} MiB, "
            f"maximum {errors.results.worst_mib:.0f} MiB"
        )
    for error, source in ((errors.bare, "its bandwidth"), (errors.speed, "other results of it")):
        if error is not None:
            yield (
                f"plain speed of a device from {source}: within a factor of "
                f"{NEAREST_ERROR:g} for {say.percent(error.within)} of "
                f"{say.count(error.points, 'result')}"
            )


def learned_file(rates: tuple[Rate, ...], errors: Errors) -> bytes:
    """The file that `harness plan` reads; a copy ships with the harness."""
    document = {"errors": errors, "rates": rates}
    return orjson.dumps(
        msgspec.to_builtins(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )


def _short(rate: Rate) -> Rate:
    """Round a rate's values as in the shipped file."""
    return replace(
        rate,
        tps=round(rate.tps, 2),
        gb_per_token=round(rate.gb_per_token, 3),
        gb_per_s=round(rate.gb_per_s, 1),
    )
