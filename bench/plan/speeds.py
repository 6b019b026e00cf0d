"""Compare planned plain speeds with the results, for models entirely in one device's memory."""

import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb

from estimates.roofline import devices
from planner.machines import device_key
from planner.model import MIB, LayerPlacement, Setting
from planner.model_names import quantisation_of
from planner.names import read_model
from planner.planner_errors import SpeedError
from planner.shapes import facts_of, shape_of
from planner.speed import SPEED_ERROR, efficiency_of, nominal_speed, plain_tps, step_bytes

SPEEDS = Path(__file__).with_name("speeds.sql")
_MIB_PER_GIB = 1024


def speed_error(results: duckdb.DuckDBPyConnection) -> SpeedError:
    """The error of plain speeds if each is planned with the efficiencies of other people only."""
    kinds = defaultdict(list)
    for kind, person, factor in compared_speeds(results):
        kinds[kind].append((person, factor))
    off = []
    for own in kinds.values():
        for person, factor in own:
            others = [each for other, each in own if other != person]
            one = factor / (statistics.median(others) if others else 1.0)
            off.append(max(one, 1 / one))
    within = sum(each <= SPEED_ERROR for each in off) / len(off)
    return SpeedError(points=len(off), within=within, median=statistics.median(off))


def compared_speeds(results: duckdb.DuckDBPyConnection) -> Iterator[tuple[float, str, float]]:
    """Yield the planned efficiency, the person, and the measured speed over the planned one."""
    found = results.sql(SPEEDS.read_text("utf-8")).fetchall()
    for device_label, vram_gib, target_label, quantisation, person, tps in found:
        shape, bits = shape_of(read_model(target_label).slug), quantisation_of(quantisation)
        device = device_key(device_label)
        bandwidth = devices().bandwidth_gb_per_s.get(device)
        if shape is None or bits is None or bandwidth is None:
            continue
        facts = facts_of(shape, bits)
        if vram_gib and facts.model_bytes / MIB > vram_gib * _MIB_PER_GIB:
            continue  # a part of the model was in main memory
        kind = efficiency_of(device)
        machine = nominal_speed(bandwidth, None, efficiency=kind)
        step = step_bytes(facts, LayerPlacement(layers=facts.placed_layers), Setting())
        yield kind, person, tps / plain_tps(step, machine)
