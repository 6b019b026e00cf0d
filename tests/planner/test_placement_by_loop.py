"""Placements computed from sums equal those of a plain loop over the layers."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, strategies
from msgspec.structs import astuple, replace

from planner import memory
from planner.model import MIB, Buffers, Layer, LayerPlacement, Memory, ModelFacts, Setting
from planner.model_names import quantisation_of
from planner.placement import LoadPlan, Projection, fit, merge_placements
from planner.shapes import facts_of, shapes
from planner.speed import EXPERTS_SHARE, step_bytes

RANDOM = strategies.randoms(use_true_random=True)
Counted = tuple[tuple[Buffers, ...], Buffers]


def looped(
    facts: ModelFacts, setting: Setting, placement: LayerPlacement, *, head: bool
) -> Counted:
    """The buffers, layer by layer."""
    devices = tuple(Buffers() for _ in placement.share)
    in_host = facts.embedding_bytes + facts.table_bytes
    host = Buffers(model=in_host / MIB, output=memory.sizes_of(facts, setting).output)
    first = facts.placed_layers - placement.layers
    sequences = setting.slots * (1 + setting.rollback_states)
    for index, layer in enumerate(facts.all_layers):
        device = devices[device_of(index - first, placement)] if index >= first else host
        device.model += layer.weight_bytes / MIB
        (host if index < placement.cpu_experts else device).model += layer.expert_bytes / MIB
        if index < len(facts.layers):
            device.kv += memory.kv_mib(layer, setting)
            device.recurrent += layer.state_bytes * sequences / MIB
        elif head:
            device.draft_kv += memory.kv_mib(layer, setting)
    add_compute(facts, setting, placement, devices, host, head=head)
    return devices, host


def add_compute(
    facts: ModelFacts,
    setting: Setting,
    placement: LayerPlacement,
    devices: tuple[Buffers, ...],
    host: Buffers,
    *,
    head: bool,
) -> None:
    """The output matrix and the compute buffers."""
    sizes = memory.sizes_of(facts, setting)
    last = devices[-1] if placement.layers else host
    if placement.layers or not facts.tied:
        last.model += facts.output_bytes / MIB
    split = placement.layers < facts.placed_layers or placement.cpu_experts > 0
    for device in devices if placement.layers else ():
        device.compute = sizes.device_compute + (sizes.split if split else 0.0)
    host.compute = sizes.host_compute
    if placement.layers:
        host.compute = sizes.inputs_split if split else sizes.inputs
    if head and facts.draft_layers:
        last.draft_compute = sizes.head_compute
        if placement.layers:
            host.draft_compute = sizes.inputs


def device_of(position: int, placement: LayerPlacement) -> int:
    """The device of a layer, counted from the first layer on devices."""
    total, share = 0.0, placement.share
    for device, part in enumerate(share[:-1]):
        total += part / sum(share)
        if position / placement.layers < total - 1e-9:
            return device
    return len(share) - 1


def searched(case: LoadPlan) -> Projection:
    """The placement that fits, found by the loop."""

    def at(layers: int, cpu_experts: int) -> Projection:
        placement = LayerPlacement(layers=layers, cpu_experts=cpu_experts, share=share)
        own = looped(case.target, case.setting, placement, head=case.uses_head)
        if case.draft is None:
            return merge_placements(case, placement, own, None)
        one = LayerPlacement(layers=case.draft_layers)
        plain = replace(case.setting, rollback_states=0, kv_k="f16", kv_v="f16")
        draft = looped(case.draft, plain, one, head=False)
        return merge_placements(case, placement, own, draft)

    share = tuple(max(1.0, each.free_mib - case.margin_mib) for each in case.devices)
    share = share if len(share) > 1 else (1.0,)
    whole = case.target.placed_layers if case.devices else 0
    experts = len(case.target.all_layers) if case.target.mixture else 0
    if case.devices and at(whole, 0).sure_on_devices:
        return at(whole, 0)
    if case.devices and experts:
        moved = experts - halved(experts - 1, lambda n: at(whole, experts - n).sure_on_devices)
        if at(whole, moved).sure_on_devices:
            return at(whole, moved)
    return at(halved(whole, lambda n: at(n, experts).sure_on_devices), experts)


def halved(limit: int, fits: Callable[[int], bool]) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high) // 2 + 1
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def any_model(rng: Random) -> ModelFacts:
    """A model of the table, or one whose layers are all different."""
    shape = rng.choice(shapes())
    facts = facts_of(shape, quantisation_of("Q4_K_M"), with_head=shape.head_layers > 0)
    if rng.random() < 0.7:
        return facts
    different = tuple(
        Layer(
            k_width=rng.choice((0, 512, 1024)),
            v_width=512,
            window=rng.choice((None, 1024)),
            state_bytes=rng.choice((0, 3 * MIB)),
            weight_bytes=rng.uniform(1, 300) * MIB,
            expert_bytes=rng.uniform(1, 600) * MIB * facts.mixture,
        )
        for _ in range(rng.randrange(1, 40))
    )
    return replace(facts, layers=different)


def any_case(rng: Random) -> LoadPlan:
    facts = any_model(rng)
    setting = Setting(
        context=rng.choice((512, 8192, 100_000)),
        slots=rng.choice((1, 1, 4)),
        unified=rng.random() < 0.5,
        kv_k=rng.choice(("f16", "q8_0")),
        rollback_states=rng.choice((0, 3)),
    )
    sizes = [rng.uniform(2, 100) * 1024 for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
    small = facts_of(shapes()[0], quantisation_of("Q8_0"))
    return LoadPlan(
        target=facts,
        setting=setting,
        devices=tuple(Memory(name="card", free_mib=size) for size in sizes),
        host=Memory(name="host", free_mib=rng.uniform(4, 64) * 1024),
        draft=small if rng.random() < 0.3 else None,
        draft_on_host=rng.random() < 0.3,
        uses_head=bool(facts.draft_layers) and rng.random() < 0.7,
        unified=rng.random() < 0.2,
    )


@given(RANDOM)
def test_a_certain_fit_finds_the_placement_and_buffers_of_an_exhaustive_search(rng: Random) -> None:
    case = any_case(rng)

    found = fit(case, certain=True)

    expected = searched(case)
    assert found.placement == expected.placement
    for own, counted in zip(
        (*found.devices, found.host), (*expected.devices, expected.host), strict=True
    ):
        assert astuple(own) == pytest.approx(astuple(counted), rel=1e-9)
    assert found.needs == pytest.approx(expected.needs, rel=1e-9)
    assert found.least == pytest.approx(expected.least, rel=1e-9)
    likely = fit(case)
    whole = bool(case.devices) and likely.fits_whole
    assert whole or likely.placement == found.placement
    assert found.fits_whole <= likely.fits_whole


@given(RANDOM)
def test_any_placement_equals_that_of_a_brute_force_search(rng: Random) -> None:
    case = any_case(rng)
    facts = case.target
    placement = LayerPlacement(
        layers=rng.randint(0, facts.placed_layers),
        cpu_experts=rng.randint(0, len(facts.all_layers)) * facts.mixture,
        share=tuple(rng.uniform(1, 9) for _ in range(rng.randint(1, 4))),
    )

    devices, host = memory.place(
        facts, case.setting, placement, speculates_with_head=case.uses_head
    )

    expected, main = looped(facts, case.setting, placement, head=case.uses_head)
    for own, counted in zip((*devices, host), (*expected, main), strict=True):
        assert astuple(own) == pytest.approx(astuple(counted), rel=1e-9, abs=1e-9)


@given(RANDOM)
def test_a_step_reads_the_weights_that_a_loop_over_the_layers_counts(rng: Random) -> None:
    facts = any_model(rng)
    bare = tuple(replace(layer, k_width=0, v_width=0) for layer in facts.layers)
    facts = replace(facts, layers=bare)  # a step reads the caches, too
    layers, experts = rng.randint(0, facts.placed_layers), rng.randint(0, 99)

    found = step_bytes(facts, LayerPlacement(layers=layers, cpu_experts=experts), Setting())

    device, host = [0.0, 0.0], [0.0, 0.0]  # dense weights and experts
    (device if layers else host)[0] += facts.output_bytes
    for index, layer in enumerate(facts.layers):
        on_device = index >= facts.placed_layers - layers
        (device if on_device else host)[0] += layer.weight_bytes
        used = layer.expert_bytes * facts.used_share
        if on_device and index >= experts:
            device[1] += used / EXPERTS_SHARE
        else:
            host[1] += used
    assert (found.device, found.host) == pytest.approx((sum(device), sum(host)), rel=1e-9)
