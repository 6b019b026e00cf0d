"""The weights of a step are counted where they are, as a plain loop over the layers does."""

import pytest
from msgspec.structs import replace

from answers.model import Layer, LayerPlacement, ModelFacts, Setting
from answers.model_names import quantisation_of
from answers.shapes import facts_of, shape_of
from answers.speed import step_bytes

MODELS = (("qwen3-8b", False), ("qwen3.5-27b", True), ("qwen3-30b-a3b", False))


def test_three_layers_one_of_them_in_main_memory_and_a_head() -> None:
    """Of layers of 10 + 100, 20 + 200 and 40 + 400 bytes the last two are on the device.

    The experts of the second stay in main memory, too. The head's layer is on the device and no
    plain step reads it.
    """
    facts = ModelFacts(
        name="made",
        embedding=8,
        vocabulary=8,
        layers=tuple(Layer(weight_bytes=n, expert_bytes=10 * n) for n in (10.0, 20.0, 40.0)),
        draft_layers=(Layer(weight_bytes=5.0),),
        output_bytes=7.0,
        embedding_bytes=9.0,
    )

    found = step_bytes(facts, LayerPlacement(layers=4, cpu_experts=2), Setting())

    assert (found.device, found.device_experts) == (67.0, 400.0)
    assert (found.host, found.host_experts) == (10.0, 300.0)


@pytest.mark.parametrize(("model", "head"), MODELS)
@pytest.mark.parametrize("experts", [0, 3, 99])
def test_every_placement_is_counted_as_a_loop_over_the_layers_counts(
    model: str, experts: int, *, head: bool
) -> None:
    shape = shape_of(model)
    assert shape is not None
    facts = facts_of(shape, quantisation_of("Q4_K_M"), with_head=head)
    bare = tuple(replace(layer, k_width=0, v_width=0) for layer in facts.layers)
    facts = replace(facts, layers=bare)  # a step reads the caches, too
    for layers in range(facts.placed_layers + 1):
        placement = LayerPlacement(layers=layers, cpu_experts=experts)

        found = step_bytes(facts, placement, Setting())

        read = (found.device, found.device_experts, found.host, found.host_experts)
        assert read == pytest.approx(counted(facts, placement), rel=1e-9)


def counted(facts: ModelFacts, placement: LayerPlacement) -> tuple[float, float, float, float]:
    """Dense and expert bytes on the devices, then in main memory."""
    device, host = [0.0, 0.0], [0.0, 0.0]
    (device if placement.layers else host)[0] += facts.output_bytes
    for index, layer in enumerate(facts.layers):
        on_device = index >= facts.placed_layers - placement.layers
        (device if on_device else host)[0] += layer.weight_bytes
        stays = not on_device or index < placement.cpu_experts
        (host if stays else device)[1] += layer.expert_bytes
    return (*device, *host)
